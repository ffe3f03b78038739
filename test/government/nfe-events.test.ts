import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { nfeEventDetails } from '../../src/documents/nfe-event-fields.js';
import { governmentAddresses } from '../../src/government/addresses.js';
import { envEvento } from '../../src/government/nfe-event-request.js';
import {
  createNfeEvents,
  type NfeEvent,
  nfeEventId,
  procEventoNFe,
  readEventAnswer,
  signedNfeEvent,
} from '../../src/government/nfe-events.js';
import { type GovernmentRequest, type GovernmentResponse, TransportFailure } from '../../src/government/types.js';
import { sharedFile } from '../support/shared.js';
import { NO_SCHEMAS, schemaOf } from '../support/xsd.js';
import { eventParts, signer, unsigned } from './event-samples.js';
import { verifySignature } from './verify-signature.js';

const certificate = signer('event');

/** Letters in the issuer's CNPJ, check digits right; made up. */
const KEY = '3526050X0J92JY000196570010000006041448679011';

function event(type: string, given: Partial<NfeEvent> = {}): NfeEvent {
  const parts = eventParts(type);
  const fields = {
    '211128': { indAceitacao: '1' },
    '110001': { tpEventoAut: '211128', nProtEvento: '143260000000001' },
  }[type];
  return {
    ...parts,
    key: KEY,
    sequence: 1,
    ...(parts.rule.justified && { justification: 'Mercadoria recusada no recebimento' }),
    ...(fields && { details: nfeEventDetails(type, fields, { uf: 'SP', application: 'Malote' }) }),
    ...given,
  };
}

describe('the event', () => {
  test('is exactly this', () => {
    assert.equal(
      unsigned(signedNfeEvent(event('210240'), certificate)),
      `<evento xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.00"><infEvento Id="ID210240${KEY}01"><cOrgao>91</cOrgao>` +
        `<tpAmb>2</tpAmb><CNPJ>98765432000198</CNPJ><chNFe>${KEY}</chNFe><dhEvento>2026-11-30T09:00:00-03:00</dhEvento>` +
        '<tpEvento>210240</tpEvento><nSeqEvento>1</nSeqEvento><verEvento>1.00</verEvento><detEvento versao="1.00">' +
        '<descEvento>Operacao nao Realizada</descEvento><xJust>Mercadoria recusada no recebimento</xJust></detEvento>' +
        '</infEvento></evento>',
    );
    const other = signedNfeEvent(
      event('211128', { environment: 'production', author: '11144477735', sequence: 2 }),
      certificate,
    );
    assert.match(other, new RegExp(`Id="ID211128${KEY}02"><cOrgao>92</cOrgao><tpAmb>1</tpAmb><CPF>11144477735</CPF>`));
    assert.match(other, /<nSeqEvento>2<\/nSeqEvento>/);
    assert.match(
      other,
      /<descEvento>Aceite de débito na apuração por emissão de nota de crédito<\/descEvento><cOrgaoAutor>35</,
    );
  });

  test('is signed so that another implementation agrees, also inside its proc document', () => {
    const signed = signedNfeEvent(event('210240', { justification: 'Ação & reação <de> "teste"' }), certificate);
    for (const xml of [signed, procEventoNFe(signed, '<infEvento><cStat>135</cStat></infEvento>')]) {
      const { digest, signature } = verifySignature(xml);
      assert.ok(digest && signature);
    }
  });

  test('is never made of what is not valid', () => {
    const bad: [string, Partial<NfeEvent>][] = [
      ['210200', { author: '9876543200019' }],
      ['210200', { key: KEY.slice(1) }],
      ['210200', { key: `${KEY.slice(0, 43)}x` }],
      ['210200', { sequence: 100 }],
      ['210210', { justification: 'Nao deveria estar aqui' }],
      ['210240', { justification: null }],
      ['210240', { justification: 'curta demais' }],
      ['210240', { justification: 'duas linhas\nnao podem ser' }],
      ['211128', { details: '' }],
      ['210200', { details: '<indAceitacao>1</indAceitacao>' }],
    ];
    for (const [type, given] of bad) {
      assert.throws(() => signedNfeEvent(event(type, given), certificate), Error, JSON.stringify(given));
    }
  });

  for (const type of ['210200', '210210', '210220', '210240', '211128', '110001']) {
    test(`${type} and a request with it are valid by their XSDs`, { skip: NO_SCHEMAS }, () => {
      const signed = signedNfeEvent(event(type), certificate);
      assert.equal(schemaOf('nfe/envEvento_v1.00.xsd')(envEvento('1764504000000', [signed])), null);
      const [details] = /<detEvento.*<\/detEvento>/.exec(signed) ?? [''];
      const alone = details.replace('<detEvento', '<detEvento xmlns="http://www.portalfiscal.inf.br/nfe"');
      assert.equal(schemaOf(`nfe/e${type}_v1.00.xsd`)(alone), null);
    });
  }

  test('twenty are valid together, whoever wrote the justification', { skip: NO_SCHEMAS }, () => {
    const fault = schemaOf('nfe/envEvento_v1.00.xsd');
    const text = fc
      .array(fc.constantFrom(...'aé&<>"\'Zÿ 9-'), { minLength: 13, maxLength: 253 })
      .map((characters) => `x${characters.join('')}x`);
    fc.assert(
      fc.property(text, (justification) => {
        const events = Array.from({ length: 20 }, (_, i) =>
          signedNfeEvent(event('210240', { justification, sequence: i + 1 }), certificate),
        );
        assert.equal(fault(envEvento('1', events)), null);
      }),
      { numRuns: 10 },
    );
  });
});

describe('a call', () => {
  const sent: GovernmentRequest[] = [];
  const service = (answer: () => GovernmentResponse) =>
    createNfeEvents({
      transport: async (request) => {
        sent.push(request);
        return answer();
      },
      addresses: governmentAddresses(null),
    });
  const call = { authority: 'an', environment: 'production', lot: '7', certificate, limitMs: 60_000 } as const;

  test('goes to its authority, and the signed characters go as they are', async () => {
    const signed = signedNfeEvent(event('210240', { justification: 'Não chegou & não veio' }), certificate);
    const body = Buffer.from(answerOf(ret({ cStat: '135' })));
    const answer = await service(() => ({ status: 200, contentType: null, headers: {}, body })).send({
      ...call,
      events: [signed],
    });
    assert.equal(answer.results[0]?.statusCode, '135');
    assert.equal(answer.raw?.body, body);
    const request = sent.at(-1);
    assert.equal(request?.url, 'https://www.nfe.fazenda.gov.br/NFeRecepcaoEvento4/NFeRecepcaoEvento4.asmx');
    assert.match(
      request.headers['content-type'] ?? '',
      /action="http:\/\/www\.portalfiscal\.inf\.br\/nfe\/wsdl\/NFeRecepcaoEvento4\/nfeRecepcaoEventoNF"/,
    );
    const text = Buffer.from(request.body ?? []).toString();
    assert.ok(
      text.includes(
        '<soap12:Body><nfeDadosMsg xmlns="http://www.portalfiscal.inf.br/nfe/wsdl/NFeRecepcaoEvento4">' +
          `<envEvento xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.00"><idLote>7</idLote>${signed}</envEvento></nfeDadosMsg></soap12:Body>`,
      ),
    );
    await service(() => ({ status: 200, contentType: null, headers: {}, body })).send({
      ...call,
      authority: 'svrs',
      environment: 'homologation',
      events: [signed],
    });
    assert.equal(sent.at(-1)?.url, 'https://nfe-homologacao.svrs.rs.gov.br/ws/recepcaoevento/recepcaoevento4.asmx');
  });

  test('whatever the wire does is an outcome', async () => {
    const fails = (error: unknown) =>
      service(() => {
        throw error;
      }).send({ ...call, events: [] });
    for (const [error, kind] of [
      [new TransportFailure('not_sent', 'connect ECONNREFUSED'), 'not_sent'],
      [new TransportFailure('unknown', 'time limit'), 'unknown'],
      [new TransportFailure('certificate_refused', 'alert'), 'certificate_refused'],
      [new TransportFailure('answer_too_large', 'large'), 'unreadable'],
      [new Error('with a key in it'), 'unknown'],
    ] as const) {
      const { outcome, results, raw, statusText } = await fails(error);
      assert.equal(outcome.kind, kind);
      assert.deepEqual([results, raw], [[], null]);
      assert.doesNotMatch(statusText, /key/);
    }
  });
});

const ret = ({ cStat = '135', key = KEY, type = '210210', sequence = '1', more = '' }) =>
  `<retEvento versao="1.00"><infEvento><tpAmb>1</tpAmb><verAplic>AN_1.8.6</verAplic><cOrgao>91</cOrgao><cStat>${cStat}</cStat>` +
  `<xMotivo>Texto do ${cStat}</xMotivo><chNFe>${key}</chNFe><tpEvento>${type}</tpEvento><xEvento>Ciência</xEvento>` +
  `<nSeqEvento>${sequence}</nSeqEvento><dhRegEvento>2026-11-30T09:00:02-03:00</dhRegEvento>${more}</infEvento></retEvento>`;
const answerOf = (results: string, { cStat = '128', wrapper = 'nfeRecepcaoEventoNFResult' } = {}) =>
  '<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="http://www.w3.org/2003/05/soap-envelope"><soap:Body>' +
  `<${wrapper} xmlns="http://www.portalfiscal.inf.br/nfe/wsdl/NFeRecepcaoEvento4"><retEnvEvento xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.00">` +
  `<idLote>1</idLote><tpAmb>1</tpAmb><verAplic>AN_1.8.6</verAplic><cOrgao>91</cOrgao><cStat>${cStat}</cStat><xMotivo>Lote</xMotivo>${results}` +
  `</retEnvEvento></${wrapper}></soap:Body></soap:Envelope>`;
const read = (text: string, status = 200) => readEventAnswer(Buffer.from(text), { contentType: null, status });

describe('the answer', () => {
  test('128 is about the request; each event has its own status', () => {
    const answer = read(
      answerOf(ret({ more: '<nProt>891260000000999</nProt>' }) + ret({ cStat: '573', sequence: '2' })),
    );
    assert.deepEqual([answer.outcome.kind, answer.statusText], ['documents', 'Lote']);
    const [registered, duplicate] = answer.results;
    assert.deepEqual(
      { ...registered, xml: undefined },
      {
        key: KEY,
        type: '210210',
        sequence: '1',
        statusCode: '135',
        meaning: 'registered',
        statusText: 'Texto do 135',
        protocol: '891260000000999',
        registeredAt: Date.parse('2026-11-30T09:00:02-03:00'),
        xml: undefined,
      },
    );
    assert.match(registered?.xml ?? '', /^<infEvento>.*<xEvento>Ciência<\/xEvento>.*<\/infEvento>$/);
    assert.deepEqual(
      [duplicate?.statusCode, duplicate?.meaning, duplicate?.sequence, duplicate?.protocol],
      ['573', 'registered_before', '2', null],
    );
  });

  test('is found under other names, with prefixes, escaped, in Latin-1, or with fields missing', () => {
    const plain = answerOf(ret({}));
    const forms = [
      answerOf(ret({}), { wrapper: 'nfeResultMsg' }),
      plain
        .replace(/<(\/?)(retEnvEvento|retEvento|infEvento|cStat|chNFe|xMotivo)/g, '<$1n:$2')
        .replace('xmlns="http://www.portalfiscal.inf.br/nfe" ', 'xmlns:n="http://www.portalfiscal.inf.br/nfe" '),
      `<r><![CDATA[${plain.slice(plain.indexOf('<retEnvEvento'), plain.indexOf('</nfeRecepcao'))}]]></r>`,
    ];
    for (const form of forms) {
      const { outcome, results } = read(form);
      assert.equal(outcome.kind, 'documents', form);
      assert.equal(results[0]?.statusCode, '135');
      assert.doesNotMatch(results[0]?.xml ?? '', /<\/?n:/);
    }
    const latin = Buffer.from(plain.replace('utf-8', 'iso-8859-1'), 'latin1');
    assert.match(readEventAnswer(latin, null).results[0]?.xml ?? '', /Ciência/);
    const bare = read(answerOf('<retEvento versao="1.00"><infEvento><cStat>215</cStat></infEvento></retEvento>'));
    assert.deepEqual(
      [bare.results[0]?.key, bare.results[0]?.statusCode, bare.results[0]?.statusText],
      [null, '215', ''],
    );
  });

  const outcomes: [cStat: string, kind: string][] = [
    ['108', 'paused'],
    ['109', 'paused'],
    ['999', 'unreadable'],
    ['656', 'throttled'],
    ['280', 'certificate_refused'],
    ['286', 'certificate_refused'],
    ['215', 'rejected'],
    ['225', 'rejected'],
    ['1116', 'rejected'],
    ['', 'unreadable'],
    ['128', 'unreadable'],
  ];
  for (const [cStat, kind] of outcomes) {
    test(`of a whole request "${cStat}" without events is ${kind}`, () => {
      const { outcome, results } = read(answerOf('', { cStat }));
      assert.equal(outcome.kind, kind);
      assert.deepEqual(results, []);
    });
  }

  test('what is not the service’s is unreadable, or tells of the certificate', () => {
    const kinds = [
      read('').outcome.kind,
      read('<html><title>Runtime Error</title></html>').outcome.kind,
      read('<s:Envelope xmlns:s="x"><s:Fault><faultstring>busy</faultstring></s:Fault></s:Envelope>', 500).outcome.kind,
      read('<html>403</html>', 403).outcome.kind,
    ];
    assert.deepEqual(kinds, ['unreadable', 'unreadable', 'unreadable', 'certificate_refused']);
  });

  for (const [file, statusCode, protocol] of [
    ['53-manif-573-duplicidade.xml', '573', null],
    ['55-manif-655-after-conclusive.xml', '655', null],
    ['60-manif-136-not-linked.xml', '136', '891260000000999'],
  ] as const) {
    const path = sharedFile(`cases/${file}`);
    test(file, { skip: path === null && 'no shared cases here' }, () => {
      const { outcome, results } = readEventAnswer(readFileSync(path ?? ''), { contentType: 'text/xml', status: 200 });
      assert.equal(outcome.kind, 'documents');
      assert.deepEqual(
        results.map((each) => [each.statusCode, each.type, each.protocol]),
        [[statusCode, '210210', protocol]],
      );
    });
  }
});

test('the Id of an event is made of type, key and two digits of the sequence', () => {
  assert.equal(nfeEventId(event('210200', { sequence: 2 })), `ID210200${KEY}02`);
});
