import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { NFE } from '../../src/simulator/distribution/dialect.js';
import { keyFault, readDistributionRequest } from '../../src/simulator/distribution/request.js';
import { parseXml } from '../../src/simulator/soap/element.js';
import { NO_SCHEMAS, schemaOf } from '../support/xsd.js';

const NS = 'http://www.portalfiscal.inf.br/nfe';
const KEY = '35260911222333000181550010000007771102030403';

function request(inside: string, attributes = ` xmlns="${NS}" versao="1.01"`): string {
  return `<distDFeInt${attributes}>${inside}</distDFeInt>`;
}
const good = (question = '<distNSU><ultNSU>000000000000000</ultNSU></distNSU>') =>
  request(`<tpAmb>1</tpAmb><cUFAutor>35</cUFAutor><CNPJ>98765432000198</CNPJ>${question}`);

function read(xml: string): ReturnType<typeof readDistributionRequest> {
  return readDistributionRequest([parseXml(xml).root], NFE);
}
const fault = (xml: string) => {
  const result = read(xml);
  return result.ok ? null : result.cStat;
};

describe('the three questions', () => {
  test('distNSU, with UF and CNPJ', () => {
    const result = read(good());
    assert.deepEqual(result, {
      ok: true,
      request: { environmentCode: '1', taxId: '98765432000198', question: { kind: 'distNSU', nsu: '0'.repeat(15) } },
    });
  });

  test('consNSU, without UF, for a CPF', () => {
    const result = read(request('<tpAmb>2</tpAmb><CPF>11144477735</CPF><consNSU><NSU>000000000000042</NSU></consNSU>'));
    assert.ok(result.ok);
    assert.deepEqual(result.request.question, { kind: 'consNSU', nsu: '000000000000042' });
    assert.equal(result.request.taxId, '11144477735');
  });

  test('consChNFe, for a CNPJ with letters', () => {
    const result = read(
      request(`<tpAmb>2</tpAmb><CNPJ>12ABC34501DE35</CNPJ><consChNFe><chNFe>${KEY}</chNFe></consChNFe>`),
    );
    assert.ok(result.ok);
    assert.deepEqual(result.request.question, { kind: 'consChNFe', key: KEY });
  });
});

describe('what is refused, and with which code', () => {
  const cases: [name: string, xml: string, cStat: string][] = [
    ['NSU without its 15 digits', good('<distNSU><ultNSU>34000</ultNSU></distNSU>'), '215'],
    ['NSU of 16 digits', good('<distNSU><ultNSU>0000000000000000</ultNSU></distNSU>'), '215'],
    [
      'two questions',
      good('<distNSU><ultNSU>000000000000000</ultNSU></distNSU><consNSU><NSU>000000000000001</NSU></consNSU>'),
      '215',
    ],
    ['no question', good(''), '215'],
    ['an unknown question', good('<consNFe/>'), '215'],
    [
      'wrong order',
      request('<CNPJ>98765432000198</CNPJ><tpAmb>1</tpAmb><distNSU><ultNSU>000000000000000</ultNSU></distNSU>'),
      '215',
    ],
    ['CNPJ with punctuation', good().replace('98765432000198', '98.765.432/0001-98'), '215'],
    ['CNPJ in lower case', good().replace('98765432000198', '12abc34501de35'), '215'],
    ['CPF padded to 14', good().replaceAll('CNPJ>', 'CPF>'), '215'],
    ['CNPJ and CPF', good().replace('<distNSU>', '<CPF>11144477735</CPF><distNSU>'), '215'],
    ['tpAmb 3', good().replace('<tpAmb>1', '<tpAmb>3'), '215'],
    ['a UF that does not exist', good().replace('>35<', '>99<'), '215'],
    ['91 is no UF', good().replace('>35<', '>91<'), '215'],
    ['an attribute too many', good().replace('<tpAmb>', '<tpAmb x="1">'), '215'],
    ['no version', request('<tpAmb>1</tpAmb>', ` xmlns="${NS}"`), '215'],
    ['another version', good().replace('1.01', '1.35'), '239'],
    ['another root', good().replaceAll('distDFeInt', 'consSitNFe'), '215'],
    ['no namespace', good().replace(` xmlns="${NS}"`, ''), '215'],
    ['another namespace', good().replace(NS, 'http://www.portalfiscal.inf.br/cte'), '215'],
    [
      'a prefix',
      good().replace('<distDFeInt xmlns=', '<nfe:distDFeInt xmlns:nfe=').replace('</distDFeInt', '</nfe:distDFeInt'),
      '404',
    ],
    [
      'a declared prefix',
      good().replace('versao', 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" versao'),
      '404',
    ],
    ['text between the elements', good().replace('<CNPJ>', 'x<CNPJ>'), '215'],
    ['key with a letter out of place', good(`<consChNFe><chNFe>A${KEY.slice(1)}</chNFe></consChNFe>`), '215'],
  ];
  for (const [name, xml, cStat] of cases) test(name, () => assert.equal(fault(xml), cStat));

  test('the tax ID is still found, for the journal', () => {
    const result = read(good('<distNSU><ultNSU>34000</ultNSU></distNSU>'));
    assert.ok(!result.ok && result.taxId === '98765432000198');
  });
});

test('access keys that no NF-e can have', () => {
  const digit = (first43: string) => {
    for (let last = 0; last < 10; last++) if (keyFault(`${first43}${last}`) !== '236') return `${first43}${last}`;
    throw new Error('no digit fits');
  };
  const with_ = (from: number, text: string) => digit(KEY.slice(0, from) + text + KEY.slice(from + text.length, 43));
  assert.equal(keyFault(KEY), null);
  assert.equal(keyFault(`${KEY.slice(0, 43)}9`), '236');
  assert.equal(keyFault(with_(0, '99')), '614');
  assert.equal(keyFault(with_(4, '13')), '616');
  assert.equal(keyFault(with_(6, '11222333000182')), '617');
  assert.equal(keyFault(with_(6, '00011144477735')), null, 'a CPF behind three zeros');
  assert.equal(keyFault(with_(20, '65')), '618');
  assert.equal(keyFault(with_(25, '000000000')), '619');
});

describe('agreement with the official schema', { skip: NO_SCHEMAS ?? false }, () => {
  test('we find fault exactly where it does (property)', () => {
    const validate = schemaOf('nfe/distDFeInt_v1.01.xsd');
    const pieces = fc.constantFrom(
      '<tpAmb>1</tpAmb>',
      '<tpAmb>2</tpAmb>',
      '<tpAmb>9</tpAmb>',
      '<cUFAutor>35</cUFAutor>',
      '<cUFAutor>91</cUFAutor>',
      '<CNPJ>98765432000198</CNPJ>',
      '<CNPJ>12ABC34501DE35</CNPJ>',
      '<CNPJ> 98765432000198</CNPJ>',
      '<CPF>11144477735</CPF>',
      '<CPF/>',
      '<distNSU><ultNSU>000000000000000</ultNSU></distNSU>',
      '<distNSU><ultNSU> 000000000000000\n</ultNSU></distNSU>',
      '<distNSU><ultNSU>12</ultNSU></distNSU>',
      '<distNSU/>',
      '<consNSU><NSU>000000000000042</NSU></consNSU>',
      '<consNSU><ultNSU>000000000000042</ultNSU></consNSU>',
      `<consChNFe><chNFe>${KEY}</chNFe></consChNFe>`,
      '<consChNFe><chNFe>1</chNFe></consChNFe>',
      '\n ',
      '<!-- nota -->',
      'x',
    );
    const near = fc
      .tuple(
        fc.constantFrom('<tpAmb>1</tpAmb>', '<tpAmb>2</tpAmb>', '<tpAmb></tpAmb>', ''),
        fc.constantFrom('<cUFAutor>35</cUFAutor>', '', '<cUFAutor>10</cUFAutor>'),
        fc.oneof(fc.constantFrom('<CNPJ>98765432000198</CNPJ>', '<CPF>11144477735</CPF>'), pieces),
        fc.oneof(fc.constant('<distNSU><ultNSU>000000000000000</ultNSU></distNSU>'), pieces),
      )
      .map((parts) => parts.join(''));
    const inside = fc.oneof(
      near,
      fc.array(pieces, { maxLength: 6 }).map((parts) => parts.join('')),
    );
    let valid = 0;
    fc.assert(
      fc.property(inside, (text) => {
        const xml = request(text);
        const official = validate(xml) === null;
        if (official) valid++;
        assert.equal(fault(xml) === null, official, xml);
      }),
      { numRuns: 3000 },
    );
    assert.ok(valid > 50, `only ${valid} valid requests were tried`);
  });
});
