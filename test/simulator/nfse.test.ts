import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { SignedXml } from 'xml-crypto';
import { decodeItem } from '../../src/documents/index.js';
import { createAuthority, type Simulator, startSimulator } from '../../src/simulator/index.js';
import { scratchFolder } from '../support/scratch.js';
import { NO_SCHEMAS, schemaOf } from '../support/xsd.js';
import { refusal, requestOf, Taxpayer, unpacked } from './nfse-client.js';

const TAKER = '11222333000181';
const HOUR = 3_600_000;
const OFFICIAL = NO_SCHEMAS === undefined ? schemaOf('nfse/v1.01/pedRegEvento_v1.01.xsd') : undefined;

let simulator: Simulator;
let taker: Taxpayer;
before(async () => {
  simulator = await startSimulator({
    authority: createAuthority(),
    ...(OFFICIAL && { inspectNfseEvents: OFFICIAL }),
  });
});
after(() => simulator.stop());
beforeEach(() => {
  simulator.reset();
  taker = new Taxpayer(simulator, TAKER);
});

const violations = () => simulator.journal.violations().map(({ rule }) => rule);
const keyOf = (taxId: string, index: number) => simulator.nfse.items({ taxId })[index]?.key ?? '';

describe('distribution', () => {
  test('pages of 50, then 404 for an hour; what was withheld comes to whoever goes over it again', async () => {
    simulator.nfse.add({ taxId: TAKER, backlog: 60, gaps: { every: 20 } });
    const first = await taker.page(0);
    assert.deepEqual([first.length, first.includes(20), first.at(-1)], [50, false, 52]);
    assert.equal((await taker.page(52)).length, 7, '60 is withheld too');
    assert.deepEqual(await taker.page(59), []);
    const again = await taker.page(19);
    assert.deepEqual(
      [again[0], again.includes(40), again.length],
      [20, true, 40],
      'but 60, which nothing has passed yet',
    );
    assert.deepEqual(violations(), ['early'], 'the last one came within the hour');
    assert.equal(simulator.nfse.truth({ taxId: TAKER }).length, 60);
  });

  test('two calls within a second are too many', async () => {
    simulator.nfse.add({ taxId: TAKER, backlog: 1 });
    simulator.clock.push(simulator.clock.now(), true);
    await taker.page(0);
    assert.equal((await taker.call('/DFe/1?lote=true', undefined, 500)).status, 429);
    assert.deepEqual(violations(), ['early']);
  });

  test('scripts: rejections, 429 with and without Retry-After, a page that is small or has a broken document', async () => {
    simulator.nfse.add({ taxId: TAKER, backlog: 5 });
    const once = { documentType: 'nfse' } as const;
    simulator.script({ type: 'rejection', code: 'E1217' }, once);
    simulator.script({ type: 'throttle' }, once);
    simulator.script({ type: 'page', size: 2 }, once);
    simulator.script({ type: 'corrupt', how: 'empty', item: 1 }, once);
    const rejected = await taker.call('/DFe/0?lote=true');
    assert.deepEqual([rejected.status, rejected.json.StatusProcessamento], [400, 'REJEICAO']);
    assert.equal((await taker.call('/DFe/0?lote=true')).status, 429);
    assert.deepEqual(await taker.page(0), [1, 2]);
    const broken = (await taker.call('/DFe/2?lote=true')).json.LoteDFe as { ArquivoXml: string | null }[];
    assert.deepEqual(
      broken.map(({ ArquivoXml }) => ArquivoXml === null),
      [false, true, false],
    );
    assert.deepEqual(
      simulator.journal.list().map(({ scripted }) => scripted),
      ['rejection', 'throttle', 'page', 'corrupt'],
    );
  });
});

describe('the registration of an event', () => {
  beforeEach(() => simulator.nfse.add({ taxId: TAKER, backlog: 4, issuedEvery: 4, strangersEvery: 3 }));

  test('201 with the event, read back as production does it, and distributed to every party', async () => {
    const key = keyOf(TAKER, 0);
    simulator.nfse.give({
      taxId: '10111213000144',
      documents: [{ xml: simulator.nfse.items({ taxId: TAKER })[0]?.xml ?? '' }],
    });
    assert.equal((await taker.call(`/nfse/${key}/eventos/203202/1`)).status, 404);
    const answer = await taker.register(taker.signed({ key }), key);
    assert.deepEqual([answer.status, refusal(answer)], [201, null]);
    const event = unpacked(answer.json.eventoXmlGZipB64);
    const packed = gzipSync(event).toString('base64');
    const decoded = decodeItem({ content: Buffer.from(packed), encoding: 'base64+gzip', schema: 'evento' }, 'nfse');
    assert.ok(decoded.ok && decoded.document.key === key && decoded.document.event?.type === '203202');

    const read = await taker.call(`/nfse/${key}/eventos/203202/1`);
    const [entry] = read.json.eventos as { arquivoXml: string; tipoEvento: number }[];
    assert.deepEqual([read.status, entry?.tipoEvento, unpacked(entry?.arquivoXml)], [200, 203202, event]);
    for (const taxId of [TAKER, '10111213000144']) {
      assert.equal(simulator.nfse.items({ taxId }).at(-1)?.xml, event);
    }
    assert.deepEqual(violations(), []);
  });

  test('what is registered is valid by the official schema', { skip: NO_SCHEMAS }, async () => {
    const key = keyOf(TAKER, 0);
    const answer = await taker.register(taker.signed({ key }), key);
    const fault = schemaOf('nfse/v1.01/evento_v1.01.xsd')(unpacked(answer.json.eventoXmlGZipB64));
    assert.equal(fault, null);
  });

  test('one statement by the taker, and the same one once', async () => {
    const key = keyOf(TAKER, 0);
    const rejection = taker.signed({ key, type: '203206', details: '<cMotivo>3</cMotivo>' });
    assert.equal(refusal(await taker.register(rejection, key)), null);
    assert.equal(refusal(await taker.register(rejection, key)), 'E0802');
    assert.equal(refusal(await taker.register(taker.signed({ key }), key)), 'E1833');
  });

  test('refused: other people’s note, an own one, one that nobody has, a cancelled one', async () => {
    const of = async (key: string) => refusal(await taker.register(taker.signed({ key }), key));
    assert.equal(await of(keyOf(TAKER, 2)), 'E0813', 'between strangers');
    assert.equal(await of(keyOf(TAKER, 3)), 'E0813', 'issued by the company');
    assert.equal(await of('35503082210111213000144000000000000126121234567890'), 'E1831');
    simulator.nfse.add({ taxId: TAKER, backlog: 2, eventsEvery: 2 });
    assert.equal(await of(keyOf(TAKER, 0)), 'E0861');
  });

  test('refused: form, Id, environment, time, reason', async () => {
    const key = keyOf(TAKER, 0);
    const of = async (request: string, at = key) => refusal(await taker.register(request, at));
    const good = taker.signed({ key });
    assert.equal(refusal(await taker.call(`/nfse/${key}/eventos`, { pedidoRegistroEventoXmlGZipB64: 'x' })), 'E1225');
    assert.equal(refusal(await taker.call(`/nfse/${key}/eventos`, {})), 'E1225');
    assert.equal(await of('<pedRegEvento'), 'E1226');
    assert.equal(await of('<a:pedRegEvento xmlns:a="http://www.sped.fazenda.gov.br/nfse" versao="1.01"/>'), 'E1228');
    assert.equal(await of(good.replace('versao="1.01"', 'versao="1.00"')), 'E1825');
    assert.equal(await of(good.replace('<verAplic>teste</verAplic>', '')), 'E1235');
    assert.equal(await of(good, keyOf(TAKER, 1)), 'E1235');
    assert.equal(await of(taker.signed({ key, environment: '1' })), 'E1845');
    assert.equal(await of(taker.signed({ key, at: simulator.clock.now() + HOUR })), 'E1843');
    assert.equal(await of(taker.signed({ key, type: '203206', details: '<cMotivo>9</cMotivo>' })), 'E1949');
  });

  test('refused by the official schema', { skip: NO_SCHEMAS }, async () => {
    const key = keyOf(TAKER, 0);
    const wrong = taker.signed({ key, type: '203206', details: '<cMotivo>7</cMotivo>' });
    assert.equal(refusal(await taker.register(wrong, key)), 'E1235');
  });

  test('refused: no signature, one that does not hold, one of another company', async () => {
    const key = keyOf(TAKER, 0);
    const of = async (request: string) => refusal(await taker.register(request, key));
    const good = taker.signed({ key });
    assert.equal(await of(good.replace(/<Signature[\s\S]*<\/Signature>/, '')), 'E1989');
    assert.equal(await of(good.replace('<verAplic>teste', '<verAplic>outro')), 'E1250');
    const other = new Taxpayer(simulator, '55666777000181');
    assert.equal(await of(other.signed({ key, author: TAKER })), 'E0812');
    assert.deepEqual(violations(), ['signature', 'signature', 'certificate_root']);
  });

  test('taken: the other algorithms that senders use', async () => {
    const key = keyOf(TAKER, 0);
    const request = requestOf({ key, author: TAKER, at: simulator.clock.now() });
    const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#';
    const signer = new SignedXml({
      privateKey: taker.certificate.keyPem,
      publicCert: taker.certificate.chainPem,
      canonicalizationAlgorithm: exclusive,
      signatureAlgorithm: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
      getKeyInfoContent: () =>
        `<X509Data><X509Certificate>${new X509Certificate(taker.certificate.chainPem).raw.toString('base64')}</X509Certificate></X509Data>`,
    });
    signer.addReference({
      xpath: `//*[@Id='PRE${key}203202']`,
      transforms: ['http://www.w3.org/2000/09/xmldsig#enveloped-signature', exclusive],
      digestAlgorithm: 'http://www.w3.org/2001/04/xmlenc#sha256',
    });
    signer.computeSignature(request);
    const signed = request.replace('</pedRegEvento>', `${signer.getSignatureXml()}</pedRegEvento>`);
    assert.equal(refusal(await taker.register(signed, key)), null);
  });

  test('an answer that gets lost: registered or not, as the script says', async () => {
    const [first, second] = [keyOf(TAKER, 0), keyOf(TAKER, 1)];
    simulator.script({ type: 'reset' }, { documentType: 'nfse', kind: 'nfseEvento' });
    simulator.script({ type: 'reset', counted: false }, { documentType: 'nfse', kind: 'nfseEvento' });
    await assert.rejects(taker.register(taker.signed({ key: first }), first));
    await assert.rejects(taker.register(taker.signed({ key: second }), second));
    assert.equal((await taker.call(`/nfse/${first}/eventos/203202/1`)).status, 200);
    assert.equal((await taker.call(`/nfse/${second}/eventos/203202/1`)).status, 404);
  });
});

test('over the control API, as for the other document types', async () => {
  const call = async (method: string, path: string, body?: object) => {
    const response = await fetch(simulator.controlUrl + path, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    return { status: response.status, json: response.status === 204 ? null : await response.json().catch(() => null) };
  };
  const made = await call('POST', '/companies', { documentType: 'nfse', taxId: TAKER, backlog: 2 });
  assert.deepEqual([made.status, (made.json as { maxNsu: string }).maxNsu], [201, '000000000000002']);
  await call('POST', `/companies/${TAKER}/arrivals`, { documentType: 'nfse', count: 3 });
  await call('POST', `/companies/${TAKER}/documents`, { documentType: 'nfse', documents: [{ xml: '<CNC/>' }] });
  assert.deepEqual(await taker.page(0), [1, 2, 3, 4, 5, 6]);
  const truth = (await call('GET', `/truth?documentType=nfse&taxId=${TAKER}&after=1&limit=3`)).json as {
    nsu: string;
  }[];
  assert.deepEqual(
    truth.map(({ nsu }) => Number(nsu)),
    [2, 3, 4],
  );
  assert.equal((await call('GET', `/companies/${TAKER}?documentType=nfse`)).status, 200);
  assert.equal(((await call('GET', '/companies')).json as object[]).length, 1);
  const script = { documentType: 'nfse', answer: { type: 'throttle', retryAfter: '5' } };
  assert.equal((await call('POST', '/scripts', script)).status, 201);
  assert.equal((await call('POST', '/scripts', { answer: { type: 'throttle' } })).status, 422);
  assert.equal((await call('POST', '/scripts', { documentType: 'nfse', answer: { type: 'standstill' } })).status, 422);
  assert.equal((await call('DELETE', `/companies/${TAKER}?documentType=nfse`)).status, 204);
  assert.equal((await call('GET', `/truth?documentType=nfse&taxId=${TAKER}`)).status, 404);
});

test('on the same folder it goes on where it stood', async () => {
  const folder = scratchFolder('simulator-nfse');
  const first = await startSimulator({ folder });
  first.clock.push(Date.now() + 10 * HOUR, true);
  first.nfse.add({ taxId: TAKER, backlog: 8, gaps: { every: 4 }, spreadDays: 2 });
  first.nfse.add({ taxId: '55666777000181', backlog: 1 });
  first.nfse.remove({ taxId: '55666777000181' });
  const certificate = first.issueA1({ taxId: TAKER, name: 'x', password: '' });
  const before = new Taxpayer(first, TAKER, certificate);
  await before.page(0);
  const key = first.nfse.items({ taxId: TAKER })[0]?.key ?? '';
  assert.equal(refusal(await before.register(before.signed({ key }), key)), null);
  first.nfse.arrive({ taxId: TAKER, count: 2 });
  await before.page(11);
  const [state, items] = [first.nfse.list(), first.nfse.items({ taxId: TAKER })];

  // Not stopped before: a killed one has written the same.
  const second = await startSimulator({ folder });
  await first.stop();
  try {
    assert.deepEqual([second.nfse.list(), second.nfse.items({ taxId: TAKER })], [state, items]);
    const after = new Taxpayer(second, TAKER, certificate);
    assert.equal((await after.call(`/nfse/${key}/eventos/203202/1`)).status, 200);
    assert.deepEqual(await after.page(3), [4, 5, 6, 7, 9, 10, 11]);
    assert.deepEqual(
      second.journal.violations().map(({ rule }) => rule),
      ['early'],
      'the hour outlived the restart',
    );
  } finally {
    await second.stop();
  }
});
