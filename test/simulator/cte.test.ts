import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { decodeItem } from '../../src/documents/index.js';
import { CTE_EVENT_TYPES } from '../../src/simulator/documents/cte/cte-event.js';
import { FREIGHT_FORMS, MODALS } from '../../src/simulator/documents/cte/freight.js';
import { CteSequence } from '../../src/simulator/documents/cte/sequence.js';
import { CTE_KINDS } from '../../src/simulator/documents/kinds.js';
import { createAuthority, type Simulator, startSimulator } from '../../src/simulator/index.js';
import { scratchFolder } from '../support/scratch.js';
import { NO_SCHEMAS, schemaOf } from '../support/xsd.js';
import { nsu, type ReadAnswer, read, send } from './client.js';

const HOUR = 3_600_000;
const COMPANY = '98765432000198';
const NAMESPACE = 'http://www.portalfiscal.inf.br/cte';
const WSDL = `${NAMESPACE}/wsdl/CTeDistribuicaoDFe`;
const MASK = '9'.repeat(44);

function sequence(kinds: Partial<Record<(typeof CTE_KINDS)[number], number>>, count: number, eventType?: string) {
  const made = new CteSequence({
    worldSeed: 'teste',
    name: 'Comprador "Exemplo" & Cia',
    taxId: COMPANY,
    uf: 'SP',
    environmentCode: '2',
  });
  const arrivedAt = Date.parse('2026-11-30T12:00:00Z');
  made.append({
    type: 'generated',
    count,
    kinds,
    arrivedAt,
    spreadMs: 0,
    ...(eventType === undefined ? {} : { eventType }),
  });
  return Array.from({ length: count }, (_, index) => made.documentAt(index));
}

describe('documents', () => {
  const schemas: [(typeof CTE_KINDS)[number], string, number][] = [
    ['procCTe', 'cte/procCTe_v4.00.xsd', 120],
    ['procCTeOS', 'cte/procCTeOS_v4.00.xsd', 30],
    ['procCTeSimp', 'cte/procCTeSimp_v4.00.xsd', 30],
    ['procGTVe', 'cte/procGTVe_v4.00.xsd', 30],
    ['procCTe300', 'cte300/procCTe_v3.00.xsd', 60],
  ];
  for (const [kind, schema, count] of schemas) {
    test(`${kind} are valid by the official schema`, { skip: NO_SCHEMAS }, () => {
      const fault = schemaOf(schema);
      for (const { xml } of sequence({ [kind]: 1 }, count)) {
        // Letters are younger than layout 3.00.
        if (kind === 'procCTe300' && /<(CNPJ|chave|chCTe)>[0-9]*[A-Z]/.test(xml)) continue;
        // Keys of 44 nines are what third parties get; the schema wants a key's form, which they have.
        assert.equal(fault(xml), null, xml.slice(0, 2000));
      }
    });
  }

  test('events are valid by the official schema, of known types and others', { skip: NO_SCHEMAS }, () => {
    const fault = schemaOf('cte/procEventoCTe_v4.00.xsd');
    for (const type of [...CTE_EVENT_TYPES, '998877']) {
      for (const { xml } of sequence({ procCTe: 1, procEventoCTe: 1 }, 20, type)) {
        if (xml.startsWith('<procEventoCTe')) assert.equal(fault(xml), null);
      }
    }
  });

  test('of every form and modal, for a company in every role, some of them masked', () => {
    const documents = sequence(Object.fromEntries(CTE_KINDS.map((kind) => [kind, 1])), 1500);
    const seen = {
      kinds: new Set<string>(),
      modals: new Set<unknown>(),
      roles: new Set<string>(),
      warnings: new Set<string>(),
      masked: 0,
    };
    for (const { kind, schema, xml } of documents) {
      const decoded = decodeItem({ content: Buffer.from(xml), encoding: 'identity', schema }, 'cte');
      assert.ok(decoded.ok, xml.slice(0, 500));
      const { document } = decoded;
      assert.equal(document.kind, kind.replace(/[23]00$/, ''));
      assert.ok(document.key !== null && document.key !== MASK);
      seen.kinds.add(kind);
      seen.modals.add(document.metadata.modal);
      if (document.metadata.masked) seen.masked++;
      for (const warning of document.warnings) seen.warnings.add(warning.split(':')[0] ?? '');
      for (const role of ['sender', 'dispatcher', 'receiver', 'recipient', 'taker', 'issuer']) {
        if ((document.metadata[role] as { taxId?: string } | undefined)?.taxId === COMPANY) seen.roles.add(role);
      }
    }
    assert.equal(seen.kinds.size, CTE_KINDS.length);
    assert.ok(seen.modals.size >= MODALS.length);
    assert.deepEqual(
      [...seen.roles].sort(),
      ['dispatcher', 'receiver', 'recipient', 'sender', 'taker'],
      'never its own document',
    );
    assert.ok(seen.masked > 20);
    assert.deepEqual([...seen.warnings], ['schema_differs'], 'a CT-e Simplificado is announced as a CT-e');
    assert.equal(FREIGHT_FORMS.length, 4);
  });

  test('events come before their document, after it, and without it', () => {
    const documents = sequence({ procCTe: 3, procEventoCTe: 2 }, 600);
    const keyOf = (xml: string) => /<chCTe>([^<]*)/.exec(xml)?.[1];
    const at = new Map(
      documents.flatMap(({ kind, xml }, index) =>
        kind === 'procCTe' ? [[/Id="CTe([^"]*)/.exec(xml)?.[1], index] as const] : [],
      ),
    );
    const distances = documents.flatMap(({ kind, xml }, index) =>
      kind === 'procEventoCTe' ? [(at.get(keyOf(xml)) ?? Number.NaN) - index] : [],
    );
    assert.ok(distances.filter((d) => d < 0).length > 50);
    assert.ok(distances.filter((d) => d > 0).length > 10);
    assert.ok(distances.filter(Number.isNaN).length > 5);
  });
});

describe('the service', () => {
  let simulator: Simulator;
  const authority = createAuthority();
  const certificate = authority.issueA1({ taxId: COMPANY, name: 'Teste', password: '', shareKey: true });

  beforeEach(async () => {
    simulator = await startSimulator({ authority });
    simulator.clock.push(Date.now(), true);
  });
  afterEach(() => simulator.stop());

  const ask = (data: string, more: { url?: string } = {}) =>
    send({
      url: more.url ?? simulator.endpoints().homologation.cteDistribution,
      ca: simulator.caPem,
      certificate,
      headers: { 'Content-Type': `application/soap+xml; charset=utf-8; action="${WSDL}/cteDistDFeInteresse"` },
      body:
        '<?xml version="1.0" encoding="utf-8"?><soap12:Envelope xmlns:soap12="http://www.w3.org/2003/05/soap-envelope"><soap12:Body>' +
        `<cteDistDFeInteresse xmlns="${WSDL}"><cteDadosMsg>${data}</cteDadosMsg></cteDistDFeInteresse></soap12:Body></soap12:Envelope>`,
    });
  const dist = (question: string, uf = '<cUFAutor>35</cUFAutor>', version = '1.00') =>
    `<distDFeInt xmlns="${NAMESPACE}" versao="${version}"><tpAmb>2</tpAmb>${uf}<CNPJ>${COMPANY}</CNPJ>${question}</distDFeInt>`;
  const page = async (ultNsu: number): Promise<ReadAnswer> =>
    read(await ask(dist(`<distNSU><ultNSU>${nsu(ultNsu)}</ultNSU></distNSU>`)));
  const byNsu = async (number: number): Promise<ReadAnswer> =>
    read(await ask(dist(`<consNSU><NSU>${nsu(number)}</NSU></consNSU>`)));
  const add = (options: object = {}) => simulator.companies.add({ documentType: 'cte', taxId: COMPANY, ...options });

  test('gives its own queue, apart from NF-e’s', async () => {
    add({ backlog: 60 });
    simulator.companies.add({ taxId: COMPANY, backlog: 7 });
    const first = await page(0);
    assert.deepEqual([first.cStat, first.items.length, first.ultNsu, first.maxNsu], ['138', 50, nsu(50), nsu(60)]);
    const second = await page(50);
    const truth = simulator.companies.truth({ documentType: 'cte', taxId: COMPANY });
    assert.deepEqual(
      [...first.items, ...second.items].map((item) => item.nsu),
      truth.map((entry) => entry.nsu),
    );
    assert.equal(simulator.companies.truth({ taxId: COMPANY }).length, 7);
    assert.deepEqual(simulator.journal.violations(), []);
    assert.equal(simulator.journal.list().at(-1)?.service, 'cte-distribution');
  });

  test('answers as the official schema says, without offset in dhResp', { skip: NO_SCHEMAS }, async () => {
    add({ backlog: 3 });
    const fault = schemaOf('cte/retDistDFeInt_v1.00.xsd');
    for (const answer of [
      await ask(dist(`<distNSU><ultNSU>${nsu(0)}</ultNSU></distNSU>`)),
      await ask(dist(`<distNSU><ultNSU>${nsu(3)}</ultNSU></distNSU>`)),
    ]) {
      const [ret] = /<retDistDFeInt.*<\/retDistDFeInt>/s.exec(answer.body.toString()) ?? [];
      assert.equal(fault(ret ?? ''), null);
      assert.match(read(answer).dhResp ?? '', /T\d\d:\d\d:\d\d$/);
    }
  });

  const faults: [string, string, string][] = [
    ['without cUFAutor', dist('<distNSU><ultNSU>000000000000000</ultNSU></distNSU>', ''), '215'],
    ['by key', dist(`<consChNFe><chNFe>${'3'.repeat(44)}</chNFe></consChNFe>`), '215'],
    ['of NF-e’s version', dist('<distNSU><ultNSU>000000000000000</ultNSU></distNSU>', undefined, '1.01'), '239'],
    [
      'in NF-e’s namespace',
      dist('<distNSU><ultNSU>000000000000000</ultNSU></distNSU>').replace(
        NAMESPACE,
        'http://www.portalfiscal.inf.br/nfe',
      ),
      '215',
    ],
  ];
  for (const [name, data, cStat] of faults) {
    test(`a request ${name}: ${cStat}`, async () => {
      add({ backlog: 1 });
      assert.equal(read(await ask(data)).cStat, cStat);
      assert.equal(simulator.journal.violations().at(-1)?.rule, 'schema');
    });
  }

  test('656 within the hour after the end, telling no pointer; point queries go on', async () => {
    add({ backlog: 5 });
    await page(0);
    const early = await page(5);
    assert.deepEqual([early.cStat, early.ultNsu, early.maxNsu], ['656', nsu(0), nsu(0)]);
    assert.equal(simulator.journal.violations().at(-1)?.rule, 'early');
    assert.equal((await byNsu(3)).cStat, '138', 'the block is distribution’s alone');
    simulator.clock.advance(HOUR);
    assert.equal((await page(5)).cStat, '137');
  });

  test('the 21st point query blocks point queries, not distribution', async () => {
    add({ backlog: 30 });
    for (let n = 1; n <= 20; n++) assert.equal((await byNsu(n)).cStat, '138');
    assert.equal((await byNsu(21)).cStat, '656');
    assert.equal(simulator.journal.violations().at(-1)?.rule, 'quota');
    assert.equal((await page(0)).cStat, '138');
    simulator.clock.advance(HOUR - 1000);
    assert.equal((await byNsu(21)).cStat, '656', 'and so does any of them during the block, which begins anew');
    simulator.clock.advance(HOUR);
    assert.equal((await byNsu(21)).cStat, '138');
  });

  test('going on from another NSU is answered, and noted unless the client could not know', async () => {
    add({ backlog: 200 });
    await page(0);
    assert.equal((await page(10)).cStat, '138');
    assert.equal(simulator.journal.violations().at(-1)?.rule, 'wrong_ultnsu');
    simulator.journal.clear();
    simulator.companies.steal({ documentType: 'cte', taxId: COMPANY, count: 50 });
    assert.equal((await page(60)).cStat, '138');
    assert.deepEqual(simulator.journal.violations(), []);
  });

  test('137 names how far the search got, which may be further on', async () => {
    add({ backlog: 10, gaps: { nsus: [9, 10], exist: false } });
    await page(0);
    simulator.companies.add({
      documentType: 'cte',
      taxId: COMPANY,
      backlog: 10,
      gaps: { nsus: [8, 9, 10], exist: false },
    });
    const none = await page(7);
    assert.deepEqual([none.cStat, none.ultNsu, none.maxNsu], ['137', nsu(10), nsu(10)]);
  });

  test('a script may be for one service only', async () => {
    add({ backlog: 1 });
    simulator.script({ type: 'status', cStat: '109' }, { documentType: 'nfe' });
    assert.equal((await page(0)).cStat, '138');
    simulator.script({ type: 'status', cStat: '109' }, { documentType: 'cte' });
    assert.equal((await page(1)).cStat, '109');
  });

  test('kinds of another document type are refused', () => {
    assert.throws(() => add({ backlog: 1, kinds: { resNFe: 1 } }), /kinds of another document type/);
    assert.throws(
      () => simulator.companies.add({ taxId: COMPANY, kinds: { procCTe: 1 } }),
      /kinds of another document type/,
    );
  });
});

test('a folder keeps the queues of both services apart', async () => {
  const folder = scratchFolder('simulator');
  const first = await startSimulator({ folder });
  first.companies.add({ taxId: COMPANY, backlog: 2 });
  first.companies.add({ documentType: 'cte', taxId: COMPANY, backlog: 3 });
  await first.stop();
  const second = await startSimulator({ folder });
  try {
    const lengths = (['nfe', 'cte'] as const).map(
      (documentType) => second.companies.truth({ documentType, taxId: COMPANY }).length,
    );
    assert.deepEqual(lengths, [2, 3]);
  } finally {
    await second.stop();
  }
});
