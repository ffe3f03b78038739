import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { createAuthority, type Simulator, startSimulator } from '../../src/simulator/index.js';
import { MalformedXml, parseXml } from '../../src/simulator/soap/element.js';
import { until } from '../support/until.js';
import { nsu, type RawAnswer, read, TestCompany } from './client.js';

const HOUR = 3_600_000;
const COMPANY = '98765432000198';
const authority = createAuthority();
const certificate = authority.issueA1({ taxId: COMPANY, name: 'Teste', password: '', shareKey: true });

let simulator: Simulator;
let company: TestCompany;

beforeEach(async () => {
  simulator = await startSimulator({ authority });
  simulator.clock.push(Date.now(), true);
  simulator.companies.add({ taxId: COMPANY, backlog: 120 });
  company = new TestCompany(simulator, COMPANY, certificate);
});
afterEach(() => simulator.stop());

const last = () => simulator.journal.list().at(-1);
const state = () => simulator.companies.get({ taxId: COMPANY }).state;
const truthOf = (position: number) => simulator.companies.truth({ taxId: COMPANY })[position]?.sha256;
const hash = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');

/** After a replaced answer the queue must stand where it stood. */
async function untouched(): Promise<void> {
  assert.equal(state().pointer, null);
  assert.equal((await company.page(0)).cStat, '138');
}

describe('replaced answers change nothing', () => {
  test('108, 109, 589 and any other status', async () => {
    for (const cStat of ['108', '109', '589', '999', '280']) {
      simulator.script({ type: 'status', cStat });
      const answer = await company.page(0);
      assert.deepEqual([answer.cStat, answer.ultNsu, answer.maxNsu], [cStat, nsu(0), nsu(0)]);
      assert.equal(last()?.scripted, 'status');
    }
    simulator.script({ type: 'status', cStat: '281', text: 'Rejeicao: texto do teste' });
    assert.equal((await company.page(0)).text, 'Rejeicao: texto do teste');
    await untouched();
  });

  test('SOAP fault, HTML, nothing at all, and any bytes', async () => {
    const expectations: [Parameters<Simulator['script']>[0], (answer: RawAnswer) => void][] = [
      [
        { type: 'soap_fault' },
        ({ status, body }) => {
          assert.equal(status, 500);
          assert.match(body.toString(), /<soap:Fault>.*soap:Receiver/);
        },
      ],
      [
        { type: 'html' },
        ({ status, contentType, body }) => {
          assert.equal(status, 200);
          assert.match(contentType, /text\/html/);
          assert.match(body.toString(), /^<!DOCTYPE html/);
        },
      ],
      [
        { type: 'html', httpStatus: 502 },
        ({ status, body }) => assert.ok(status === 502 && /Bad Gateway/.test(body.toString())),
      ],
      [{ type: 'empty' }, ({ status, body }) => assert.ok(status === 200 && body.length === 0)],
      [
        { type: 'raw', httpStatus: 418, contentType: 'text/plain', body: Buffer.from('chá').toString('base64') },
        ({ status, contentType, body }) =>
          assert.deepEqual([status, contentType, body.toString()], [418, 'text/plain', 'chá']),
      ],
    ];
    for (const [answer, check] of expectations) {
      simulator.script(answer);
      check(await company.rawPage(0));
    }
    await untouched();
  });

  test('the call is judged all the same', async () => {
    await company.page(0);
    simulator.script({ type: 'html', httpStatus: 502 });
    await company.rawPage(7);
    assert.equal(last()?.rule, 'wrong_ultnsu');
    assert.equal(state().blockedUntil, null);
  });
});

describe('656 that is not the caller’s fault', () => {
  test('pointer ahead: another consumer took numbers; they can be had by consNSU after the block', async () => {
    await company.page(0);
    simulator.script({ type: 'misuse', pointer: 20 });
    const answer = await company.page(50);
    assert.deepEqual([answer.cStat, answer.ultNsu, answer.maxNsu], ['656', nsu(70), nsu(0)]);
    assert.equal(last()?.rule, null);
    assert.equal((await company.page(70)).cStat, '656', 'it is blocked');
    simulator.clock.advance(HOUR);
    assert.equal((await company.page(70)).items[0]?.nsu, nsu(71));
    assert.equal((await company.byNsu(60)).cStat, '138');
  });

  test('pointer behind: the answer names an old one, the true one stays', async () => {
    await company.page(0);
    simulator.script({ type: 'misuse', pointer: -30 });
    assert.equal((await company.page(50)).ultNsu, nsu(20));
    simulator.clock.advance(HOUR);
    assert.equal((await company.page(50)).cStat, '138');
  });
});

describe('on the wire', () => {
  const fails = (what: Promise<unknown>, message: RegExp) => assert.rejects(what, message);

  test('reset before the answer, counted: the work was done, a repeat is refused but excused', async () => {
    simulator.script({ type: 'reset' });
    await fails(company.rawPage(0), /socket hang up|ECONNRESET/);
    await until(() => state().excusedFrom, 'the loss is noticed');
    const repeat = await company.page(0);
    assert.deepEqual([repeat.cStat, repeat.ultNsu], ['656', nsu(50)]);
    assert.equal(last()?.rule, null);
  });

  test('reset before the answer, not counted: it never happened', async () => {
    simulator.script({ type: 'reset', counted: false });
    await fails(company.rawPage(0), /socket hang up|ECONNRESET/);
    await untouched();
  });

  test('cut in the middle of the body', async () => {
    simulator.script({ type: 'cut' });
    await fails(company.rawPage(0), /aborted|cut|ECONNRESET/);
    await until(() => state().excusedFrom, 'the loss is noticed');
    assert.equal(state().pointer, nsu(50));
  });

  test('a slow body arrives whole', async () => {
    simulator.script({ type: 'slow', ms: 300 });
    const begun = performance.now();
    const answer = read(await company.rawPage(0));
    assert.ok(performance.now() - begun > 200);
    assert.equal(answer.items.length, 50);
    assert.equal(state().excusedFrom, null);
    assert.equal((await company.page(50)).cStat, '138');
  });

  test('a call that hangs ends with the client’s patience, or with its own limit', async () => {
    simulator.script({ type: 'hang', counted: false });
    await fails(company.rawPage(0, { timeoutMs: 150 }), /time-out/);
    simulator.script({ type: 'hang', counted: false, ms: 100 });
    await fails(company.rawPage(0), /socket hang up|ECONNRESET/);
    await untouched();
    assert.equal(last()?.rule, null, 'nothing is left in the air');
  });
});

describe('altered answers count like any other', () => {
  test('one docZip broken, in six ways; the others are good, and consNSU brings the true bytes', async () => {
    const opened = (content: string) => gunzipSync(Buffer.from(content, 'base64'));
    const ways = {
      cut_gzip: (content: string) => assert.throws(() => opened(content), /unexpected end of file/),
      not_gzip: (content: string) => assert.throws(() => opened(content), /incorrect header/),
      not_base64: (content: string) => assert.match(content, /[^A-Za-z0-9+/=]/),
      truncated_xml: (content: string) => assert.throws(() => parseXml(opened(content).toString()), MalformedXml),
      doctype: (content: string) => assert.match(opened(content).toString(), /^<!DOCTYPE/),
      empty: (content: string) => assert.equal(content, ''),
    } as const;
    for (const [at, [how, check]] of Object.entries(ways).entries()) {
      simulator.companies.add({ taxId: COMPANY, backlog: 120 });
      simulator.script({ type: 'corrupt', how: how as keyof typeof ways, item: at });
      const page = await company.page(0);
      check(page.items[at]?.content ?? '');
      for (const [index, item] of page.items.entries())
        if (index !== at) assert.equal(hash(item.xml()), truthOf(index));
      assert.equal(page.ultNsu, nsu(50));
      const again = await company.byNsu(at + 1);
      assert.equal(hash(again.items[0]?.xml() ?? ''), truthOf(at));
    }
  });

  test('schema attribute unknown, the bytes true', async () => {
    simulator.script({ type: 'schema', schema: 'procNovo_v9.99.xsd', item: 2 });
    const page = await company.page(0);
    assert.equal(page.items[2]?.schema, 'procNovo_v9.99.xsd');
    assert.equal(hash(page.items[2]?.xml() ?? ''), truthOf(2));
  });

  test('fields left out', async () => {
    simulator.script({ type: 'omit', fields: ['verAplic', 'xMotivo', 'dhResp', 'ultNSU', 'maxNSU', 'NSU', 'schema'] });
    const text = (await company.rawPage(0)).body.toString();
    for (const field of ['verAplic', 'xMotivo', 'dhResp', 'ultNSU', 'maxNSU', 'NSU=', 'schema='])
      assert.ok(!text.includes(field), field);
    assert.equal(read(await company.rawPage(50)).cStat, '138');
  });

  test('written otherwise: Latin-1, Latin-1 that says UTF-8, byte order mark, prefixes, a header', async () => {
    const dressed = async (as: 'latin1' | 'latin1_undeclared' | 'bom' | 'prefixes' | 'header') => {
      simulator.companies.add({ taxId: COMPANY, backlog: 120 });
      simulator.script({ type: 'dress', as });
      return company.rawPage(0);
    };
    const latin1 = await dressed('latin1');
    assert.match(latin1.contentType, /charset=iso-8859-1/);
    assert.match(latin1.body.toString('latin1'), /^<\?xml version="1.0" encoding="ISO-8859-1"\?>.*situação/s);
    const lying = await dressed('latin1_undeclared');
    assert.match(lying.body.toString('latin1'), /^<\?xml version="1.0" encoding="utf-8"\?>.*situação/s);
    assert.match(lying.body.toString('utf8'), /situa\ufffd/);
    const bom = await dressed('bom');
    assert.deepEqual([...bom.body.subarray(0, 4)], [0xef, 0xbb, 0xbf, 0x3c]);
    const prefixes = await dressed('prefixes');
    assert.match(prefixes.body.toString(), /<SOAP-ENV:Body>.*<n1:retDistDFeInt xmlns:n1=.*<n1:docZip NSU=/s);
    assert.equal(read(prefixes).items.length, 50);
    const header = await dressed('header');
    assert.match(header.body.toString(), /<soap:Header><WSCorIDSOAPHeader/);
    assert.equal(read(header).items.length, 50);
  });

  test('a page of one', async () => {
    simulator.script({ type: 'page', size: 1 });
    const page = await company.page(0);
    assert.deepEqual([page.items.length, page.ultNsu, page.maxNsu], [1, nsu(1), nsu(120)]);
    assert.equal((await company.page(1)).items.length, 50);
  });

  test('ultNSU above maxNSU', async () => {
    simulator.script({ type: 'ult_above_max', by: 3 });
    const page = await company.page(0);
    assert.deepEqual([page.ultNsu, page.maxNsu], [nsu(123), nsu(120)]);
  });

  test('one number twice, with other bytes', async () => {
    simulator.script({ type: 'duplicate_nsu' });
    const page = await company.page(0);
    assert.equal(page.items.length, 51);
    const [first, second] = [page.items[0], page.items[50]];
    assert.equal(first?.nsu, second?.nsu);
    assert.notEqual(hash(first?.xml() ?? ''), hash(second?.xml() ?? ''));
    assert.equal(hash(first?.xml() ?? ''), truthOf(0));
  });

  test('in reverse order', async () => {
    simulator.script({ type: 'reorder' });
    const page = await company.page(0);
    assert.deepEqual([page.items[0]?.nsu, page.items[49]?.nsu], [nsu(50), nsu(1)]);
  });

  test('a page that does not move the cursor', async () => {
    await company.page(0);
    for (const empty of [false, true]) {
      simulator.script({ type: 'standstill', empty });
      const page = await company.page(50);
      assert.deepEqual(
        [page.cStat, page.ultNsu, page.maxNsu, page.items.length],
        ['138', nsu(50), nsu(120), empty ? 0 : 50],
      );
    }
    const moved = await company.page(50);
    assert.deepEqual([moved.ultNsu, moved.items[0]?.nsu], [nsu(100), nsu(51)]);
  });

  test('a server clock that is off', async () => {
    simulator.script({ type: 'skew', ms: -7_200_000 });
    const { dhResp } = await company.page(0);
    assert.equal(Date.parse(dhResp ?? ''), Math.floor((simulator.clock.now() - 7_200_000) / 1000) * 1000);
  });
});

describe('which call a script is for', () => {
  test('tax ID, environment and kind must fit; each is used up in turn', async () => {
    simulator.script({ type: 'status', cStat: '108' }, { taxId: '12ABC34501DE35' });
    simulator.script({ type: 'status', cStat: '109' }, { kind: 'consNSU' });
    simulator.script({ type: 'status', cStat: '999' }, { environment: 'production' });
    simulator.script({ type: 'status', cStat: '280' }, { count: 2 });
    simulator.script({ type: 'status', cStat: '281' }, { count: null });
    const codes = [];
    for (let call = 0; call < 5; call++) codes.push((await company.page(0)).cStat);
    assert.deepEqual(codes, ['280', '280', '281', '281', '281']);
    assert.equal((await company.byNsu(1)).cStat, '109');
    assert.equal((await company.byNsu(1)).cStat, '281');
    simulator.scripts.clear();
    assert.equal((await company.page(0)).cStat, '138');
  });
});

describe('outage of everything', () => {
  test('connections refused before TLS', async () => {
    simulator.setOutage('refuse');
    await assert.rejects(company.rawPage(0), /ECONNRESET|socket disconnected|EPIPE/);
    assert.equal(simulator.journal.list().length, 0, 'nothing was sent');
    simulator.setOutage(null);
    assert.equal((await company.page(0)).cStat, '138');
  });

  test('503, 108, 109, and calls that hang', async () => {
    simulator.setOutage('503');
    assert.equal((await company.rawPage(0)).status, 503);
    for (const mode of ['108', '109'] as const) {
      simulator.setOutage(mode);
      assert.equal((await company.page(0)).cStat, mode);
      assert.equal(last()?.scripted, `outage ${mode}`);
    }
    simulator.setOutage('hang');
    await assert.rejects(company.rawPage(0, { timeoutMs: 150 }), /time-out/);
    simulator.setOutage(null);
    await untouched();
  });
});
