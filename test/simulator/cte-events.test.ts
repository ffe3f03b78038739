import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ufByCode } from '../../src/documents/index.js';
import { governmentAddresses } from '../../src/government/addresses.js';
import { type CteEvent, createCteEvents, signedCteEvent } from '../../src/government/cte-events.js';
import type { EventAnswer } from '../../src/government/event-answer.js';
import { createHttpsTransport } from '../../src/government/https-transport.js';
import type { ClientCertificate } from '../../src/government/types.js';
import { MANIFESTATION_RULES } from '../../src/model/manifestation.js';
import { type A1, type Simulator, startSimulator } from '../../src/simulator/index.js';
import { cteKey } from '../documents/cte-samples.js';
import { scratchFolder } from '../support/scratch.js';
import { eventSchemas } from './event-schemas.js';

const TAX_ID = '12ABC34501DE35';
const OTHER = '98765432000198';
const DAY = 86_400_000;
const REASON = 'Frete cobrado acima do combinado';

let simulator: Simulator;
let certificate: ClientCertificate;
let otherCertificate: ClientCertificate;
/** CT-e of which the company is the taker, and of which it is not. */
let taken: { key: string; uf: string }[] = [];
let others: { key: string; uf: string }[] = [];

const ufOf = (key: string) => ufByCode(key.slice(0, 2)) ?? '';

const asCertificate = ({ keyPem, chainPem }: A1): ClientCertificate => ({ keyPem, chainPem, thumbprint: 'x' });
const issue = (taxId: string) => asCertificate(simulator.issueA1({ taxId, name: 'Empresa Inventada', password: 'x' }));

const xmlsOf = ({ companies }: Simulator, taxId: string): string[] =>
  companies
    .truth({ taxId, documentType: 'cte' })
    .map(({ nsu }) => companies.document({ taxId, documentType: 'cte', nsu }).xml);

function keysOf(from: Simulator, taxId: string, isTaker: boolean): { key: string; uf: string }[] {
  // Somebody who pays without any other part stands in toma4, with a CNPJ of its own.
  return xmlsOf(from, taxId)
    .filter((xml) => new RegExp(`<toma4>.*<CNPJ>${taxId}</CNPJ>.*</toma4>`).test(xml) === isTaker)
    .filter((xml) => isTaker || !xml.includes(`<CNPJ>${taxId}</CNPJ>`))
    .map((xml) => /Id="CTe(\w{44})"/.exec(xml)?.[1] ?? '')
    .map((key) => ({ key, uf: ufOf(key) }));
}

function authorizedAt(from: Simulator, key: string): number {
  const xml = xmlsOf(from, TAX_ID).find((each) => each.includes(`Id="CTe${key}"`)) ?? '';
  return Date.parse(/<dhRecbto>([^<]+)/.exec(xml)?.[1] ?? '');
}

before(async () => {
  const inspectEvents = eventSchemas();
  simulator = await startSimulator(inspectEvents === undefined ? {} : { inspectEvents });
  certificate = issue(TAX_ID);
  otherCertificate = issue(OTHER);
  simulator.companies.add({ documentType: 'cte', taxId: TAX_ID, backlog: 120, kinds: { procCTe: 1 }, spreadDays: 1 });
  simulator.companies.add({ documentType: 'cte', taxId: OTHER, backlog: 10, kinds: { procCTe: 1 }, spreadDays: 1 });
  taken = keysOf(simulator, TAX_ID, true);
  others = keysOf(simulator, OTHER, false).concat(keysOf(simulator, OTHER, true));
  assert.ok(taken.length > 20 && others.length > 0);
});
after(() => simulator.stop());

const next = () => taken.pop() ?? assert.fail('no more CT-e');

function event(type: string, key: string, more: Partial<CteEvent> = {}): CteEvent {
  const rule = MANIFESTATION_RULES.get(type);
  assert.ok(rule);
  return {
    rule,
    environment: 'homologation',
    author: TAX_ID,
    key,
    sequence: 1,
    occurredAt: simulator.clock.now(),
    ...(rule.justified ? { justification: REASON } : {}),
    ...more,
  };
}

function transmit(
  signed: string,
  { uf = 'SP', limitMs = 10_000, file = simulator.endpointsFile() } = {},
): Promise<EventAnswer> {
  const client = createCteEvents({
    transport: createHttpsTransport({ caFile: simulator.caPem }),
    addresses: governmentAddresses(file),
  });
  return client.send({ environment: 'homologation', uf, events: [signed], certificate, limitMs });
}
const sent = (each: CteEvent, by = certificate) => transmit(signedCteEvent(each, by));
async function code(answer: Promise<EventAnswer>): Promise<string> {
  const { outcome, results } = await answer;
  return results[0]?.statusCode ?? `${outcome.kind} ${'statusCode' in outcome ? outcome.statusCode : ''}`;
}
const last = () => simulator.journal.list().at(-1);

describe('registering', () => {
  test('a disagreement, its cancellation, and another disagreement after that', async () => {
    const { key } = next();
    const [said] = (await sent(event('610110', key))).results;
    assert.deepEqual([said?.statusCode, said?.key, said?.sequence], ['135', key, '1']);
    assert.match(said?.protocol ?? '', new RegExp(`^1${key.slice(0, 2)}\\d{12}$`));
    assert.deepEqual(
      [last()?.service, last()?.kind, last()?.asked, last()?.taxId, last()?.cStat],
      ['cte-event', 'cteRecepcaoEvento', `ID610110${key}001`, TAX_ID, '135'],
    );
    assert.equal(await code(sent(event('610110', key, { sequence: 2 }))), '631', 'it stands');
    const protocol = said?.protocol ?? '';
    assert.equal(await code(sent(event('610111', key, { protocol }))), '135');
    assert.equal(await code(sent(event('610111', key, { protocol, sequence: 2 }))), '866', 'taken back already');
    assert.equal(await code(sent(event('610110', key, { sequence: 2 }))), '135');
  });

  test('each authorizer takes the events of its own UFs', async () => {
    const file = (authorizer: string) =>
      JSON.stringify({
        homologation: { cteEvent: `${simulator.url}/homologation/cte/${authorizer}/CTeRecepcaoEventoV4` },
      });
    const own: Readonly<Record<string, string>> = {
      SP: 'sp',
      AP: 'sp',
      PE: 'sp',
      RR: 'sp',
      MG: 'mg',
      MS: 'ms',
      MT: 'mt',
      PR: 'pr',
    };
    const { key, uf } = next();
    const right = own[uf] ?? 'svrs';
    const wrong = right === 'mg' ? 'sp' : 'mg';
    const signed = signedCteEvent(event('610110', key), certificate);
    assert.equal(await code(transmit(signed, { file: file(wrong) })), '677');
    assert.equal(await code(transmit(signed, { file: file(right) })), '135');
  });

  test('also about a CT-e that somebody gave', async () => {
    const key = cteKey(77);
    const { nsu } = simulator.companies.truth({ taxId: TAX_ID, documentType: 'cte' })[0] ?? assert.fail();
    const { schema, xml } = simulator.companies.document({ taxId: TAX_ID, documentType: 'cte', nsu });
    const before = /Id="CTe(\w{44})"/.exec(xml)?.[1] ?? '';
    const given = xml
      .replaceAll(before, key)
      .replace(/<toma4>.*<\/toma4>|<toma3>.*<\/toma3>/, `<toma4><toma>4</toma><CNPJ>${TAX_ID}</CNPJ></toma4>`);
    simulator.companies.give({ taxId: TAX_ID, documentType: 'cte', documents: [{ schema, xml: given }] });
    assert.equal(await code(sent(event('610110', key))), '135');
    assert.equal(await code(sent(event('610110', key, { author: OTHER }), otherCertificate)), '755');
  });
});

describe('rejecting', () => {
  test('631: the same Id again; the answer names the event that is there', async () => {
    const { key } = next();
    const [first] = (await sent(event('610110', key))).results;
    const [again] = (await sent(event('610110', key))).results;
    assert.deepEqual([again?.statusCode, again?.protocol], ['631', first?.protocol]);
  });

  test('755: not the taker', async () => {
    const [{ key } = assert.fail()] = others;
    assert.equal(await code(sent(event('610110', key))), '755');
  });

  test('217: nobody has such a CT-e', async () => {
    assert.equal(await code(sent(event('610110', cteKey(999_999)))), '217');
  });

  test('218: cancelled', async () => {
    const taxId = '11222333000181';
    simulator.companies.add({
      documentType: 'cte',
      taxId,
      backlog: 60,
      kinds: { procCTe: 1, procEventoCTe: 1 },
      eventType: '110111',
      spreadDays: 1,
    });
    const xmls = simulator.companies
      .truth({ taxId, documentType: 'cte' })
      .map(({ nsu }) => simulator.companies.document({ taxId, documentType: 'cte', nsu }).xml);
    const cancelled = new Set(xmls.map((xml) => /<procEventoCTe.*<chCTe>(\w{44})/.exec(xml)?.[1]));
    const keys = keysOf(simulator, taxId, true).map(({ key }) => key);
    const dead = keys.find((key) => cancelled.has(key)) ?? assert.fail('none is cancelled');
    const alive = keys.find((key) => !cancelled.has(key)) ?? assert.fail('all are cancelled');
    const by = issue(taxId);
    assert.equal(await code(sent(event('610110', dead, { author: taxId }), by)), '218');
    assert.equal(await code(sent(event('610110', alive, { author: taxId }), by)), '135');
  });

  test('787: more than 45 days after the authorization; a cancellation has no deadline', async () => {
    const old = await startSimulator({ authority: simulator.authority });
    try {
      const arrivedAt = old.clock.now() - 40 * DAY;
      old.companies.add({
        documentType: 'cte',
        taxId: TAX_ID,
        backlog: 40,
        kinds: { procCTe: 1 },
        arrivedAt,
        spreadDays: 0,
      });
      const [first = assert.fail(), second = assert.fail()] = keysOf(old, TAX_ID, true);
      const file = old.endpointsFile();
      const sentAt = (at: number, type: string, key: string, more: Partial<CteEvent> = {}) => {
        old.clock.push(at, true);
        const signed = signedCteEvent(event(type, key, { occurredAt: at, ...more }), certificate);
        return code(transmit(signed, { file }));
      };
      const end = (key: string) => authorizedAt(old, key) + 45 * DAY;
      assert.equal(await sentAt(end(first.key), '610110', first.key), '135');
      const late = Math.max(end(first.key), end(second.key) + 60_000);
      assert.equal(await sentAt(late, '610110', second.key), '787');
      const protocol = '135260000000001';
      assert.equal(await sentAt(late, '610111', second.key, { protocol }), '866');
    } finally {
      await old.stop();
    }
  });

  test('866: a cancellation of a protocol that does not exist', async () => {
    assert.equal(await code(sent(event('610111', next().key, { protocol: '135260000009999' }))), '866');
  });

  test('634 and 635: times that cannot be', async () => {
    const { key } = next();
    const now = simulator.clock.now();
    assert.equal(await code(sent(event('610110', key, { occurredAt: now + 600_000 }))), '635');
    assert.equal(await code(sent(event('610110', key, { occurredAt: now - 30 * DAY }))), '634');
  });

  test('213 and 297: another’s certificate, changed after signing', async () => {
    const { key } = next();
    assert.equal(await code(sent(event('610110', key), otherCertificate)), '213');
    const signed = signedCteEvent(event('610110', key), certificate);
    assert.equal(await code(transmit(signed.replace(REASON, `${REASON}!`))), '297');
    assert.equal(last()?.rule, 'signature');
  });

  test('the request’s form: 215, 404, 628, 629, 630, 677, 252', async () => {
    const { key } = next();
    const signed = signedCteEvent(event('610110', key), certificate);
    const bad: [change: (xml: string) => string, expected: string][] = [
      [(xml) => xml.replace('<nSeqEvento>1</nSeqEvento>', ''), '215'],
      [(xml) => xml.replace('</detEvento>', '</detEvento><xObs>x</xObs>'), '215'],
      [(xml) => xml.replace('Id="ID', 'Id="id'), '215'],
      [(xml) => xml.replace(' versao="4.00"', ' versao="3.00"'), '215'],
      [(xml) => xml.replace('<eventoCTe ', '<eventoCTe xmlns:a="urn:a" '), '404'],
      [(xml) => xml.replace('001">', '002">'), '628'],
      [(xml) => xml.replace('<tpEvento>610110', '<tpEvento>110111').replace('ID610110', 'ID110111'), '629'],
      [(xml) => xml.replace(REASON, 'curta'), '630'],
      [(xml) => xml.replace('<indDesacordoOper>1<', '<indDesacordoOper>2<'), '630'],
      [(xml) => xml.replace(/<cOrgao>\d\d/, `<cOrgao>${key.startsWith('35') ? '31' : '35'}`), '677'],
      [(xml) => xml.replace('<tpAmb>2', '<tpAmb>1'), '252'],
    ];
    for (const [change, expected] of bad) {
      const said = await code(transmit(change(signed)));
      // The official schemas refuse as a whole what the simulator by itself refuses in two stages.
      assert.equal(said, expected === '630' && eventSchemas() !== undefined ? '215' : expected, String(change));
    }
    const alone = await startSimulator({ authority: simulator.authority });
    try {
      const file = alone.endpointsFile();
      for (const [change, expected] of bad)
        assert.equal(await code(transmit(change(signed), { file })), expected, `without XSDs: ${change}`);
    } finally {
      await alone.stop();
    }
  });

  test('678: the same rejection more than twenty times within an hour', async () => {
    const lost = event('610110', cteKey(424_242));
    for (let i = 0; i < 20; i++) assert.equal(await code(sent(lost)), '217');
    assert.equal(await code(sent(lost)), 'throttled 678');
    assert.equal(last()?.rule, 'event_misuse');
  });
});

test('scripts: a status, a lost answer after which 631 tells the protocol, an outage', async () => {
  const { key } = next();
  const kind = 'cteRecepcaoEvento';
  simulator.script({ type: 'event_status', cStat: '134' }, { kind });
  assert.equal(await code(sent(event('610110', key))), '134');
  const lost = next();
  simulator.script({ type: 'reset' }, { kind });
  assert.equal((await sent(event('610110', lost.key))).outcome.kind, 'unknown');
  const [again] = (await sent(event('610110', lost.key))).results;
  assert.equal(again?.statusCode, '631');
  assert.match(again?.protocol ?? '', /^\d{15}$/);
  simulator.script({ type: 'status', cStat: '999' }, { kind });
  assert.equal(await code(sent(event('610110', next().key))), 'unreadable 999');
  simulator.script({ type: 'status', cStat: '108' }, { kind: 'distNSU' });
  assert.equal(await code(sent(event('610110', next().key))), '135', 'scripts of distribution are not for events');
  simulator.setOutage('109');
  assert.equal(await code(sent(event('610110', next().key))), 'paused 109');
  simulator.setOutage(null);
});

test('a simulator that is started again remembers what was registered', async () => {
  const folder = scratchFolder('cte-events');
  const first = await startSimulator({ folder });
  first.companies.add({ documentType: 'cte', taxId: TAX_ID, backlog: 40, kinds: { procCTe: 1 }, spreadDays: 0 });
  const [{ key } = assert.fail()] = keysOf(first, TAX_ID, true);
  const own = asCertificate(first.issueA1({ taxId: TAX_ID, name: 'Empresa Inventada', password: 'x' }));
  const transport = createHttpsTransport({ caFile: first.caPem });
  const signed = signedCteEvent(event('610110', key, { occurredAt: first.clock.now() }), own);
  const transmitTo = ({ addresses }: { addresses: ReturnType<typeof governmentAddresses> }) =>
    createCteEvents({ transport, addresses }).send({
      environment: 'homologation',
      uf: 'SP',
      events: [signed],
      certificate: own,
      limitMs: 10_000,
    });
  const before = await transmitTo({ addresses: governmentAddresses(first.endpointsFile()) });
  assert.equal(before.results[0]?.statusCode, '135');
  await first.stop();
  const second = await startSimulator({ folder });
  const again = await transmitTo({ addresses: governmentAddresses(second.endpointsFile()) });
  assert.deepEqual([again.results[0]?.statusCode, again.results[0]?.protocol], ['631', before.results[0]?.protocol]);
  await second.stop();
});
