import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { UFS } from '../../src/documents/index.js';
import { governmentAddresses } from '../../src/government/addresses.js';
import { CTE_WIRE, createCteDistribution } from '../../src/government/cte-distribution.js';
import { cteEventAddress } from '../../src/government/cte-event-addresses.js';
import { readDistributionAnswer } from '../../src/government/distribution-answer.js';
import { type DistributionRequest, distDFeInt, type NsuQuery } from '../../src/government/distribution-request.js';
import { createNfeDistribution } from '../../src/government/nfe-distribution.js';
import { type GovernmentRequest, type Transport, TransportFailure } from '../../src/government/types.js';
import type { Nsu } from '../../src/model/nsu.js';
import { ENVIRONMENTS } from '../../src/model/words.js';
import { sharedFile } from '../support/shared.js';
import { NO_SCHEMAS, schemaOf } from '../support/xsd.js';
import { answer, docZip, lote, zipped } from './answers.js';

const REQUEST: DistributionRequest<NsuQuery> = {
  environment: 'production',
  cUFAutor: '35',
  taxId: '98765432000198',
  query: { distNSU: '000000000001440' as Nsu },
};
const CTE = 'http://www.portalfiscal.inf.br/cte';
const certificate = { keyPem: 'key', chainPem: 'chain', thumbprint: 'ab' };
const ADDRESSES = governmentAddresses(
  JSON.stringify({
    production: { cteDistribution: 'https://p.test/', nfeDistribution: 'https://n.test/' },
    homologation: { cteDistribution: 'https://h.test/' },
  }),
);

/** The same answer in CT-e's namespace, or another. */
const inNamespace = (bytes: Buffer, namespace: string): Buffer =>
  Buffer.from(
    bytes.toString().replaceAll('http://www.portalfiscal.inf.br/nfe', namespace).replaceAll('nfeDist', 'cteDist'),
  );

describe('the request', () => {
  test('is exactly this, for the two things that can be asked', () => {
    const start = `<distDFeInt xmlns="${CTE}" versao="1.00">`;
    assert.equal(
      distDFeInt(CTE_WIRE, REQUEST),
      `${start}<tpAmb>1</tpAmb><cUFAutor>35</cUFAutor><CNPJ>98765432000198</CNPJ><distNSU><ultNSU>000000000001440</ultNSU></distNSU></distDFeInt>`,
    );
    assert.equal(
      distDFeInt(CTE_WIRE, {
        ...REQUEST,
        environment: 'homologation',
        taxId: '11144477735',
        query: { consNSU: '000000000000007' as Nsu },
      }),
      `${start}<tpAmb>2</tpAmb><cUFAutor>35</cUFAutor><CPF>11144477735</CPF><consNSU><NSU>000000000000007</NSU></consNSU></distDFeInt>`,
    );
  });

  test('cannot be by key: not in a type, not by the schema (C65)', { skip: NO_SCHEMAS }, () => {
    const query = { consChNFe: '3526050X0J92JY000196570010000006041448679011' };
    // @ts-expect-error: CT-e distribution takes no access key
    const byKey: DistributionRequest<NsuQuery> = { ...REQUEST, query };
    assert.notEqual(schemaOf('cte/distDFeInt_v1.00.xsd')(distDFeInt(CTE_WIRE, byKey)), null);
  });

  test('is valid by the official schema', { skip: NO_SCHEMAS }, () => {
    const fault = schemaOf('cte/distDFeInt_v1.00.xsd');
    assert.notEqual(
      fault(distDFeInt(CTE_WIRE, REQUEST).replace('<cUFAutor>35</cUFAutor>', '')),
      null,
      'cUFAutor is mandatory',
    );
    const digits = (count: number) =>
      fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: count, maxLength: count });
    const request: fc.Arbitrary<DistributionRequest<NsuQuery>> = fc.record({
      environment: fc.constantFrom('production', 'homologation'),
      cUFAutor: fc.constantFrom('11', '17', '29', '35', '43', '53'),
      // The schema at hand is older than the letters of 2026.
      taxId: fc.oneof(digits(14), digits(11)),
      query: fc.oneof(
        digits(15).map((nsu) => ({ distNSU: nsu as Nsu })),
        digits(15).map((nsu) => ({ consNSU: nsu as Nsu })),
      ),
    });
    fc.assert(fc.property(request, (its) => assert.equal(fault(distDFeInt(CTE_WIRE, its)), null)));
  });
});

describe('a call', () => {
  const sent: GovernmentRequest[] = [];
  const answering =
    (body: Buffer): Transport =>
    async (request) => {
      sent.push(request);
      return { status: 200, contentType: 'text/xml', headers: {}, body };
    };

  test('goes to CT-e’s address, under its names and its action', async () => {
    const distribution = createCteDistribution({
      transport: answering(answer({ cStat: '137' })),
      addresses: ADDRESSES,
    });
    await distribution.call({ ...REQUEST, certificate });
    const [request] = sent.splice(0);
    assert.equal(request?.url, 'https://p.test/');
    assert.equal(
      request?.headers['content-type'],
      `application/soap+xml; charset=utf-8; action="${CTE}/wsdl/CTeDistribuicaoDFe/cteDistDFeInteresse"`,
    );
    assert.equal(
      Buffer.from(request?.body ?? []).toString(),
      '<?xml version="1.0" encoding="utf-8"?><soap12:Envelope xmlns:soap12="http://www.w3.org/2003/05/soap-envelope"><soap12:Body>' +
        `<cteDistDFeInteresse xmlns="${CTE}/wsdl/CTeDistribuicaoDFe"><cteDadosMsg>${distDFeInt(CTE_WIRE, REQUEST)}</cteDadosMsg></cteDistDFeInteresse></soap12:Body></soap12:Envelope>`,
    );
    assert.equal(request?.limitMs, 5 * 60_000);
    await distribution.call({ ...REQUEST, environment: 'homologation', certificate });
    assert.equal(sent.splice(0)[0]?.url, 'https://h.test/');
  });

  test('gives the bytes that were sent, to be archived; NF-e’s does not', async () => {
    const transport = answering(answer({ cStat: '137' }));
    const { request } = await createCteDistribution({ transport, addresses: ADDRESSES }).call({
      ...REQUEST,
      certificate,
    });
    assert.deepEqual(request, sent.splice(0)[0]?.body);
    const nfe = await createNfeDistribution({ transport, addresses: ADDRESSES }).call({ ...REQUEST, certificate });
    assert.ok(!('request' in nfe));
  });

  test('that brought nothing has nothing to archive', async () => {
    const transport: Transport = () => Promise.reject(new TransportFailure('unknown', 'ECONNRESET'));
    const result = await createCteDistribution({ transport, addresses: ADDRESSES }).call({ ...REQUEST, certificate });
    assert.deepEqual([result.outcome.kind, result.raw, 'request' in result], ['unknown', null, false]);
  });
});

describe('the answer', () => {
  const context = { contentType: 'application/soap+xml; charset=utf-8', httpStatus: 200, query: REQUEST.query };
  const page = lote(docZip('000000000001441', zipped('<cteProc/>'), 'procCTe_v4.00.xsd'));
  const bytes = answer({ cStat: '138', ultNSU: '000000000001441', maxNSU: '000000000001500', lote: page });

  test('is matched by local name, whatever the namespace', () => {
    for (const namespace of [CTE, 'http://www.portalfiscal.inf.br/nfe', 'urn:other']) {
      const { outcome, items, warnings } = readDistributionAnswer(inNamespace(bytes, namespace), context);
      assert.deepEqual(outcome, {
        kind: 'documents',
        statusCode: '138',
        ultNsu: '000000000001441',
        maxNsu: '000000000001500',
        items: 1,
      });
      assert.deepEqual([items[0]?.nsu, items[0]?.schema], ['000000000001441', 'procCTe_v4.00.xsd']);
      assert.deepEqual(warnings, []);
    }
  });

  test('137 gives the pointer on: CT-e’s moves the cursor', () => {
    const none = answer({ cStat: '137', ultNSU: '000000000001480', maxNSU: '000000000001480' });
    assert.deepEqual(readDistributionAnswer(inNamespace(none, CTE), context).outcome, {
      kind: 'none',
      statusCode: '137',
      ultNsu: '000000000001480',
      maxNsu: '000000000001480',
    });
  });

  test('dhResp without offset is Brasília’s (C61)', () => {
    const without = Buffer.from(bytes.toString().replace(/(<dhResp>[^<]*)-03:00/, '$1'));
    assert.notDeepEqual(without, bytes);
    assert.equal(
      readDistributionAnswer(without, context).serverTime,
      readDistributionAnswer(bytes, context).serverTime,
    );
  });

  const statuses: [string, string][] = [
    ['108', 'paused'],
    ['109', 'paused'],
    ['214', 'rejected'],
    ['215', 'rejected'],
    ['242', 'rejected'],
    ['252', 'rejected'],
    ['409', 'rejected'],
    ['410', 'rejected'],
    ['411', 'rejected'],
    ['489', 'rejected'],
    ['589', 'rejected'],
    ['280', 'certificate_refused'],
    ['286', 'certificate_refused'],
    ['472', 'certificate_refused'],
    ['593', 'certificate_refused'],
    ['656', 'throttled'],
  ];
  for (const [cStat, kind] of statuses) {
    test(`${cStat}: ${kind}`, () => {
      assert.equal(readDistributionAnswer(inNamespace(answer({ cStat }), CTE), context).outcome.kind, kind);
    });
  }

  test('C61: the recorded shape', (t) => {
    const file = sharedFile('cases/61-cte-retdist-dhresp-no-offset.xml');
    if (file === null) return t.skip('the folder shared/ is not beside the project');
    const read = readDistributionAnswer(readFileSync(file), {
      ...context,
      query: { distNSU: '000000000000002' as Nsu },
    });
    assert.deepEqual(read.outcome, {
      kind: 'documents',
      statusCode: '138',
      ultNsu: '000000000000003',
      maxNsu: '000000000000003',
      items: 1,
    });
    assert.equal(read.serverTime, Date.parse('2026-09-21T10:00:05-03:00'));
  });
});

describe('addresses', () => {
  const built = governmentAddresses(null);

  test('of CT-e distribution are built in', () => {
    assert.equal(
      built.production.cteDistribution,
      'https://www1.cte.fazenda.gov.br/CTeDistribuicaoDFe/CTeDistribuicaoDFe.asmx',
    );
    assert.equal(
      built.homologation.cteDistribution,
      'https://hom1.cte.fazenda.gov.br/CTeDistribuicaoDFe/CTeDistribuicaoDFe.asmx',
    );
  });

  test('of events: every UF has its authorizer’s, each environment its own', () => {
    for (const environment of ENVIRONMENTS) {
      for (const uf of UFS) {
        const address = cteEventAddress(built, environment, uf);
        assert.match(address ?? '', /^https:\/\/[a-z0-9.-]+\.gov\.br\/.*CTeRecepcaoEventoV4(\.asmx)?$/, uf);
        const host = new URL(address ?? '').hostname;
        assert.equal(/homolog|^hcte/.test(host), environment === 'homologation', uf);
      }
    }
    const hostOf = (uf: string) => new URL(cteEventAddress(built, 'production', uf) ?? '').hostname;
    const hosts = {
      SP: 'nfe.fazenda.sp.gov.br',
      MG: 'cte.fazenda.mg.gov.br',
      MS: 'producao.cte.ms.gov.br',
      MT: 'cte.sefaz.mt.gov.br',
      PR: 'cte.fazenda.pr.gov.br',
      RS: 'cte.svrs.rs.gov.br',
    };
    for (const [uf, host] of Object.entries(hosts)) assert.equal(hostOf(uf), host);
    for (const uf of ['AP', 'PE', 'RR']) assert.equal(hostOf(uf), hosts.SP);
    assert.equal(cteEventAddress(built, 'production', 'XX'), null);
    assert.equal(cteEventAddress(built, 'production', '__proto__'), null);
  });

  test('of events: one in the file is for every UF of its environment', () => {
    const given = governmentAddresses('{"homologation":{"cteEvent":"https://localhost:8443/events"}}');
    for (const uf of UFS) assert.equal(cteEventAddress(given, 'homologation', uf), 'https://localhost:8443/events');
    assert.match(cteEventAddress(given, 'production', 'SP') ?? '', /fazenda\.sp\.gov\.br/);
  });
});
