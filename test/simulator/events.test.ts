import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { SignedXml } from 'xml-crypto';
import { buildAccessKey } from '../../src/documents/index.js';
import { nfeEventDetails } from '../../src/documents/nfe-event-fields.js';
import { governmentAddresses } from '../../src/government/addresses.js';
import type { EventAnswer } from '../../src/government/event-answer.js';
import { createHttpsTransport } from '../../src/government/https-transport.js';
import { createNfeEvents, type NfeEvent, signedNfeEvent } from '../../src/government/nfe-events.js';
import type { ClientCertificate } from '../../src/government/types.js';
import { MANIFESTATION_RULES } from '../../src/model/manifestation.js';
import { type A1, type Simulator, startSimulator } from '../../src/simulator/index.js';
import { verifySignature } from '../government/verify-signature.js';
import { scratchFolder } from '../support/scratch.js';
import { send } from './client.js';
import { eventSchemas } from './event-schemas.js';

const TAX_ID = '12ABC34501DE35';
const OTHER = '98765432000198';
const DAY = 86_400_000;
const REASON = 'Mercadoria recusada no recebimento';

let simulator: Simulator;
let certificate: ClientCertificate;
let otherCertificate: ClientCertificate;
let keys: string[] = [];

const asCertificate = ({ keyPem, chainPem }: A1): ClientCertificate => ({ keyPem, chainPem, thumbprint: 'x' });
const issue = (taxId: string, more = {}) =>
  asCertificate(simulator.issueA1({ taxId, name: 'Empresa Inventada', password: 'x', ...more }));

before(async () => {
  const inspectEvents = eventSchemas();
  simulator = await startSimulator(inspectEvents === undefined ? {} : { inspectEvents });
  certificate = issue(TAX_ID);
  otherCertificate = issue(OTHER);
  simulator.companies.add({ taxId: TAX_ID, backlog: 60, kinds: { resNFe: 1 }, spreadDays: 0 });
  simulator.companies.add({ taxId: OTHER });
  keys = simulator.companies
    .truth({ taxId: TAX_ID })
    .map(({ nsu }) => simulator.companies.document({ taxId: TAX_ID, nsu }).xml)
    .filter((xml) => xml.includes('<cSitNFe>1<'))
    .map((xml) => /<chNFe>(\w{44})/.exec(xml)?.[1] ?? '');
});
after(() => simulator.stop());

const nextKey = () => keys.pop() ?? assert.fail('no more notes');

function event(type: string, key: string, more: Partial<NfeEvent> = {}): NfeEvent {
  const rule = MANIFESTATION_RULES.get(type);
  assert.ok(rule);
  const reason = rule.justified ? { justification: REASON } : {};
  return {
    rule,
    environment: 'homologation',
    author: TAX_ID,
    key,
    sequence: 1,
    occurredAt: simulator.clock.now(),
    ...reason,
    ...more,
  };
}
const taxReform = (type: string, key: string, fields: Record<string, string>) =>
  event(type, key, { details: nfeEventDetails(type, fields, { uf: 'SP', application: 'Teste' }) });

function transmit(
  signed: readonly string[],
  more: { authority?: 'an' | 'svrs'; limitMs?: number } = {},
): Promise<EventAnswer> {
  const client = createNfeEvents({
    transport: createHttpsTransport({ caFile: simulator.caPem }),
    addresses: governmentAddresses(simulator.endpointsFile()),
  });
  return client.send({
    authority: 'an',
    environment: 'homologation',
    lot: '1',
    events: signed,
    certificate,
    limitMs: 10_000,
    ...more,
  });
}
const sign = (each: NfeEvent, by = certificate) => signedNfeEvent(each, by);
async function codes(answer: Promise<EventAnswer>): Promise<string[]> {
  const { outcome, results } = await answer;
  return results.length > 0
    ? results.map(({ statusCode }) => statusCode)
    : [`${outcome.kind} ${'statusCode' in outcome ? outcome.statusCode : ''}`];
}
const last = () => simulator.journal.list().at(-1);

describe('registering', () => {
  test('every statement, several in one request, each with its protocol', async () => {
    const types = ['210210', '210200', '210220', '210240'];
    const events = types.map((type) => event(type, nextKey()));
    const answer = await transmit(events.map((each) => sign(each)));
    assert.deepEqual(
      answer.results.map(({ statusCode, type, key }) => [statusCode, type, key]),
      events.map(({ rule, key }) => ['135', rule.type, key]),
    );
    assert.equal(new Set(answer.results.map(({ protocol }) => protocol)).size, 4);
    assert.match(answer.results[0]?.protocol ?? '', /^891\d{12}$/);
    const lines = simulator.journal.list().slice(-4);
    assert.deepEqual(
      lines.map(({ asked }) => asked),
      events.map(({ rule, key }) => `ID${rule.type}${key}01`),
    );
    assert.ok(lines.every(({ rule, documents }) => rule === null && documents === 1));
  });

  test('Tax Reform events at SVRS, one by one, and their cancellation', async () => {
    const key = nextKey();
    const first = await transmit([sign(taxReform('211128', key, { indAceitacao: '1' }))], { authority: 'svrs' });
    assert.equal(first.results[0]?.statusCode, '135');
    const nProtEvento = first.results[0]?.protocol ?? '';
    const cancel = (protocol: string) =>
      transmit([sign(taxReform('110001', key, { tpEventoAut: '211128', nProtEvento: protocol }))], {
        authority: 'svrs',
      });
    assert.deepEqual(await codes(cancel('143260000009999')), ['460']);
    assert.deepEqual(await codes(cancel(nProtEvento)), ['135']);
    const two = [nextKey(), nextKey()].map((each) => sign(taxReform('211128', each, { indAceitacao: '0' })));
    assert.deepEqual(await codes(transmit(two, { authority: 'svrs' })), ['rejected 215']);
  });

  test('releases the whole note under a new number, once, and not after Operation Unknown', async () => {
    const [aware, unknown] = [nextKey(), nextKey()];
    const maxNsu = () => Number(simulator.companies.get({ taxId: TAX_ID }).maxNsu);
    const before = maxNsu();
    await transmit([sign(event('210210', aware)), sign(event('210220', unknown))]);
    assert.equal(maxNsu(), before + 1);
    const nsu = String(before + 1).padStart(15, '0');
    const { xml } = simulator.companies.document({ taxId: TAX_ID, nsu });
    assert.ok(xml.startsWith('<nfeProc') && xml.includes(aware));
    await transmit([sign(event('210200', aware))]);
    assert.equal(maxNsu(), before + 1);
    simulator.policy = { ...simulator.policy, releasesWhole: false };
    await transmit([sign(event('210210', nextKey()))]);
    simulator.policy = { ...simulator.policy, releasesWhole: true };
    assert.equal(maxNsu(), before + 1);
  });

  test('of a note that nobody knows has no link (136)', async () => {
    const made = buildAccessKey({
      ufCode: '35',
      yearMonth: '2611',
      taxId: '0X0J92JY000196',
      model: '55',
      series: '1',
      number: '7',
      emissionType: '1',
      randomCode: '12345678',
    });
    assert.deepEqual(await codes(transmit([sign(event('210200', made))])), ['136']);
  });
});

describe('rejecting', () => {
  const wrong = async (cStat: string, make: () => NfeEvent | Promise<NfeEvent>, by = () => certificate) =>
    assert.deepEqual(await codes(transmit([sign(await make(), by())])), [cStat]);

  test('573: the same Id again', async () => {
    const signed = sign(event('210200', nextKey()));
    assert.deepEqual(await codes(transmit([signed])), ['135']);
    assert.deepEqual(await codes(transmit([signed])), ['573']);
    assert.equal(last()?.rule, null, 'no rule is broken by a repeat');
  });

  test('655: Awareness after a conclusive statement', async () => {
    const key = nextKey();
    await transmit([sign(event('210240', key))]);
    await wrong('655', () => event('210210', key));
  });

  test('594: the third of a type, the second Awareness', async () => {
    await wrong('594', () => event('210200', nextKey(), { sequence: 3 }));
    await wrong('594', () => event('210210', nextKey(), { sequence: 2 }));
  });

  test('575: of another recipient', async () => {
    await wrong(
      '575',
      () => event('210200', nextKey(), { author: OTHER }),
      () => otherCertificate,
    );
  });

  test('213 and the signature’s certificate', async () => {
    await wrong(
      '213',
      () => event('210200', nextKey()),
      () => otherCertificate,
    );
    assert.equal(last()?.rule, 'certificate_root');
    await wrong(
      '291',
      () => event('210200', nextKey()),
      () => issue(TAX_ID, { validity: 'expired' }),
    );
  });

  test('578 and 577: times that cannot be', async () => {
    await wrong('578', () => event('210200', nextKey(), { occurredAt: simulator.clock.now() + 6 * 60_000 }));
    await wrong('577', () => event('210200', nextKey(), { occurredAt: simulator.clock.now() - 30 * DAY }));
  });

  test('596: too late', async () => {
    simulator.companies.add({
      taxId: '11222333000181',
      backlog: 5,
      kinds: { resNFe: 1 },
      spreadDays: 0,
      arrivedAt: simulator.clock.now() - 11 * DAY,
    });
    const late = issue('11222333000181');
    const xmls = simulator.companies
      .truth({ taxId: '11222333000181' })
      .map(({ nsu }) => simulator.companies.document({ taxId: '11222333000181', nsu }).xml);
    const key = /<chNFe>(\w{44})/.exec(xmls.find((xml) => xml.includes('<cSitNFe>1<')) ?? '')?.[1] ?? '';
    const author = { author: '11222333000181' };
    await wrong(
      '596',
      () => event('210210', key, author),
      () => late,
    );
    await wrong(
      '135',
      () => event('210200', key, author),
      () => late,
    );
  });

  test('656: the same rejection more than twenty times within an hour', async () => {
    const signed = sign(event('210210', nextKey(), { sequence: 2 }));
    for (let i = 0; i < 20; i++) assert.deepEqual(await codes(transmit([signed])), ['594']);
    assert.deepEqual(await codes(transmit([signed])), ['656']);
    assert.equal(last()?.rule, 'event_misuse');
  });
});

describe('signatures are verified', () => {
  const lastRule = async (signed: string, cStat: string) => {
    assert.deepEqual(await codes(transmit([signed])), [cStat]);
    assert.equal(last()?.rule, 'signature');
  };
  const unsigned = (signed: string) => signed.replace(/<Signature[\s\S]*<\/Signature>/, '');

  test('changed after signing', async () => {
    const key = nextKey();
    const signed = sign(event('210240', key));
    await lastRule(signed.replace(REASON, REASON.replace('no', 'na')), '297');
    const other = sign(event('210240', nextKey()));
    const swapped = signed.replace(
      /<SignatureValue>.*<\/SignatureValue>/,
      /<SignatureValue>.*<\/SignatureValue>/.exec(other)?.[0] ?? '',
    );
    await lastRule(swapped, '297');
  });

  test('with other algorithms, transforms, or more about the key', async () => {
    const C14N = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';
    const made = (options: {
      algorithm?: string;
      digest?: string;
      canonical?: string;
      transforms?: string[];
      keyInfo?: string;
    }) => {
      const each = event('210200', nextKey());
      const xml = unsigned(sign(each));
      const signer = new SignedXml({
        privateKey: certificate.keyPem,
        canonicalizationAlgorithm: (options.canonical ?? C14N) as typeof C14N,
        signatureAlgorithm: (options.algorithm ?? 'http://www.w3.org/2000/09/xmldsig#rsa-sha1') as never,
        getKeyInfoContent: () => options.keyInfo ?? /<X509Data>.*<\/X509Data>/.exec(sign(each))?.[0] ?? '',
      });
      signer.addReference({
        xpath: "//*[local-name()='infEvento']",
        transforms: (options.transforms ?? ['http://www.w3.org/2000/09/xmldsig#enveloped-signature', C14N]) as never,
        digestAlgorithm: (options.digest ?? 'http://www.w3.org/2000/09/xmldsig#sha1') as never,
      });
      signer.computeSignature(xml);
      return xml.replace('</evento>', `${signer.getSignatureXml()}</evento>`);
    };
    const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#';
    // Schema or signature: either way it is refused as a whole.
    for (const options of [
      { algorithm: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256' },
      { digest: 'http://www.w3.org/2001/04/xmlenc#sha256' },
      { canonical: EXCLUSIVE },
      { transforms: ['http://www.w3.org/2000/09/xmldsig#enveloped-signature', EXCLUSIVE] },
      { transforms: [C14N] },
      { keyInfo: '<KeyValue/>' },
    ]) {
      const [code] = await codes(transmit([made(options)]));
      assert.ok(code === '298' || code === 'rejected 215', `${JSON.stringify(options)}: ${code}`);
    }
    assert.deepEqual(await codes(transmit([made({})])), ['135'], 'made by hand as the manual says');
  });

  test('by a certificate of another authority', async () => {
    const foreign = await startSimulator();
    try {
      const theirs = asCertificate(foreign.issueA1({ taxId: TAX_ID, name: 'Empresa', password: 'x' }));
      await lastRule(sign(event('210200', nextKey()), theirs), '290');
    } finally {
      await foreign.stop();
    }
  });

  test('and so do the documents that come of them', async () => {
    const signed = sign(event('210200', nextKey()));
    await transmit([signed]);
    assert.ok(verifySignature(signed).digest);
  });
});

describe('the request’s form', () => {
  async function raw(change: (body: string) => string, contentType?: string) {
    const signed = sign(event('210200', nextKey()));
    const body =
      '<?xml version="1.0" encoding="utf-8"?><soap12:Envelope xmlns:soap12="http://www.w3.org/2003/05/soap-envelope"><soap12:Body>' +
      `<nfeDadosMsg xmlns="http://www.portalfiscal.inf.br/nfe/wsdl/NFeRecepcaoEvento4"><envEvento xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.00"><idLote>1</idLote>${signed}</envEvento></nfeDadosMsg></soap12:Body></soap12:Envelope>`;
    const action = 'http://www.portalfiscal.inf.br/nfe/wsdl/NFeRecepcaoEvento4/nfeRecepcaoEventoNF';
    const answer = await send({
      url: simulator.endpoints().homologation.nfeEvent,
      ca: simulator.caPem,
      certificate,
      body: change(body),
      headers: { 'Content-Type': contentType ?? `application/soap+xml; charset=utf-8; action="${action}"` },
    });
    return `${answer.status} ${/<cStat>(\d+)/.exec(answer.body.toString())?.[1] ?? ''}`.trim();
  }
  const cases: [what: string, change: (body: string) => string, expected: string][] = [
    ['as it must be', (body) => body, '200 128'],
    ['not SOAP', () => 'hello', '500'],
    [
      'wrapped in the operation',
      (body) =>
        body
          .replace('<nfeDadosMsg', '<nfeRecepcaoEventoNF><nfeDadosMsg')
          .replace('</nfeDadosMsg>', '</nfeDadosMsg></nfeRecepcaoEventoNF>'),
      '500',
    ],
    [
      'with prefixes',
      (body) =>
        body
          .replaceAll('infEvento', 'n:infEvento')
          .replace('<n:infEvento', '<n:infEvento xmlns:n="http://www.portalfiscal.inf.br/nfe"'),
      '200 404',
    ],
    ['in another encoding', (body) => body.replace('utf-8', 'iso-8859-1'), '200 402'],
    ['re-indented', (body) => body.replaceAll('><', '>\n<'), '200 588'],
    ['without cOrgao', (body) => body.replace('<cOrgao>91</cOrgao>', ''), '200 215'],
    ['with an element too many', (body) => body.replace('</tpEvento>', '</tpEvento><x/>'), '200 215'],
    ['without an event', (body) => body.replace(/<evento[\s\S]*<\/evento>/, ''), '200 215'],
    ['with 21 events', (body) => body.replace(/<evento[\s\S]*<\/evento>/, (each) => each.repeat(21)), '200 215'],
    ['an offset missing', (body) => body.replace('-03:00', ''), '200 215'],
  ];
  for (const [what, change, expected] of cases) {
    test(`${what}: ${expected}`, async () => assert.equal(await raw(change), expected));
  }

  test('code and text that do not fit, accents, a reason where none may be: 493, or the schema', async () => {
    const bad: [string, string, string][] = [
      ['210200', 'Confirmacao da Operacao', 'Ciencia da Operacao'],
      ['210220', 'Desconhecimento da Operacao', 'Desconhecimento da Operação'],
      ['210210', '</descEvento>', `</descEvento><xJust>${REASON}</xJust>`],
    ];
    for (const [type, from, to] of bad) {
      const signed = sign(event(type, nextKey()));
      const [code] = await codes(transmit([signed.replace(from, to)]));
      assert.ok(code === '493' || code === 'rejected 215', code);
      assert.equal(last()?.rule, 'schema');
    }
  });
});

test('a simulator that is started again remembers what was registered', async () => {
  const folder = scratchFolder('simulator-events');
  const signed = sign(event('210200', nextKey()));
  const registerAt = async (government: Simulator) => {
    const client = createNfeEvents({
      transport: createHttpsTransport({ caFile: government.caPem }),
      addresses: governmentAddresses(government.endpointsFile()),
    });
    const call = { authority: 'an', environment: 'homologation', lot: '1', certificate, limitMs: 10_000 } as const;
    return (await client.send({ ...call, events: [signed] })).results[0]?.statusCode;
  };
  for (const expected of ['136', '573']) {
    const government = await startSimulator({ folder, authority: simulator.authority });
    try {
      assert.equal(await registerAt(government), expected);
    } finally {
      await government.stop();
    }
  }
});

describe('scripts', () => {
  test('mixed answers, an event left out, a whole refusal', async () => {
    const [a, b, c] = [nextKey(), nextKey(), nextKey()];
    const signed = [a, b, c].map((key) => sign(event('210210', key)));
    simulator.script({ type: 'event_status', cStat: '155', key: b }, { kind: 'nfeRecepcaoEvento' });
    assert.deepEqual(await codes(transmit(signed)), ['135', '155', '135']);
    assert.deepEqual(await codes(transmit(signed)), ['573', '573', '573']);
    simulator.script({ type: 'event_status', cStat: null, key: a }, { kind: 'nfeRecepcaoEvento' });
    assert.deepEqual(await codes(transmit(signed)), ['573', '573']);
    simulator.script({ type: 'status', cStat: '999' }, { kind: 'nfeRecepcaoEvento', taxId: TAX_ID });
    assert.deepEqual(await codes(transmit(signed)), ['unreadable 999']);
    simulator.script({ type: 'html', httpStatus: 502 }, { kind: 'nfeRecepcaoEvento' });
    assert.match((await codes(transmit(signed)))[0] ?? '', /^unreadable/);
    simulator.setOutage('108');
    assert.deepEqual(await codes(transmit(signed)), ['paused 108']);
    simulator.setOutage(null);
  });

  test('an answer that is lost: the event is registered all the same', async () => {
    for (const answer of [{ type: 'reset' }, { type: 'hang' }, { type: 'cut' }] as const) {
      const signed = sign(event('210200', nextKey()));
      simulator.script(answer, { kind: 'nfeRecepcaoEvento' });
      assert.equal((await transmit([signed], { limitMs: 500 })).outcome.kind, 'unknown');
      assert.deepEqual(await codes(transmit([signed])), ['573']);
    }
    const signed = sign(event('210200', nextKey()));
    simulator.script({ type: 'reset', counted: false }, { kind: 'nfeRecepcaoEvento' });
    await transmit([signed]);
    assert.deepEqual(await codes(transmit([signed])), ['135']);
  });

  test('no distribution script is used up by events', async () => {
    simulator.script({ type: 'status', cStat: '109' }, { kind: 'distNSU' });
    assert.deepEqual(await codes(transmit([sign(event('210200', nextKey()))])), ['135']);
    simulator.scripts.clear();
  });
});
