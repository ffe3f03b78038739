import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { governmentAddresses } from '../../src/government/addresses.js';
import { createCertificateCheck } from '../../src/government/certificate-check.js';
import { createHttpsTransport } from '../../src/government/https-transport.js';
import { type GovernmentRequest, type GovernmentResponse, TransportFailure } from '../../src/government/types.js';
import { startSimulator } from '../../src/simulator/index.js';

/** What the check makes of an answer, and what it asked. */
async function ofAnswer(answer: Partial<GovernmentResponse> | Error) {
  const asked: GovernmentRequest[] = [];
  const verdict = await createCertificateCheck({
    transport: async (request) => {
      asked.push(request);
      if (answer instanceof Error) throw answer;
      return { status: 200, contentType: 'text/xml', headers: {}, body: Buffer.alloc(0), ...answer };
    },
    addresses: governmentAddresses(null),
  })({ keyPem: 'k', chainPem: 'c', thumbprint: 't' }, 'production');
  return { ...verdict, asked };
}

describe('a certificate is shown to the government', () => {
  test('by one GET of the description of the service, which is no query', async () => {
    const wsdl = Buffer.from('<?xml version="1.0"?><wsdl:definitions xmlns:wsdl="x"/>');
    const { accepted, asked } = await ofAnswer({ body: wsdl });
    assert.equal(accepted, true);
    assert.deepEqual(
      asked.map(({ method, url, body, certificate }) => [method, url, body, certificate.thumbprint]),
      [['GET', 'https://www1.nfe.fazenda.gov.br/NFeDistribuicaoDFe/NFeDistribuicaoDFe.asmx?wsdl', null, 't']],
    );
  });

  for (const [what, answer, accepted, reason] of [
    ['403 of IIS', { status: 403 }, false, /refused the certificate \(HTTP 403\)/],
    ['496 of nginx', { status: 496 }, false, /HTTP 496/],
    ['a TLS alert', new TransportFailure('certificate_refused', 'alert unknown CA'), false, /alert unknown CA/],
    ['an outage', { status: 503 }, null, /did not say \(HTTP 503\)/],
    ['a page of something else', { body: Buffer.from('<html>welcome</html>') }, null, /did not say \(HTTP 200\)/],
    ['no connection', new TransportFailure('not_sent', 'connect ECONNREFUSED'), null, /ECONNREFUSED/],
    ['no answer', new TransportFailure('unknown', 'time limit of 10 s'), null, /time limit of 10 s/],
    ['a transport that breaks its word', new Error('key: secret'), null, /failed without saying why/],
  ] as const) {
    test(`${what}: ${accepted}`, async () => {
      const verdict = await ofAnswer(answer);
      assert.equal(verdict.accepted, accepted);
      assert.match(verdict.reason, reason);
    });
  }

  test('the simulated government lets its own in, refuses others, and counts neither as a query', async () => {
    const simulator = await startSimulator();
    const check = createCertificateCheck({
      transport: createHttpsTransport({ caFile: simulator.caPem }),
      addresses: governmentAddresses(simulator.endpointsFile()),
    });
    const request = { taxId: '98765432000198', name: 'EMPRESA DE TESTE', password: 'x' };
    const own = simulator.issueA1(request);
    assert.equal((await check({ ...own, thumbprint: 'own' }, 'homologation')).accepted, true);
    assert.deepEqual(simulator.journal.list({}), []);
    const elsewhere = await startSimulator();
    const stranger = elsewhere.issueA1(request);
    await elsewhere.stop();
    assert.equal((await check({ ...stranger, thumbprint: 'stranger' }, 'homologation')).accepted, false);
    await simulator.stop();
    assert.equal((await check({ ...own, thumbprint: 'own' }, 'homologation')).accepted, null);
  });
});
