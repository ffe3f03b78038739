import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  type AccessKeyProblem,
  accessKeyCheckDigit,
  accessKeyParts,
  buildAccessKey,
  cnpjCheckDigits,
  InvalidAccessKey,
  isAccessKey,
  isUf,
  keyMetadata,
  parseAccessKey,
  UFS,
  ufByCode,
  ufCode,
} from '../../src/documents/index.js';

const digits = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: length, maxLength: length });
const parts = fc.record({
  ufCode: fc.constantFrom(...UFS.map(ufCode)),
  yearMonth: fc
    .tuple(fc.integer({ min: 6, max: 99 }), fc.integer({ min: 1, max: 12 }))
    .map((pair) => pair.map((part) => String(part).padStart(2, '0')).join('')),
  taxId: fc
    .string({ unit: fc.constantFrom(...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'), minLength: 12, maxLength: 12 })
    .map((body) => body + cnpjCheckDigits(body)),
  model: fc.constantFrom('55', '65', '57', '67', '64'),
  series: digits(3),
  number: digits(9),
  emissionType: digits(1),
  randomCode: digits(8),
});

describe('access keys', () => {
  test('the verified key with letters (contract section 5)', () => {
    const key = parseAccessKey('3526050X0J92JY000196570010000006041448679011');
    assert.deepEqual(accessKeyParts(key), {
      ufCode: '35',
      yearMonth: '2605',
      taxId: '0X0J92JY000196',
      model: '57',
      series: '001',
      number: '000000604',
      emissionType: '1',
      randomCode: '44867901',
    });
    assert.deepEqual(keyMetadata(key), { uf: 'SP', model: '57', series: '1', number: '604' });
  });

  test('blanks between groups, as on paper, are removed', () => {
    const spaced = '3526 050X 0J92 JY00 0196 5700 1000 0006 0414 4867 9011';
    assert.equal(parseAccessKey(spaced), spaced.replaceAll(' ', ''));
  });

  test('a CPF and short numbers are padded', () => {
    const key = buildAccessKey({
      ufCode: '51',
      yearMonth: '2609',
      taxId: '52998224725',
      model: '55',
      series: '921',
      number: '5',
      emissionType: '1',
      randomCode: '2030405',
    });
    assert.equal(accessKeyParts(key).taxId, '00052998224725');
    assert.equal(keyMetadata(key).number, '5');
  });

  test('series and number zero keep one digit', () => {
    const key = buildAccessKey({
      ufCode: '35',
      yearMonth: '2609',
      taxId: '11222333000181',
      model: '55',
      series: '0',
      number: '0',
      emissionType: '1',
      randomCode: '1',
    });
    assert.deepEqual(keyMetadata(key), { uf: 'SP', model: '55', series: '0', number: '0' });
  });

  const bad: [unknown, AccessKeyProblem][] = [
    [35260500000000000000000000000000000000000000, 'not_text'],
    ['', 'length'],
    ['3526050X0J92JY00019657001000000604144867901', 'length'],
    ['352609A1B2C3D4000193550010000000101102030400', 'check_digit'],
    ['352609Á1B2C3D4000193550010000000101102030401', 'characters'],
    ['352609a1b2c3d4000193550010000000101102030401', 'characters'],
    ['35260X0X0J92JY000196570010000006041448679011', 'characters'],
    ['3526050X0J92JY0001965700100000060414486790A1', 'characters'],
  ];
  for (const [input, problem] of bad) {
    test(`${String(input).slice(0, 50)} is refused: ${problem}`, () => {
      assert.throws(
        () => parseAccessKey(input),
        (error) => error instanceof InvalidAccessKey && error.problem === problem,
      );
    });
  }

  test('an error shows at most the last 4 characters', () => {
    const input = '352609A1B2C3D4000193550010000000101102030400';
    assert.throws(
      () => parseAccessKey(input),
      (error) => error instanceof Error && !error.message.includes(input.slice(-5)),
    );
  });

  test('build, read and check agree for any parts', () => {
    fc.assert(
      fc.property(parts, (given) => {
        const key = buildAccessKey(given);
        assert.equal(parseAccessKey(key), key);
        assert.deepEqual(accessKeyParts(key), { ...given });
        assert.equal(key.slice(43), accessKeyCheckDigit(key.slice(0, 43)));
      }),
    );
  });

  test('every other check digit is refused', () => {
    fc.assert(
      fc.property(parts, digits(1), (given, digit) => {
        const key = buildAccessKey(given);
        assert.equal(isAccessKey(key.slice(0, 43) + digit), digit === key.slice(43));
      }),
    );
  });

  test('a part that does not fit is refused', () => {
    const [given] = fc.sample(parts, 1);
    assert.ok(given);
    assert.throws(() => buildAccessKey({ ...given, number: '1234567890' }), InvalidAccessKey);
    assert.throws(() => buildAccessKey({ ...given, model: 'NF' }), InvalidAccessKey);
  });
});

describe('federal units', () => {
  test('letters and IBGE codes, both ways', () => {
    assert.equal(ufCode('SP'), '35');
    assert.equal(ufByCode('43'), 'RS');
    assert.equal(UFS.length, 27);
    assert.equal(new Set(UFS.map(ufCode)).size, 27);
    for (const uf of UFS) {
      assert.equal(ufByCode(ufCode(uf)), uf);
    }
  });

  test('what is no federal unit', () => {
    assert.equal(ufByCode('91'), undefined);
    assert.equal(isUf('EX'), false);
    assert.equal(isUf('toString'), false);
    assert.equal(isUf('SP'), true);
  });
});
