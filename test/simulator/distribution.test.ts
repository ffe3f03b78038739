import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { createAuthority, type Rule, type Simulator, startSimulator } from '../../src/simulator/index.js';
import { NO_SCHEMAS, schemaOf } from '../support/xsd.js';
import { ACTION, distribution, envelope, nsu, read, send, TestCompany } from './client.js';

const HOUR = 3_600_000;
const COMPANY = '98765432000198';
const BRANCH = '98765432000279';
const OTHER = '12ABC34501DE35';
const FARMER = '11144477735';

let simulator: Simulator;
let company: TestCompany;
const authority = createAuthority();
const certificateOf = (taxId: string) => authority.issueA1({ taxId, name: 'Teste', password: '', shareKey: true });
const certificate = certificateOf(COMPANY);

beforeEach(async () => {
  simulator = await startSimulator({ authority });
  simulator.clock.push(Date.now(), true);
  company = new TestCompany(simulator, COMPANY, certificate);
});
afterEach(() => simulator.stop());

const add = (options: Partial<Parameters<Simulator['companies']['add']>[0]> = {}) =>
  simulator.companies.add({ taxId: COMPANY, ...options });
const lastRule = (): Rule | null => simulator.journal.list().at(-1)?.rule ?? null;
const later = (ms: number) => simulator.clock.advance(ms);

describe('pages', () => {
  test('run through the queue, 50 at a time, with every document and right numbers', async () => {
    add({ backlog: 120 });
    const got: { nsu: string | null; xml: string; schema: string }[] = [];
    let ultNsu = nsu(0);
    for (const expected of [50, 100, 120]) {
      const page = await company.page(ultNsu);
      assert.equal(page.cStat, '138');
      assert.equal(page.ultNsu, nsu(expected));
      assert.equal(page.maxNsu, nsu(120));
      got.push(...page.items.map((item) => ({ nsu: item.nsu, xml: item.xml(), schema: item.schema })));
      ultNsu = page.ultNsu ?? '';
    }
    const truth = simulator.companies.truth({ taxId: COMPANY });
    assert.deepEqual(
      got.map(({ nsu: number }) => number),
      truth.map(({ nsu: number }) => number),
    );
    for (const [index, { xml, schema }] of got.entries()) {
      assert.equal(await sha256(xml), truth[index]?.sha256);
      assert.equal(schema, truth[index]?.schema);
      assert.ok(!xml.startsWith('<?xml'), 'no XML declaration inside a docZip');
    }
    assert.deepEqual(simulator.journal.violations(), []);
  });

  test('begin where the old documents were purged', async () => {
    add({ startNsu: '16214', backlog: 70 });
    const page = await company.page(1);
    assert.equal(page.items[0]?.nsu, nsu(16215));
    assert.equal(page.ultNsu, nsu(16264));
    assert.equal(page.maxNsu, nsu(16284));
  });

  test('leave out what is withheld or missing', async () => {
    add({ backlog: 60, gaps: { nsus: [3, 60], exist: true } });
    simulator.companies.arrive({ taxId: COMPANY, count: 5, gaps: { nsus: [62], exist: false } });
    const page = await company.page(0);
    assert.equal(page.items.length, 50);
    assert.ok(!page.items.some((item) => item.nsu === nsu(3)));
    assert.equal(page.ultNsu, nsu(51));
    const rest = await company.page(51);
    assert.deepEqual(
      rest.items.map((item) => item.nsu),
      [52, 53, 54, 55, 56, 57, 58, 59, 61, 63, 64, 65].map(nsu),
    );
    assert.equal((await company.byNsu(3)).cStat, '138');
    assert.equal((await company.byNsu(62)).cStat, '137');
    const truth = simulator.companies.truth({ taxId: COMPANY });
    assert.deepEqual(
      truth.filter(({ reach }) => reach === 'point').map((entry) => entry.nsu),
      [nsu(3), nsu(60)],
    );
    assert.ok(!truth.some((entry) => entry.nsu === nsu(62)));
  });

  test('end with 137 for a tax ID that nobody set up', async () => {
    const page = await company.page(0);
    assert.deepEqual([page.cStat, page.ultNsu, page.maxNsu, page.items.length], ['137', nsu(0), nsu(0), 0]);
  });

  test('do not bring what is older than 90 days', async () => {
    add({ backlog: 100, spreadDays: 50 });
    later(60 * 24 * HOUR);
    const page = await company.page(0);
    assert.equal(page.items[0]?.nsu, nsu(40));
    assert.equal((await company.byNsu(39)).cStat, '137');
    assert.equal(simulator.companies.truth({ taxId: COMPANY }).filter(({ reach }) => reach === 'purged').length, 39);
  });

  test('keep one queue per environment', async () => {
    add({ backlog: 3 });
    simulator.companies.add({ taxId: COMPANY, environment: 'production', backlog: 7 });
    const production = new TestCompany(simulator, COMPANY, certificate, 'production');
    assert.equal((await company.page(0)).maxNsu, nsu(3));
    assert.equal((await production.page(0)).maxNsu, nsu(7));
  });
});

test('dhResp is the simulator’s time, with the offset of Brasília', async () => {
  simulator.clock.push(Date.parse('2027-01-01T02:30:00Z'), true);
  assert.equal((await company.page(0)).dhResp, '2026-12-31T23:30:00-03:00');
});

describe('official schema of the answer', { skip: NO_SCHEMAS ?? false }, () => {
  test('138, 137 and 656 are valid', async () => {
    const valid = schemaOf('nfe/retDistDFeInt_v1.01.xsd');
    const bare = (body: Buffer) => /<retDistDFeInt.*<\/retDistDFeInt>/s.exec(body.toString('utf8'))?.[0] ?? '';
    add({ backlog: 3 });
    for (const cStat of ['138', '656', '137']) {
      const answer = await company.rawPage(cStat === '138' ? 0 : 3);
      assert.equal(read(answer).cStat, cStat);
      assert.equal(valid(bare(answer.body)), null);
      later(cStat === '656' ? HOUR : cStat === '138' ? 0 : 1);
      if (cStat === '656') later(HOUR);
    }
  });
});

describe('rule: one hour after an empty queue', () => {
  test('after ultNSU = maxNSU', async () => {
    add({ backlog: 10 });
    await company.page(0);
    later(HOUR - 1);
    const early = await company.page(10);
    assert.equal(early.cStat, '656');
    assert.match(early.text, /Deve ser aguardado 1 hora/);
    assert.equal(early.ultNsu, nsu(10));
    assert.equal(early.maxNsu, nsu(0));
    assert.equal(lastRule(), 'early');
  });

  test('after 137; on the hour it is allowed', async () => {
    await company.page(0);
    later(HOUR);
    assert.equal((await company.page(0)).cStat, '137');
    later(HOUR - 1);
    assert.equal((await company.page(0)).cStat, '656');
    assert.equal(lastRule(), 'early');
  });

  test('documents that arrive meanwhile do not shorten it', async () => {
    add({ backlog: 1 });
    await company.page(0);
    simulator.companies.arrive({ taxId: COMPANY, count: 5 });
    later(HOUR / 2);
    assert.equal((await company.page(1)).cStat, '656');
    later(HOUR);
    assert.equal((await company.page(1)).items.length, 5);
  });
});

describe('rule: go on from the returned ultNSU', () => {
  test('the first call may begin anywhere', async () => {
    add({ backlog: 200 });
    assert.equal((await company.page(77)).items[0]?.nsu, nsu(78));
    assert.equal(lastRule(), null);
  });

  test('another cursor is refused with the pointer, and blocks', async () => {
    add({ backlog: 200 });
    await company.page(0);
    for (const wrong of [51, 0, 49]) {
      const refused = await company.page(wrong);
      assert.equal(refused.cStat, '656');
      assert.match(refused.text, /Deve ser utilizado o ultNSU/);
      assert.equal(refused.ultNsu, nsu(50));
      assert.equal(lastRule(), 'wrong_ultnsu');
      later(HOUR);
    }
    assert.equal((await company.page(50)).cStat, '138');
  });

  test('a repeat of the last request is refused unless the policy tolerates it', async () => {
    add({ backlog: 200 });
    const first = await company.page(0);
    simulator.policy = { ...simulator.policy, tolerateRepeat: true };
    const again = await company.page(0);
    assert.deepEqual(
      again.items.map(({ content }) => content),
      first.items.map(({ content }) => content),
    );
    simulator.policy = { ...simulator.policy, tolerateRepeat: false };
    assert.equal((await company.page(0)).cStat, '656');
    assert.equal(lastRule(), 'wrong_ultnsu');
    assert.equal(simulator.journal.list().at(-1)?.detail, 'repeat of the last request');
  });

  test('above the highest NSU: 589', async () => {
    add({ backlog: 3 });
    const answer = await company.page(4);
    assert.deepEqual([answer.cStat, answer.ultNsu, answer.maxNsu], ['589', nsu(0), nsu(0)]);
    assert.equal(lastRule(), 'wrong_ultnsu');
  });

  test('another consumer of the same tax ID moves the pointer', async () => {
    add({ backlog: 200 });
    await company.page(0);
    simulator.companies.steal({ taxId: COMPANY, count: 30 });
    const refused = await company.page(50);
    assert.deepEqual([refused.cStat, refused.ultNsu], ['656', nsu(80)]);
    assert.equal(lastRule(), null, 'nobody can know that');
    later(HOUR);
    assert.equal((await company.page(80)).items[0]?.nsu, nsu(81));
    assert.equal((await company.byNsu(60)).cStat, '138', 'what it took is still there for point queries');
  });
});

describe('rule: no call during a block', () => {
  test('each one begins the hour anew, for distribution and point queries alike', async () => {
    add({ backlog: 200 });
    await company.page(0);
    await company.page(7);
    later(50 * 60_000);
    assert.equal((await company.page(50)).cStat, '656');
    assert.equal(lastRule(), 'during_block');
    later(50 * 60_000);
    assert.equal((await company.byNsu(1)).cStat, '656');
    assert.equal(lastRule(), 'during_block');
    later(HOUR - 1);
    assert.equal((await company.page(50)).cStat, '656');
    later(HOUR);
    assert.equal((await company.page(50)).cStat, '138');
  });
});

describe('rule: 20 point queries an hour', () => {
  test('the 21st within a sliding hour is refused and blocks; it is both kinds together', async () => {
    add({ backlog: 100, kinds: { resNFe: 1 } });
    const keys = keysOf(10);
    for (const key of keys) {
      assert.equal((await company.byKey(key)).cStat, '138');
      later(60_000);
    }
    for (let number = 1; number <= 10; number++) assert.equal((await company.byNsu(number)).cStat, '138');
    const refused = await company.byNsu(11);
    assert.equal(refused.cStat, '656');
    assert.match(refused.text, /limite de 20 consultas por hora/);
    assert.equal(lastRule(), 'quota');
    assert.equal((await company.page(0)).cStat, '656', 'distribution is blocked as well');
  });

  test('the hour slides', async () => {
    add({ backlog: 100 });
    await company.byNsu(1);
    later(HOUR / 2);
    for (let number = 2; number <= 20; number++) await company.byNsu(number);
    later(HOUR / 2);
    assert.equal((await company.byNsu(21)).cStat, '138', 'the first one is an hour old');
    assert.equal((await company.byNsu(22)).cStat, '656');
  });

  test('queries that return nothing count only under the stricter policy', async () => {
    add({ backlog: 5, gaps: { nsus: [2], exist: false } });
    for (let call = 0; call < 25; call++) assert.equal((await company.byNsu(2)).cStat, '137');
    simulator.policy = { ...simulator.policy, pointQueriesCounted: 'all' };
    for (let call = 0; call < 20; call++) assert.equal((await company.byNsu(2)).cStat, '137');
    assert.equal((await company.byNsu(2)).cStat, '656');
  });

  test('distribution does not count', async () => {
    add({ backlog: 2000 });
    for (let page = 0; page < 25; page++) assert.equal((await company.page(page * 50)).cStat, '138');
    assert.equal((await company.byNsu(1)).cStat, '138');
  });
});

test('rule: one call at a time', async () => {
  add({ backlog: 200 });
  simulator.script({ type: 'slow', ms: 400 }, { taxId: COMPANY });
  const slow = company.rawPage(0);
  while (simulator.journal.list().length === 0) await new Promise(setImmediate);
  await company.page(50);
  assert.equal(lastRule(), 'concurrent');
  await slow;
  await company.page(100);
  assert.equal(lastRule(), null);
});

describe('consNSU', () => {
  test('brings exactly that document; its ultNSU is no cursor', async () => {
    add({ backlog: 120 });
    const answer = await company.byNsu(33);
    assert.deepEqual([answer.cStat, answer.items.length, answer.items[0]?.nsu], ['138', 1, nsu(33)]);
    assert.equal(await sha256(answer.items[0]?.xml() ?? ''), simulator.companies.truth({ taxId: COMPANY })[32]?.sha256);
    assert.equal(answer.ultNsu, nsu(83));
    assert.equal((await company.page(0)).cStat, '138', 'it moved nothing');
  });

  test('137 for a number without a document, 589 above the highest', async () => {
    add({ startNsu: '100', backlog: 5 });
    assert.equal((await company.byNsu(50)).cStat, '137');
    assert.equal((await company.byNsu(106)).cStat, '589');
  });
});

describe('consChNFe', () => {
  test('a summary before manifestation, the whole note after; without NSU or with zero', async () => {
    add({ backlog: 20, kinds: { resNFe: 1 } });
    const [key = '', second = ''] = keysOf(2);
    const summary = await company.byKey(key);
    assert.deepEqual([summary.cStat, summary.ultNsu, summary.maxNsu], ['138', null, null]);
    assert.equal(summary.items[0]?.nsu, null);
    assert.equal(summary.items[0]?.schema, 'resNFe_v1.01.xsd');
    assert.equal((await company.byKey(second)).items[0]?.nsu, nsu(0));
    simulator.companies.giveWhole({ taxId: COMPANY, keys: [key] });
    const whole = await company.byKey(key);
    assert.match(whole.items[0]?.xml() ?? '', /^<nfeProc/);
    assert.equal(simulator.companies.get({ taxId: COMPANY }).maxNsu, nsu(21), 'and it comes by distribution, too');
  });

  test('217 for an unknown key, 236 for a wrong check digit, 640 for somebody else’s', async () => {
    add({ backlog: 5, kinds: { resNFe: 1 } });
    simulator.companies.add({ taxId: OTHER, backlog: 5, kinds: { resNFe: 1 } });
    const key = keysOf(1)[0] ?? '';
    const foreign = keysOf(1, OTHER)[0] ?? '';
    assert.equal((await company.byKey(foreign)).cStat, '640');
    assert.equal((await company.byKey(key.slice(0, 43) + ((Number(key[43]) + 1) % 10))).cStat, '236');
    simulator.companies.remove({ taxId: OTHER });
    assert.equal((await company.byKey(foreign)).cStat, '217');
  });

  test('641 for the issuer, 653 cancelled, 654 denied, 632 after 90 days', async () => {
    add({ backlog: 3000, spreadDays: 60 });
    const codes = new Map<string, string>();
    const documents = Array.from(
      { length: 3000 },
      (_, at) => simulator.companies.document({ taxId: COMPANY, nsu: at + 1 }).xml,
    );
    const keyOf = (xml: string | undefined) => /<chNFe>([^<]*)/.exec(xml ?? '')?.[1] ?? '';
    const cancelled = new Set(documents.filter((xml) => xml.includes('<tpEvento>110111<')).map(keyOf));
    codes.set('641', keyOf(documents.find((xml) => xml.includes('<tpEvento>') && keyOf(xml).slice(6, 20) === COMPANY)));
    codes.set(
      '653',
      [...cancelled].find((key) => documents.some((xml) => xml.startsWith('<resNFe') && keyOf(xml) === key)) ?? '',
    );
    codes.set('654', keyOf(documents.find((xml) => xml.includes('<cSitNFe>2<') && !cancelled.has(keyOf(xml)))));
    for (const [cStat, key] of codes) assert.equal((await company.byKey(key)).cStat, cStat);
    const oldest = keyOf(documents.find((xml) => xml.includes('<cSitNFe>1<') && !cancelled.has(keyOf(xml))));
    assert.equal((await company.byKey(oldest)).cStat, '138');
    later(91 * 24 * HOUR);
    assert.equal((await company.byKey(oldest)).cStat, '632');
  });
});

describe('certificates', () => {
  const call = (taxId: string, holder: string) => new TestCompany(simulator, taxId, certificateOf(holder)).page(0);

  test('one of the same root serves a branch', async () => {
    assert.equal((await call(BRANCH, COMPANY)).cStat, '137');
  });

  test('another root: 593; a CPF that is not the holder’s: 472; a person’s for a company: 593', async () => {
    for (const [taxId, holder, cStat] of [
      [COMPANY, OTHER, '593'],
      [FARMER, '52998224725', '472'],
      [COMPANY, FARMER, '593'],
      [FARMER, COMPANY, '472'],
    ] as const) {
      assert.equal((await call(taxId, holder)).cStat, cStat);
      assert.equal(lastRule(), 'certificate_root');
    }
    assert.equal((await call(FARMER, FARMER)).cStat, '137');
    assert.equal((await call(OTHER, OTHER)).cStat, '137');
  });

  test('403 in HTML without one, with one of another authority, expired, or not yet valid', async () => {
    const stranger = createAuthority().issueA1({ taxId: COMPANY, name: 'x', password: '' });
    const dated = (validity: 'expired' | 'not_yet_valid') =>
      authority.issueA1({ taxId: COMPANY, name: 'x', password: '', validity, shareKey: true });
    for (const wrong of [null, stranger, dated('expired'), dated('not_yet_valid')]) {
      const answer = await company.rawPage(0, { certificate: wrong });
      assert.equal(answer.status, 403);
      assert.match(answer.contentType, /^text\/html/);
      assert.match(answer.body.toString(), /403 - Forbidden/);
    }
    assert.equal(simulator.journal.list().length, 4);
    assert.ok(simulator.journal.list().every(({ httpStatus, cStat }) => httpStatus === 403 && cStat === null));
  });

  test('it expires by the simulator’s clock', async () => {
    later(366 * 24 * HOUR);
    assert.equal((await company.rawPage(0)).status, 403);
  });
});

describe('requests that are not as they must be', () => {
  const code = async (body: string | Buffer, headers: Record<string, string> = {}) =>
    read(await company.post(body, { headers })).cStat;
  const question = '<distNSU><ultNSU>000000000000000</ultNSU></distNSU>';
  const good = distribution(COMPANY, question);

  test('215 schema, 404 prefix, 239 version, 402 encoding, 214 size: each is the rule "schema"', async () => {
    const cases: [string, string | Buffer][] = [
      ['215', good.replace('000000000000000', '0')],
      ['404', good.replace('<distDFeInt', '<distDFeInt xmlns:x="urn:x"')],
      ['239', good.replace('1.01', '1.00')],
      ['402', Buffer.from(good.replace('utf-8', 'iso-8859-1'), 'latin1')],
      ['402', Buffer.from(`\ufeff${good}`)],
      ['402', Buffer.from(good.replace('<tpAmb>', '<tpAmb><!-- não -->'), 'latin1')],
      ['214', good.replace('<distNSU>', `${' '.repeat(10_300)}<distNSU>`)],
    ];
    for (const [cStat, body] of cases) {
      assert.equal(await code(body), cStat);
      assert.equal(lastRule(), 'schema');
    }
  });

  test('252 for the other environment, 489 and 490 for check digits', async () => {
    assert.equal(await code(distribution(COMPANY, question, '1')), '252');
    assert.equal(await code(distribution('98765432000199', question)), '489');
    assert.equal(await code(distribution('11144477736', question)), '490');
  });

  test('a SOAP fault where no service was reached, 415 where it is not SOAP', async () => {
    const faults: (string | [string, Record<string, string>])[] = [
      'isto nao e XML',
      '',
      good.slice(0, -30),
      `<!DOCTYPE x>${good.replace(/^<\?xml[^>]*>/, '')}`,
      good.replace('nfeDistDFeInteresse ', 'nfeDadosMsg ').replace('/nfeDistDFeInteresse>', '/nfeDadosMsg>'),
      good.replace('wsdl/NFeDistribuicaoDFe', 'wsdl/NFeConsulta'),
      good.replace('http://www.w3.org/2003/05/soap-envelope', 'http://schemas.xmlsoap.org/soap/envelope/'),
      [good, { 'Content-Type': 'application/soap+xml; action="urn:outra"' }],
    ];
    for (const item of faults) {
      const [body, headers] = typeof item === 'string' ? [item, {}] : item;
      const answer = await company.post(body, { headers });
      assert.equal(answer.status, 500);
      assert.match(answer.body.toString(), /<soap:Fault><soap:Code><soap:Value>soap:Sender/);
      assert.equal(lastRule(), 'schema');
    }
    const answer = await company.post(good, { headers: { 'Content-Type': 'application/json' } });
    assert.equal(answer.status, 415);
  });

  test('SOAP 1.1 is answered in SOAP 1.1; a header is tolerated', async () => {
    const soap11 = good.replace('http://www.w3.org/2003/05/soap-envelope', 'http://schemas.xmlsoap.org/soap/envelope/');
    const answer = await company.post(soap11, {
      headers: { 'Content-Type': 'text/xml; charset=utf-8', SOAPAction: `"${ACTION}"` },
    });
    assert.match(answer.contentType, /^text\/xml/);
    assert.match(answer.body.toString(), /xmlns:soap="http:\/\/schemas.xmlsoap.org\/soap\/envelope\/"/);
    assert.equal(read(answer).cStat, '137');
    later(HOUR);
    assert.equal(
      await code(good.replace('<soap12:Body>', '<soap12:Header><nfeCabecMsg/></soap12:Header><soap12:Body>')),
      '137',
    );
  });

  test('the answer is wrapped as the service wraps it', async () => {
    const { body, contentType } = await company.rawPage(0);
    assert.equal(contentType, 'application/soap+xml; charset=utf-8');
    assert.match(
      body.toString(),
      /<soap:Body><nfeDistDFeInteresseResponse xmlns="[^"]*NFeDistribuicaoDFe"><nfeDistDFeInteresseResult><retDistDFeInt xmlns="http:\/\/www.portalfiscal.inf.br\/nfe" versao="1.01">/,
    );
  });

  test('404 elsewhere, 405 for GET', async () => {
    const options = { ca: simulator.caPem, certificate };
    assert.equal((await send({ url: `${simulator.url}/outra`, ...options })).status, 404);
    assert.equal((await send({ url: company.url, method: 'GET', ...options })).status, 405);
    assert.equal(read(await send({ url: company.url, body: envelope('<x/>'), ...options })).cStat, '215');
  });
});

test('60-day rule: nothing gets a number that arrives while nobody asks', async () => {
  simulator.policy = { ...simulator.policy, sixtyDays: true };
  add();
  const arrive = () => simulator.companies.arrive({ taxId: COMPANY, count: 5 }).numbered;
  assert.equal(arrive(), 0, 'nobody has asked yet');
  assert.equal((await company.page(0)).cStat, '137');
  assert.equal(arrive(), 5);
  later(61 * 24 * HOUR);
  assert.equal(arrive(), 0);
  // A branch keeps the whole root alive.
  await new TestCompany(simulator, BRANCH, certificate).page(0);
  assert.equal(arrive(), 5);
});

/** Keys of the first notes that are authorized. */
function keysOf(count: number, taxId = COMPANY): string[] {
  const keys: string[] = [];
  for (let at = 1; keys.length < count; at++) {
    const { xml } = simulator.companies.document({ taxId, nsu: at });
    if (xml.includes('<cSitNFe>1<')) keys.push(/<chNFe>([^<]*)/.exec(xml)?.[1] ?? '');
  }
  return keys;
}

async function sha256(text: string): Promise<string> {
  return Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(text, 'utf8'))).toString('hex');
}
