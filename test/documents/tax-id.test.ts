import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  cnpjCheckDigits,
  cpfCheckDigits,
  InvalidTaxId,
  isTaxId,
  normalizeTaxId,
  parseTaxId,
  type TaxIdProblem,
  taxIdKind,
  taxIdRoot,
} from '../../src/documents/index.js';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const cnpjBody = fc
  .string({ unit: fc.constantFrom(...alphabet), minLength: 12, maxLength: 12 })
  .filter((text) => !/^(.)\1*$/.test(text));
const cpfBody = fc
  .string({ unit: fc.constantFrom(...'0123456789'), minLength: 9, maxLength: 9 })
  .filter((text) => !/^(.)\1*$/.test(text));

describe('tax IDs', () => {
  test('the official example with letters has check digits 35 (contract section 5)', () => {
    assert.equal(cnpjCheckDigits('12ABC34501DE'), '35');
    assert.equal(parseTaxId('12.ABC.345/01DE-35'), '12ABC34501DE35');
  });

  test('numeric CNPJ and CPF, leading zeros kept (case C18)', () => {
    assert.equal(cnpjCheckDigits('112223330001'), '81');
    assert.equal(cpfCheckDigits('529982247'), '25');
    assert.equal(parseTaxId('01.234.567/0001-95'), '01234567000195');
    assert.equal(parseTaxId(' 529.982.247-25 '), '52998224725');
  });

  test('letters only in the order part: a new branch of an old company has the same root (case C49)', () => {
    assert.equal(taxIdRoot(parseTaxId('98765432E08G19')), taxIdRoot(parseTaxId('98765432000198')));
  });

  test('root and kind', () => {
    assert.equal(taxIdRoot('A1B2C3D4000193'), 'A1B2C3D4');
    assert.equal(taxIdRoot('52998224725'), '52998224725');
    assert.equal(taxIdKind('A1B2C3D4000193'), 'cnpj');
    assert.equal(taxIdKind('52998224725'), 'cpf');
  });

  const bad: [unknown, TaxIdProblem][] = [
    [11222333000181, 'not_text'],
    [null, 'not_text'],
    [undefined, 'not_text'],
    ['', 'length'],
    ['1122233300018', 'length'],
    ['112223330001811', 'length'],
    ['a1b2c3d4000193', 'lower_case'],
    ['A1B2C3D4000190', 'check_digits'],
    ['11222333000180', 'check_digits'],
    ['52998224724', 'check_digits'],
    ['Á1B2C3D4000193', 'characters'],
    ['A1B2C3D40001A3', 'characters'],
    ['5299822472A', 'characters'],
    ['ıABC34501DE351', 'characters'],
    ['00000000000000', 'same_digit'],
    ['11111111111', 'same_digit'],
  ];
  for (const [input, problem] of bad) {
    test(`${JSON.stringify(input)} is refused: ${problem}`, () => {
      assert.throws(
        () => parseTaxId(input),
        (error) => error instanceof InvalidTaxId && error.problem === problem,
      );
      assert.equal(isTaxId(input), false);
    });
  }

  test('an error shows at most the last 4 characters', () => {
    for (const input of ['11222333000180', 'A1B2C3D4000190', 'a1b2c3d4000193', '11222333x00181']) {
      assert.throws(
        () => parseTaxId(input),
        (error) => error instanceof Error && !error.message.includes(input.slice(-5)),
      );
    }
  });

  test('only the explicit normalization changes the case', () => {
    assert.equal(parseTaxId(normalizeTaxId('a1.b2c.3d4/0001-93')), 'A1B2C3D4000193');
  });

  test('computed digits are accepted, and every other pair is refused', () => {
    fc.assert(
      fc.property(cnpjBody, fc.integer({ min: 0, max: 99 }), (body, pair) => {
        const right = cnpjCheckDigits(body);
        const other = String(pair).padStart(2, '0');
        assert.equal(parseTaxId(body + right), body + right);
        assert.equal(isTaxId(body + other), other === right);
      }),
    );
    fc.assert(
      fc.property(cpfBody, fc.integer({ min: 0, max: 99 }), (body, pair) => {
        const right = cpfCheckDigits(body);
        const other = String(pair).padStart(2, '0');
        assert.equal(isTaxId(body + right), true);
        assert.equal(isTaxId(body + other), other === right);
      }),
    );
  });

  test('anything at all either is a tax ID or gives the typed error', () => {
    fc.assert(
      fc.property(fc.anything(), (input) => {
        try {
          assert.match(parseTaxId(input), /^([0-9A-Z]{12}[0-9]{2}|[0-9]{11})$/);
        } catch (error) {
          assert.ok(error instanceof InvalidTaxId);
        }
      }),
    );
  });
});
