import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { decodeItem } from '../../src/documents/index.js';
import { governmentAddresses } from '../../src/government/addresses.js';
import { createPatientGet } from '../../src/government/patient-get.js';
import { createSefin } from '../../src/government/sefin.js';
import { readSefinNote } from '../../src/government/sefin-answer.js';
import type { GovernmentRequest } from '../../src/government/types.js';
import { nfse, nfseKey } from '../documents/nfse-samples.js';

const zipped = gzipSync(nfse()).toString('base64');
const read = (body: string, status: number | null = 200) =>
  readSefinNote(Buffer.from(body), status === null ? null : { status, headers: {} }, 'homologation');
const note = (more: object = {}) =>
  JSON.stringify({
    tipoAmbiente: 2,
    dataHoraProcessamento: '2026-09-21T10:00:00-03:00',
    nfseXmlGZipB64: zipped,
    ...more,
  });

test('the note is a range of the answer, also packed twice', () => {
  for (const packed of [zipped, Buffer.from(zipped).toString('base64')]) {
    const answer = read(note({ nfseXmlGZipB64: packed }));
    assert.equal(answer.outcome.kind, 'documents');
    assert.equal(answer.serverTime, Date.parse('2026-09-21T13:00:00Z'));
    const [item] = answer.items;
    const decoded = item && decodeItem(item, 'nfse');
    assert.ok(decoded?.ok && decoded.document.key === nfseKey(10));
  }
  assert.equal(read(note(), null).items.length, 1, 'of an answer whose bytes alone were kept');
});

test('of another environment it is not believed', () => {
  assert.equal(read(note({ tipoAmbiente: 1 })).outcome.kind, 'unreadable');
});

test('errors as an object, as a list, under another name; a proxy’s word is none', () => {
  const error = { codigo: 'E0001', descricao: 'Chave inválida', complemento: null };
  for (const body of [
    { erro: error },
    { erro: [error] },
    { erros: [error] },
    { Erros: [{ Codigo: 'E0001', Descricao: 'Chave inválida' }] },
  ]) {
    const answer = read(JSON.stringify(body), 400);
    assert.deepEqual(
      [answer.outcome, answer.statusText],
      [{ kind: 'rejected', statusCode: 'E0001' }, 'Chave inválida'],
    );
  }
  const several = read(JSON.stringify({ erros: [error, { codigo: 'E0002', descricao: 'Outro' }] }), 400);
  assert.equal(
    several.statusText,
    'Chave inválida; E0002: Outro',
    'every reason is shown, the first code in its own field',
  );
  assert.equal(read('{"erro":"Bad Gateway"}', 502).outcome.kind, 'unreadable');
  assert.equal(read('<html>', 500).outcome.kind, 'unreadable');
});

test('nobody has it; not for us; not this certificate; slow down', () => {
  assert.equal(read('{"erro":[{"codigo":"E2240"}]}', 404).outcome.kind, 'none');
  assert.equal(read('{}', 404).outcome.kind, 'none');
  assert.equal(read('<html>', 404).outcome.kind, 'unreadable');
  assert.equal(read('{"erro":[{"codigo":"E2241"}]}', 403).outcome.kind, 'none');
  assert.equal(read('<html>', 403).outcome.kind, 'certificate_refused');
  assert.equal(read('<html>', 401).outcome.kind, 'certificate_refused');
  assert.equal(read('{"erro":[{"codigo":"E0001"}]}', 401).outcome.kind, 'certificate_refused');
  assert.equal(read('<html>', 429).outcome.kind, 'throttled');
});

test('the request', async () => {
  const sent: GovernmentRequest[] = [];
  const get = createPatientGet(async (request) => {
    sent.push(request);
    return { status: 200, contentType: null, headers: {}, body: Buffer.from(note()) };
  });
  const sefin = createSefin({ get, addresses: governmentAddresses(null) });
  const certificate = { keyPem: 'k', chainPem: 'c', thumbprint: 't' };
  await sefin.note({ environment: 'homologation', key: nfseKey(10), certificate, limitMs: 1_000 });
  assert.equal(sent[0]?.url, `https://sefin.producaorestrita.nfse.gov.br/SefinNacional/nfse/${nfseKey(10)}`);
  assert.deepEqual([sent[0]?.method, sent[0]?.newestTls], ['GET', 'TLSv1.3']);
});
