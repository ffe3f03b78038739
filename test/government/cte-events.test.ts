import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { governmentAddresses } from '../../src/government/addresses.js';
import {
  type CteEvent,
  createCteEvents,
  procEventoCTe,
  readCteEventAnswer,
  signedCteEvent,
} from '../../src/government/cte-events.js';
import { type GovernmentRequest, TransportFailure } from '../../src/government/types.js';
import { cteKey } from '../documents/cte-samples.js';
import { eventSchemas } from '../simulator/event-schemas.js';
import { NO_SCHEMAS, schemaOf } from '../support/xsd.js';
import { eventParts, signer, unsigned } from './event-samples.js';
import { verifySignature } from './verify-signature.js';

const certificate = signer('cte-event');
const REASON = 'Frete cobrado acima do combinado';
const PROTOCOL = '135260000000001';
const KEY = cteKey(1);
/** Letters in the carrier's CNPJ; made up. */
const LETTERS = cteKey(2, { taxId: '12ABC34501DE35', ufCode: '31' });

function event(type: string, given: Partial<CteEvent> = {}): CteEvent {
  return {
    ...eventParts(type),
    key: KEY,
    sequence: 1,
    ...(type === '610110' ? { justification: REASON } : { protocol: PROTOCOL }),
    ...given,
  };
}

describe('the event', () => {
  test('is exactly this', () => {
    assert.equal(
      unsigned(signedCteEvent(event('610110'), certificate)),
      `<eventoCTe xmlns="http://www.portalfiscal.inf.br/cte" versao="4.00"><infEvento Id="ID610110${KEY}001"><cOrgao>35</cOrgao>` +
        `<tpAmb>2</tpAmb><CNPJ>98765432000198</CNPJ><chCTe>${KEY}</chCTe><dhEvento>2026-11-30T09:00:00-03:00</dhEvento>` +
        '<tpEvento>610110</tpEvento><nSeqEvento>1</nSeqEvento><detEvento versaoEvento="4.00"><evPrestDesacordo>' +
        `<descEvento>Prestacao do Servico em Desacordo</descEvento><indDesacordoOper>1</indDesacordoOper><xObs>${REASON}</xObs>` +
        '</evPrestDesacordo></detEvento></infEvento></eventoCTe>',
    );
    const other = event('610111', { key: LETTERS, environment: 'production', author: '11144477735', sequence: 12 });
    assert.equal(
      unsigned(signedCteEvent(other, certificate)),
      `<eventoCTe xmlns="http://www.portalfiscal.inf.br/cte" versao="4.00"><infEvento Id="ID610111${LETTERS}012"><cOrgao>31</cOrgao>` +
        `<tpAmb>1</tpAmb><CPF>11144477735</CPF><chCTe>${LETTERS}</chCTe><dhEvento>2026-11-30T09:00:00-03:00</dhEvento>` +
        '<tpEvento>610111</tpEvento><nSeqEvento>12</nSeqEvento><detEvento versaoEvento="4.00"><evCancPrestDesacordo>' +
        '<descEvento>Cancelamento Prestacao do Servico em Desacordo</descEvento>' +
        `<nProtEvPrestDes>${PROTOCOL}</nProtEvPrestDes></evCancPrestDesacordo></detEvento></infEvento></eventoCTe>`,
    );
  });

  test('is signed so that another implementation agrees, also inside its proc document', () => {
    const signed = signedCteEvent(event('610110', { justification: 'Preço & prazo <errados> "os dois"' }), certificate);
    for (const xml of [signed, procEventoCTe(signed, '<infEvento><cStat>135</cStat></infEvento>')]) {
      const { digest, signature } = verifySignature(xml);
      assert.ok(digest && signature);
    }
  });

  test('is never made of what is not valid', () => {
    const bad: [string, Partial<CteEvent>][] = [
      ['610110', { author: '9876543200019' }],
      ['610110', { key: KEY.slice(1) }],
      ['610110', { sequence: 1000 }],
      ['610110', { justification: null }],
      ['610110', { justification: 'curta demais' }],
      ['610110', { justification: 'duas linhas\nnao podem ser' }],
      ['610110', { justification: 'x'.repeat(256) }],
      ['610111', { protocol: null }],
      ['610111', { protocol: '13526000000001' }],
    ];
    for (const [type, given] of bad) {
      assert.throws(() => signedCteEvent(event(type, given), certificate), Error, JSON.stringify(given));
    }
  });

  test('is valid by its XSDs, whoever wrote the reason; so is its proc document', { skip: NO_SCHEMAS }, () => {
    const faultOf = eventSchemas();
    const faultOfProc = schemaOf('cte/procEventoCTe_v4.00.xsd');
    assert.ok(faultOf);
    assert.equal(faultOf(signedCteEvent(event('610111'), certificate)), null);
    const reasons = fc
      .string({
        unit: fc.integer({ min: 0x21, max: 0xff }).map((code) => String.fromCharCode(code)),
        minLength: 15,
        maxLength: 255,
      })
      .filter((text) => /^[!-ÿ]+$/.test(text));
    fc.assert(
      fc.property(reasons, (justification) => {
        assert.equal(faultOf(signedCteEvent(event('610110', { justification }), certificate)), null);
      }),
      { numRuns: 15 },
    );
    const answered =
      '<infEvento><tpAmb>2</tpAmb><verAplic>SP-CTe</verAplic><cOrgao>35</cOrgao><cStat>135</cStat><xMotivo>Evento registrado</xMotivo></infEvento>';
    assert.equal(faultOfProc(procEventoCTe(signedCteEvent(event('610110'), certificate), answered)), null);
  });
});

describe('a call', () => {
  const requests: GovernmentRequest[] = [];
  const events = createCteEvents({
    addresses: governmentAddresses(null),
    transport: async (request) => {
      requests.push(request);
      throw new TransportFailure('unknown', 'time limit of 60 s');
    },
  });
  const call = {
    environment: 'homologation',
    uf: 'SP',
    events: ['<eventoCTe>x</eventoCTe>'],
    certificate,
    limitMs: 1000,
  } as const;

  test('goes to the authorizer of the UF, uncompressed, the signed characters as they are', async () => {
    const signed = signedCteEvent(event('610110'), certificate);
    const answer = await events.send({ ...call, events: [signed] });
    assert.equal(answer.outcome.kind, 'unknown');
    const [request] = requests;
    assert.equal(request?.url, 'https://homologacao.nfe.fazenda.sp.gov.br/CTeWS/WS/CTeRecepcaoEventoV4.asmx');
    const wsdl = 'http://www.portalfiscal.inf.br/cte/wsdl/CTeRecepcaoEventoV4';
    assert.equal(
      request.headers['content-type'],
      `application/soap+xml; charset=utf-8; action="${wsdl}/cteRecepcaoEvento"`,
    );
    const body = Buffer.from(request.body ?? []).toString();
    assert.ok(body.includes(`<soap12:Body><cteDadosMsg xmlns="${wsdl}">${signed}</cteDadosMsg></soap12:Body>`));
    for (const [uf, host] of [
      ['MG', 'hcte.fazenda.mg.gov.br'],
      ['RJ', 'cte-homologacao.svrs.rs.gov.br'],
      ['PE', 'homologacao.nfe.fazenda.sp.gov.br'],
    ] as const) {
      await events.send({ ...call, uf });
      assert.equal(new URL(requests.at(-1)?.url ?? '').hostname, host);
    }
  });

  test('of no UF, or of two events, is never made', async () => {
    const before = requests.length;
    await assert.rejects(events.send({ ...call, uf: 'XX' }));
    await assert.rejects(events.send({ ...call, events: [...call.events, ...call.events] }));
    assert.equal(requests.length, before);
  });
});

describe('the answer', () => {
  const ret = (cStat: string, more = '', text = `Texto do ${cStat}`) =>
    `<cteRecepcaoEventoResult xmlns="http://www.portalfiscal.inf.br/cte/wsdl/CTeRecepcaoEventoV4">` +
    `<retEventoCTe xmlns="http://www.portalfiscal.inf.br/cte" versao="4.00"><infEvento><tpAmb>2</tpAmb><verAplic>SP-CTe</verAplic>` +
    `<cOrgao>35</cOrgao><cStat>${cStat}</cStat><xMotivo>${text}</xMotivo>${more}</infEvento></retEventoCTe></cteRecepcaoEventoResult>`;
  const read = (body: string, status = 200) =>
    readCteEventAnswer(Buffer.from(body), { status, contentType: 'application/soap+xml' });

  test('tells of a registered event its protocol and time', () => {
    const names = `<chCTe>${KEY}</chCTe><tpEvento>610110</tpEvento><xEvento>Prestação</xEvento><nSeqEvento>001</nSeqEvento>`;
    const answer = read(
      ret('135', `${names}<dhRegEvento>2026-11-30T09:00:02-03:00</dhRegEvento><nProt>${PROTOCOL}</nProt>`),
    );
    const [result] = answer.results;
    assert.deepEqual(
      [answer.outcome.kind, result?.meaning, result?.key, result?.type, result?.sequence, result?.protocol],
      ['documents', 'registered', KEY, '610110', '001', PROTOCOL],
    );
    assert.equal(result?.registeredAt, Date.parse('2026-11-30T09:00:02-03:00'));
    assert.match(result?.xml ?? '', /^<infEvento>.*<\/infEvento>$/);
  });

  test('631 tells of the event that was registered before, where the text does', () => {
    const text = `Rejeição: Duplicidade de evento[nProt:${PROTOCOL}][dhRegEvento: 2026-11-29T08:00:00-03:00]`;
    const [told] = read(ret('631', '', text)).results;
    assert.deepEqual(
      [told?.meaning, told?.protocol, told?.registeredAt],
      ['registered_before', PROTOCOL, Date.parse('2026-11-29T08:00:00-03:00')],
    );
    const [silent] = read(ret('631')).results;
    assert.deepEqual([silent?.meaning, silent?.protocol, silent?.registeredAt], ['registered_before', null, null]);
  });

  const table: [cStat: string, outcome: string, meaning: string | undefined][] = [
    ['134', 'documents', 'registered'],
    ['136', 'documents', 'registered'],
    ['755', 'documents', 'rejected'],
    ['787', 'documents', 'rejected'],
    ['677', 'documents', 'rejected'],
    ['215', 'documents', 'rejected'],
    ['108', 'paused', undefined],
    ['109', 'paused', undefined],
    ['678', 'throttled', undefined],
    ['999', 'unreadable', undefined],
    ['284', 'certificate_refused', undefined],
    ['', 'unreadable', undefined],
  ];
  for (const [cStat, outcome, meaning] of table) {
    test(`${cStat || 'no status'}: ${outcome} ${meaning ?? ''}`, () => {
      const answer = read(ret(cStat));
      assert.deepEqual([answer.outcome.kind, answer.results[0]?.meaning], [outcome, meaning]);
    });
  }

  test('that is not the service’s is unreadable, or tells of the certificate', () => {
    assert.equal(read('<html><title>502</title></html>', 502).outcome.kind, 'unreadable');
    assert.equal(read('', 200).outcome.kind, 'unreadable');
    assert.equal(read('<html/>', 403).outcome.kind, 'certificate_refused');
  });
});
