import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { decodeItem, nfseKeyCheckDigit } from '../../src/documents/index.js';
import { governmentAddresses } from '../../src/government/addresses.js';
import { type NfseEvent, nfseEventId, signedNfseEvent } from '../../src/government/nfse-event-request.js';
import { createPatientGet } from '../../src/government/patient-get.js';
import { readRegistered, readRegistration, readStoredEvent } from '../../src/government/sefin-answer.js';
import { createSefinEvents } from '../../src/government/sefin-events.js';
import { type GovernmentRequest, TransportFailure } from '../../src/government/types.js';
import { nfseEvent, nfseKey } from '../documents/nfse-samples.js';
import { NO_SCHEMAS, schemaOf } from '../support/xsd.js';
import { eventParts, signer, unsigned } from './event-samples.js';
import { verifySignature } from './verify-signature.js';

const certificate = signer('nfse-event');
const KEY = nfseKey(10);

function event(type: string, given: Partial<NfseEvent> = {}): NfseEvent {
  const parts = eventParts(type);
  return {
    ...parts,
    key: KEY,
    application: 'Malote 1.0.0',
    ...(parts.rule.reasons && { reasonCode: '3' }),
    ...given,
  };
}

describe('the request', () => {
  test('is exactly this', () => {
    assert.equal(
      unsigned(
        signedNfseEvent(event('203206', { reasonCode: '9', reason: 'Serviço não contratado & pago' }), certificate),
      ),
      `<pedRegEvento xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01"><infPedReg Id="PRE${KEY}203206"><tpAmb>2</tpAmb>` +
        '<verAplic>Malote 1.0.0</verAplic><dhEvento>2026-11-30T09:00:00-03:00</dhEvento><CNPJAutor>98765432000198</CNPJAutor>' +
        `<chNFSe>${KEY}</chNFSe><e203206><xDesc>Manifestação de NFS-e - Rejeição do Tomador</xDesc><cMotivo>9</cMotivo>` +
        '<xMotivo>Serviço não contratado &amp; pago</xMotivo></e203206></infPedReg></pedRegEvento>',
    );
    const other = signedNfseEvent(event('203202', { environment: 'production', author: '12345678909' }), certificate);
    assert.match(other, /<tpAmb>1<\/tpAmb>.*<CPFAutor>12345678909<\/CPFAutor>/);
    assert.match(other, /<e203202><xDesc>Manifestação de NFS-e - Confirmação do Tomador<\/xDesc><\/e203202>/);
    assert.equal(nfseEventId(event('203202')).length, 59);
  });

  test('bears a signature that verifies, as its last child', () => {
    const signed = signedNfseEvent(event('203202'), certificate);
    assert.match(signed, /<\/infPedReg><Signature [^>]*>.*<\/Signature><\/pedRegEvento>$/);
    const { digest, signature } = verifySignature(signed);
    assert.deepEqual([digest, signature], [true, true]);
  });

  test('wrong input is a bug of the caller', () => {
    const wrong: [string, Partial<NfseEvent>][] = [
      ['203202', { reasonCode: '1' }],
      ['203202', { reason: 'Uma razão bem comprida' }],
      ['203206', { reasonCode: null }],
      ['203206', { reasonCode: '6' }],
      ['203206', { reasonCode: '9' }],
      ['203206', { reason: 'curta' }],
      ['203202', { author: '123' }],
      ['203202', { key: KEY.slice(1) }],
      ['203202', { application: '' }],
      ['203202', { application: 'uma versão de nome longo' }],
    ];
    for (const [type, given] of wrong) assert.throws(() => signedNfseEvent(event(type, given), certificate));
  });

  /** The official pattern of a key puts letters where real keys have none, so keys of CNPJ with letters in the branch fail it (contract section 3). */
  const OFFICIAL_KEY = /^[0-9]{6}[0-9A-Z]{14}[0-9]{30}$/;

  test('is valid by the official schema, whatever is said (property)', { skip: NO_SCHEMAS }, () => {
    const fault = schemaOf('nfse/v1.01/pedRegEvento_v1.01.xsd');
    const digits = (length: number) => fc.stringMatching(new RegExp(`^[0-9]{${length}}$`));
    const key = fc
      .tuple(digits(8), fc.stringMatching(/^[0-9A-Z]{11}000$/), digits(26))
      .map(([head, id, tail]) => `${head}2${id}${tail}`.slice(0, 49))
      .map((first) => first + nfseKeyCheckDigit(first))
      .filter((text) => OFFICIAL_KEY.test(text));
    const text = fc.stringMatching(/^[!-ÿ][ -~¡-ÿ]{13,253}[!-~]$/).filter((said) => !/[\x7f-\xa0]/.test(said));
    fc.assert(
      fc.property(
        key,
        fc.constantFrom('203202', '203206'),
        fc.constantFrom('1', '2', '3', '4', '5', '9'),
        text,
        fc.stringMatching(/^[0-9A-Z]{12}[0-9]{2}$/),
        fc.date({ min: new Date('2026-01-01'), max: new Date('2035-01-01'), noInvalidDate: true }),
        (ofNote, type, reasonCode, reason, author, at) => {
          const reasons = type === '203206' ? { reasonCode, reason } : {};
          const signed = signedNfseEvent(
            event(type, { key: ofNote, author, occurredAt: at.getTime(), ...reasons }),
            certificate,
          );
          assert.equal(fault(signed), null);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('the schema is a judge: it refuses what is wrong', { skip: NO_SCHEMAS }, () => {
    const fault = schemaOf('nfse/v1.01/pedRegEvento_v1.01.xsd');
    const good = signedNfseEvent(event('203202'), certificate);
    assert.equal(fault(good), null);
    assert.notEqual(fault(good.replace('Confirmação', 'Confirmacao')), null);
    assert.notEqual(fault(good.replace('-03:00', 'Z')), null);
  });
});

describe('the answers', () => {
  const packed = gzipSync(nfseEvent({ type: '203202' })).toString('base64');
  const http = (status: number) => ({ status, headers: {} });
  const registration = (status: number, body: string) =>
    readRegistration(Buffer.from(body), http(status), 'homologation');
  const registered = (status: number, body: string) => readRegistered(Buffer.from(body), http(status), 'homologation');
  const kind = ({ outcome }: ReturnType<typeof registration>) => outcome.kind;

  test('an event is where it stands, once or twice packed, in both forms', () => {
    const twice = Buffer.from(packed).toString('base64');
    for (const answer of [
      registration(201, JSON.stringify({ tipoAmbiente: 2, eventoXmlGZipB64: packed })),
      registered(200, JSON.stringify({ eventoXmlGZipB64: packed })),
      registered(200, JSON.stringify({ Eventos: [{ tipoEvento: 203202, ArquivoXml: twice }] })),
      readStoredEvent(Buffer.from(JSON.stringify({ eventos: [{ arquivoXml: twice }] })), 'homologation'),
    ]) {
      const [item] = answer.items;
      const decoded = item && decodeItem(item, 'nfse');
      assert.ok(answer.outcome.kind === 'documents' && decoded?.ok && decoded.document.event?.type === '203202');
    }
  });

  test('only an error of the service’s own with 4xx says that it was not registered', () => {
    for (const body of [
      '{"erro":{"codigo":"E0813"}}',
      '{"erro":[{"Codigo":"E0813"}]}',
      '{"erros":[{"codigo":"E0813"}]}',
    ]) {
      const { outcome } = registration(400, body);
      assert.deepEqual(outcome, { kind: 'rejected', statusCode: 'E0813' });
      assert.equal(kind(registration(500, body)), 'unreadable');
    }
    assert.equal(kind(registration(400, '{"erro":{"codigo":"E1207"}}')), 'certificate_refused');
    for (const body of ['<html>', '{"erro":{"codigo":"E0001"}}']) {
      assert.equal(kind(registration(401, body)), 'certificate_refused', 'never the end of a statement');
    }
    assert.equal(kind(registration(429, '{"erro":{"codigo":"x"}}')), 'throttled');
    for (const [status, body] of [
      [502, '{"erro":"Bad Gateway"}'],
      [400, '{"erro":"Bad Request"}'],
      [201, ''],
      [201, '{}'],
      [404, '<html>'],
      [201, JSON.stringify({ tipoAmbiente: 1, eventoXmlGZipB64: packed })],
    ] as const) {
      assert.equal(kind(registration(status, body)), 'unreadable', `${status} ${body.slice(0, 20)}`);
    }
  });

  test('read back, only a 404 or an empty list in JSON says that it is not there', () => {
    assert.equal(kind(registered(404, '{"tipoAmbiente":2}')), 'none');
    assert.equal(kind(registered(404, '{"erro":{"codigo":"E2240"}}')), 'none');
    assert.equal(kind(registered(200, '{"eventos":[]}')), 'none');
    for (const [status, body] of [
      [404, '<html>'],
      [404, ''],
      [200, '{}'],
      [503, '{}'],
      [200, ''],
    ] as const) {
      assert.equal(kind(registered(status, body)), 'unreadable');
    }
    assert.equal(kind(registered(422, '{"erro":{"codigo":"E1"}}')), 'rejected');
  });

  test('without its HTTP status nothing but the event is believed', () => {
    for (const body of ['{"erro":{"codigo":"E0813"}}', '{}', '{"eventos":[]}']) {
      assert.equal(readStoredEvent(Buffer.from(body), 'homologation').outcome.kind, 'unreadable');
    }
  });
});

describe('the wire', () => {
  function client(answer: (request: GovernmentRequest) => { status: number; body: string } | TransportFailure) {
    const sent: GovernmentRequest[] = [];
    const transport = async (request: GovernmentRequest) => {
      sent.push(request);
      const said = answer(request);
      if (said instanceof TransportFailure) throw said;
      return { ...said, contentType: 'application/json', headers: {}, body: Buffer.from(said.body) };
    };
    const get = createPatientGet(transport, { pausesMs: [1, 1] });
    return { sent, events: createSefinEvents({ transport, get, addresses: governmentAddresses(null) }) };
  }
  const call = { environment: 'homologation', key: KEY, certificate, limitMs: 5_000 } as const;

  test('a registration is sent once, whatever comes; a read-back may be asked again', async () => {
    for (const answer of [
      { status: 503, body: '' },
      new TransportFailure('unknown', 'x'),
      new TransportFailure('not_sent', 'x'),
    ]) {
      const { sent, events } = client(() => answer);
      const { outcome } = await events.register({ ...call, request: '<pedRegEvento/>' });
      assert.equal(sent.length, 1);
      assert.equal(outcome.kind, answer instanceof TransportFailure ? answer.stage : 'unreadable');
    }
    const { sent, events } = client(() => ({ status: 503, body: '' }));
    await events.readBack({ ...call, type: '203202', sequence: 1 });
    assert.equal(sent.length, 3);
  });

  test('where it goes, and what stands in it', async () => {
    const { sent, events } = client(() => ({ status: 404, body: '{}' }));
    await events.register({ ...call, request: '<pedRegEvento>é</pedRegEvento>' });
    await events.readBack({ ...call, environment: 'production', type: '203206', sequence: 1 });
    assert.deepEqual(
      sent.map(({ method, url }) => `${method} ${url}`),
      [
        `POST https://sefin.producaorestrita.nfse.gov.br/SefinNacional/nfse/${KEY}/eventos`,
        `GET https://sefin.nfse.gov.br/SefinNacional/nfse/${KEY}/eventos/203206/1`,
      ],
    );
    const body = JSON.parse(Buffer.from(sent[0]?.body ?? '').toString()) as Record<string, string>;
    const xml = gunzipSync(Buffer.from(body.pedidoRegistroEventoXmlGZipB64 ?? '', 'base64')).toString();
    assert.equal(xml, '<?xml version="1.0" encoding="UTF-8"?><pedRegEvento>é</pedRegEvento>');
    assert.equal(sent[0]?.newestTls, 'TLSv1.3');
  });
});
