import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import { governmentAddresses } from '../../src/government/addresses.js';
import { DISTRIBUTION_CALL_LIMIT_MS, type DistributionCall } from '../../src/government/distribution.js';
import {
  type DistributionQuery,
  type DistributionRequest,
  distDFeInt,
} from '../../src/government/distribution-request.js';
import { createHttpsTransport } from '../../src/government/https-transport.js';
import { createNfeDistribution, NFE_WIRE } from '../../src/government/nfe-distribution.js';
import { type GovernmentRequest, type Transport, TransportFailure } from '../../src/government/types.js';
import type { Nsu } from '../../src/model/nsu.js';
import { sharedFile } from '../support/shared.js';
import { NO_SCHEMAS, schemaOf } from '../support/xsd.js';
import { answer, docZip, lote, zipped } from './answers.js';
import { clientCertificate, httpsServer, people, type TestServer } from './tls-server.js';

const KEY = '3526050X0J92JY000196570010000006041448679011';
const buildDistributionRequest = (request: DistributionRequest) => distDFeInt(NFE_WIRE, request);
const REQUEST: DistributionRequest = {
  environment: 'production',
  cUFAutor: '35',
  taxId: '98765432000198',
  query: { distNSU: '000000000001440' as Nsu },
};

describe('the request', () => {
  const start = '<distDFeInt xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.01">';

  test('is exactly this', () => {
    assert.equal(
      buildDistributionRequest(REQUEST),
      `${start}<tpAmb>1</tpAmb><cUFAutor>35</cUFAutor><CNPJ>98765432000198</CNPJ><distNSU><ultNSU>000000000001440</ultNSU></distNSU></distDFeInt>`,
    );
    assert.equal(
      buildDistributionRequest({
        ...REQUEST,
        environment: 'homologation',
        query: { consNSU: '000000000000007' as Nsu },
      }),
      `${start}<tpAmb>2</tpAmb><cUFAutor>35</cUFAutor><CNPJ>98765432000198</CNPJ><consNSU><NSU>000000000000007</NSU></consNSU></distDFeInt>`,
    );
    assert.equal(
      buildDistributionRequest({ ...REQUEST, cUFAutor: '51', taxId: '11144477735', query: { consChNFe: KEY } }),
      `${start}<tpAmb>1</tpAmb><cUFAutor>51</cUFAutor><CPF>11144477735</CPF><consChNFe><chNFe>${KEY}</chNFe></consChNFe></distDFeInt>`,
    );
  });

  test('carries exactly the ultNSU of the last answer (C07), and a person’s CPF as such (C19)', (context) => {
    const wanted = {
      '07-dist-request-exact-ultnsu.xml': REQUEST,
      '19-dist-request-cpf.xml': {
        ...REQUEST,
        cUFAutor: '51',
        taxId: '11144477735',
        query: { distNSU: '000000000000000' as Nsu },
      },
    };
    for (const [name, request] of Object.entries(wanted)) {
      const file = sharedFile(`cases/${name}`);
      if (file === null) return context.skip('the folder shared/ is not beside the project');
      // The declaration is the envelope's.
      const text = readFileSync(file, 'utf8').replace(/^<\?xml[^>]*>/, '');
      assert.equal(buildDistributionRequest(request), text.trim());
    }
  });

  test('keeps the letters of a CNPJ', () => {
    assert.match(buildDistributionRequest({ ...REQUEST, taxId: '12ABC34501DE35' }), /<CNPJ>12ABC34501DE35<\/CNPJ>/);
  });

  test('is never made of what is not valid, and the error shows no tax ID', () => {
    const bad: Partial<DistributionRequest>[] = [
      { taxId: '' },
      { taxId: '9876543200019' },
      { taxId: '98.765.432/0001-98' },
      { taxId: '<x/>' },
      { cUFAutor: 'SP' },
      { cUFAutor: '' },
      { query: { consChNFe: KEY.slice(1) } },
      { query: { consChNFe: `${KEY.slice(1)}<` } },
    ];
    for (const part of bad) {
      assert.throws(
        () => buildDistributionRequest({ ...REQUEST, ...part }),
        (error: Error) => !error.message.includes('9876543'),
      );
    }
  });

  test('is valid by the official schema', { skip: NO_SCHEMAS }, () => {
    const fault = schemaOf('nfe/distDFeInt_v1.01.xsd');
    assert.notEqual(fault('<distDFeInt xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.01"/>'), null);
    const digits = (count: number) =>
      fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: count, maxLength: count });
    const letters = (count: number) =>
      fc.string({
        unit: fc.constantFrom(...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'),
        minLength: count,
        maxLength: count,
      });
    const joined = (...parts: fc.Arbitrary<string>[]) => fc.tuple(...parts).map((texts) => texts.join(''));
    const request: fc.Arbitrary<DistributionRequest> = fc.record({
      environment: fc.constantFrom('production', 'homologation'),
      cUFAutor: fc.constantFrom('11', '17', '29', '35', '43', '53'),
      taxId: fc.oneof(joined(letters(12), digits(2)), digits(11)),
      query: fc.oneof(
        digits(15).map((nsu) => ({ distNSU: nsu as Nsu })),
        digits(15).map((nsu) => ({ consNSU: nsu as Nsu })),
        joined(digits(6), letters(12), digits(26)).map((key) => ({ consChNFe: key })),
      ),
    });
    fc.assert(fc.property(request, (its) => assert.equal(fault(buildDistributionRequest(its)), null)));
  });
});

const ADDRESSES = governmentAddresses(
  JSON.stringify({
    production: { nfeDistribution: 'https://p.test/' },
    homologation: { nfeDistribution: 'https://h.test/' },
  }),
);
const certificate = { keyPem: 'key', chainPem: 'chain', thumbprint: 'ab' };

describe('a call', () => {
  const received: GovernmentRequest[] = [];
  const answering: Transport = async (request) => {
    received.push(request);
    return { status: 200, contentType: 'text/xml', headers: {}, body: answer({ cStat: '137' }) };
  };

  test('hands the transport the message, the limits and the caller’s signal and hook', async () => {
    const { signal } = new AbortController();
    const beforeSend = () => {};
    const call: DistributionCall<DistributionQuery> = { ...REQUEST, certificate, signal, beforeSend };
    const { outcome, raw } = await createNfeDistribution({ transport: answering, addresses: ADDRESSES }).call(call);
    assert.equal(outcome.kind, 'none');
    assert.deepEqual(raw?.body, answer({ cStat: '137' }));
    const [request] = received.splice(0);
    assert.ok(request);
    assert.deepEqual(
      { ...request, body: Buffer.from(request.body ?? []).toString() },
      {
        url: 'https://p.test/',
        method: 'POST',
        headers: {
          'content-type':
            'application/soap+xml; charset=utf-8; action="http://www.portalfiscal.inf.br/nfe/wsdl/NFeDistribuicaoDFe/nfeDistDFeInteresse"',
        },
        body:
          '<?xml version="1.0" encoding="utf-8"?><soap12:Envelope xmlns:soap12="http://www.w3.org/2003/05/soap-envelope"><soap12:Body>' +
          '<nfeDistDFeInteresse xmlns="http://www.portalfiscal.inf.br/nfe/wsdl/NFeDistribuicaoDFe"><nfeDadosMsg>' +
          `${buildDistributionRequest(REQUEST)}</nfeDadosMsg></nfeDistDFeInteresse></soap12:Body></soap12:Envelope>`,
        certificate,
        limitMs: DISTRIBUTION_CALL_LIMIT_MS,
        maxAnswerBytes: 10 * 1024 * 1024,
        signal,
        beforeSend,
      },
    );
  });

  test('goes to the environment’s address, with the limit given', async () => {
    const distribution = createNfeDistribution({ transport: answering, addresses: ADDRESSES });
    await distribution.call({ ...REQUEST, environment: 'homologation', certificate, limitMs: 1000 });
    const [request] = received.splice(0);
    assert.equal(request?.url, 'https://h.test/');
    assert.equal(request?.limitMs, 1000);
  });

  test('that brings no answer is an outcome', async () => {
    const failures: [unknown, object][] = [
      [new TransportFailure('not_sent', 'connect ECONNREFUSED'), { kind: 'not_sent', reason: 'connect ECONNREFUSED' }],
      [new TransportFailure('unknown', 'ECONNRESET'), { kind: 'unknown', reason: 'ECONNRESET' }],
      [new TransportFailure('certificate_refused', 'x'), { kind: 'certificate_refused', statusCode: 'TLS' }],
      [
        new TransportFailure('answer_too_large', 'too much'),
        { kind: 'unreadable', statusCode: 'none', reason: 'too much' },
      ],
    ];
    for (const [failure, expected] of failures) {
      const transport: Transport = () => Promise.reject(failure);
      const { outcome, raw, items, statusText } = await createNfeDistribution({ transport, addresses: ADDRESSES }).call(
        {
          ...REQUEST,
          certificate,
        },
      );
      assert.deepEqual(outcome, expected);
      assert.deepEqual([raw, items], [null, []]);
      assert.ok(statusText.length > 0);
    }
  });

  test('over a transport that breaks its word may have been sent, and its error goes no further (C96)', async () => {
    const transport: Transport = () => Promise.reject(new Error('-----BEGIN PRIVATE KEY-----'));
    const result = await createNfeDistribution({ transport, addresses: ADDRESSES }).call({ ...REQUEST, certificate });
    assert.equal(result.outcome.kind, 'unknown');
    assert.ok(!JSON.stringify(result).includes('PRIVATE'));
  });

  test('with bad input fails before anything is sent', async () => {
    const transport: Transport = () => assert.fail('sent');
    const distribution = createNfeDistribution({ transport, addresses: ADDRESSES });
    await assert.rejects(distribution.call({ ...REQUEST, taxId: 'x', certificate }), /neither a CNPJ/);
  });
});

describe('a call over TLS', () => {
  const servers: TestServer[] = [];
  after(() => Promise.all(servers.map((server) => server.close())));

  async function callAnsweredBy(status: number, contentType: string, body: Buffer) {
    const server = await httpsServer((_, response) => {
      response.writeHead(status, { 'content-type': contentType });
      response.end(body);
    });
    servers.push(server);
    const addresses = governmentAddresses(JSON.stringify({ production: { nfeDistribution: server.url } }));
    const transport = createHttpsTransport({ caFile: people().root.certificatePem });
    return createNfeDistribution({ transport, addresses }).call({
      ...REQUEST,
      certificate: clientCertificate(people().a),
    });
  }

  test('a page: its items are ranges of the very bytes', async () => {
    const document = zipped('<resNFe/>');
    const page = lote(docZip('000000000001441', document), docZip('000000000001442', document));
    const bytes = answer({ cStat: '138', ultNSU: '000000000001442', maxNSU: '000000000001442', lote: page });
    const { outcome, items, raw } = await callAnsweredBy(200, 'application/soap+xml; charset=utf-8', bytes);
    assert.equal(outcome.kind, 'documents');
    assert.deepEqual(Buffer.from(raw?.body ?? []), bytes);
    for (const item of items) assert.equal(bytes.subarray(item.offset, item.offset + item.length).toString(), document);
  });

  test('HTTP 403 and HTTP 500', async () => {
    const refused = await callAnsweredBy(
      403,
      'text/html',
      Buffer.from('<html><head><title>403 - Forbidden</title></head></html>'),
    );
    assert.deepEqual(refused.outcome, { kind: 'certificate_refused', statusCode: 'HTTP 403' });
    const failed = await callAnsweredBy(500, 'text/html', Buffer.from('Runtime Error'));
    assert.equal(failed.outcome.kind, 'unreadable');
    assert.equal(failed.raw?.status, 500);
  });
});
