import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import PDFDocument from 'pdfkit';
import { modulo11 } from '../../src/documents/modulo-11.js';
import { code128, codewords, drawBars, keyWidth } from '../../src/pdf/kit/barcode.js';
import { type Font, textWidth } from '../../src/pdf/kit/fonts.js';
import {
  amount,
  date,
  dateAndTime,
  documentNumber,
  inGroups,
  isSome,
  phone,
  postalCode,
  quantity,
  rate,
  taxId,
  timeOfDay,
} from '../../src/pdf/kit/formats.js';
import { printable, winAnsiByte } from '../../src/pdf/kit/printable.js';
import { mm, Sheet } from '../../src/pdf/kit/sheet.js';
import { fit, restOf, wrap, wrapAll } from '../../src/pdf/kit/text-fit.js';

const FONTS: readonly Font[] = ['Times-Roman', 'Times-Bold', 'Helvetica', 'Helvetica-Bold'];

describe('characters', () => {
  test('any text becomes one in WinAnsi, and such a one stays as it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const shown = printable(text);
        for (let at = 0; at < shown.length; at++) {
          const code = shown.charCodeAt(at);
          assert.ok('\t\n\r'.includes(shown.charAt(at)) || winAnsiByte(code) !== null, `U+${code.toString(16)}`);
        }
        assert.equal(printable(shown), shown);
      }),
    );
  });

  test('what the fonts have is kept; a letter loses its accent before it is lost; the rest is a question mark', () => {
    assert.equal(printable('Ação § 1º “R$” – € 5 m²'), 'Ação § 1º “R$” – € 5 m²');
    assert.equal(printable('A\u0301gua Łódź e\u0323 ﬁm ⅓'), 'Água Lódz e fim 1/3');
    assert.equal(printable('a\u00a0b\u2009c\u200bd\u00ade\ufeff'), 'a b cde');
    assert.equal(printable('😀中'), '??');
  });

  test('widths are those of the fonts, for every character', () => {
    const document = new PDFDocument();
    for (const font of FONTS) {
      for (let code = 0x20; code < 0x2200; code++) {
        const character = String.fromCharCode(code);
        if (winAnsiByte(code) === null) continue;
        assert.equal(textWidth(character, font, 1000), document.font(font, 1000).widthOfString(character), character);
      }
    }
  });
});

describe('lines', () => {
  const texts = fc.array(fc.stringMatching(/^[a-zA-Z0-9 ãç.]{0,80}$/), { maxLength: 6 });
  const widths = fc.double({ min: 8, max: 300, noNaN: true });
  const letters = (lines: readonly string[]) => lines.join('').replaceAll(' ', '');

  test('wrapping loses no letter and makes no line too wide', () => {
    fc.assert(
      fc.property(texts, widths, (paragraphs, width) => {
        const lines = wrapAll(paragraphs, 'Times-Roman', 7, width);
        assert.equal(letters(lines), letters(paragraphs));
        for (const line of lines)
          assert.ok(line.length === 1 || textWidth(line, 'Times-Roman', 7) <= width + 1e-9, line);
      }),
    );
  });

  test('what goes on elsewhere is exactly what was not said', () => {
    fc.assert(
      fc.property(texts, widths, fc.nat(12), (paragraphs, width, count) => {
        const here = wrapAll(paragraphs, 'Times-Roman', 7, width).slice(0, count);
        assert.equal(letters(here) + letters(restOf(paragraphs, here)), letters(paragraphs));
      }),
    );
  });

  test('a text shrinks before it is broken', () => {
    assert.deepEqual(fit('abc', 'Times-Roman', 10, 6, 100), { lines: ['abc'], size: 10 });
    const smaller = fit('a text that is a little long', 'Times-Roman', 10, 6, 90);
    assert.equal(smaller.lines.length, 1);
    assert.ok(smaller.size < 10 && smaller.size > 6);
    assert.equal(fit('a text that is much too long to stand on one line', 'Times-Roman', 10, 6, 60).size, 6);
    assert.deepEqual(wrap('  two   blanks ', 'Times-Roman', 6, 500), ['two blanks']);
  });
});

describe('values', () => {
  test('punctuation is added and nothing else', () => {
    assert.equal(amount('1234567.89'), '1.234.567,89');
    assert.equal(amount('-10.00'), '-10,00');
    assert.equal(amount('0'), '0');
    assert.equal(quantity('15.0000'), '15,00');
    assert.equal(quantity('0.8500000000'), '0,85');
    assert.equal(quantity('1000.1250'), '1.000,125');
    assert.equal(rate('18.0000'), '18,00%');
    assert.equal(taxId('AB12CD34000184'), 'AB.12C.D34/0001-84');
    assert.equal(taxId('12345678909'), '123.456.789-09');
    assert.equal(postalCode('01001000'), '01001-000');
    assert.equal(phone('1133334444'), '(11) 3333-4444');
    assert.equal(documentNumber('4711'), '000.004.711');
    assert.equal(inGroups('12345678901'), '1234 5678 901');
  });

  test('what is no number, date or tax ID stays as it stands', () => {
    for (const format of [amount, quantity, rate, taxId, postalCode, phone, date, documentNumber]) {
      for (const text of ['', 'NaN', 'abc', '1,5', '12 34'])
        assert.equal(format(text), text, `${format.name}(${text})`);
    }
  });

  test('no amount goes through a float', () => {
    assert.equal(amount('9007199254740993.07'), '9.007.199.254.740.993,07');
    fc.assert(
      fc.property(fc.stringMatching(/^[1-9]\d{0,20}\.\d{2}$/), (text) => {
        assert.equal(amount(text).replaceAll('.', '').replace(',', '.'), text);
      }),
    );
  });

  test('times are the clock that was written', () => {
    assert.equal(dateAndTime('2026-12-02T22:57:07-03:00'), '02/12/2026 22:57:07');
    assert.equal(dateAndTime('2026-12-02T23:59:59+14:00'), '02/12/2026 23:59:59');
    assert.equal(dateAndTime('2011-05-04'), '04/05/2011');
    assert.equal(timeOfDay('2011-05-04'), '');
  });

  test('zero in any spelling says nothing', () => {
    assert.deepEqual(['', '0', '0.00', '-0.00'].map(isSome), [false, false, false, false]);
    assert.deepEqual(['0.01', 'abc'].map(isSome), [true, true]);
  });
});

describe('CODE-128', () => {
  test('the example of the technical note: set A for letters, set C for pairs of digits', () => {
    const words = codewords('5225AB83');
    assert.deepEqual(words, [105, 52, 25, 101, 33, 34, 99, 83]);
    assert.equal(words.reduce((sum, word, at) => sum + word * Math.max(1, at), 0) % 103, 30);
  });

  test('a key of digits has 277 modules, one with twelve letters 365, as the technical note counts', () => {
    const digits = '3526'.repeat(10) + modulo11('3526', 9).padStart(4, '1');
    assert.equal(code128(digits)?.modules, 277);
    assert.equal(code128(`352612ABCDEFGHIJKL${'12'.repeat(13)}`)?.modules, 365);
  });

  test('any text of digits and capitals can be read back from its codewords', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^\d\d[0-9A-Z]{0,42}$/), (text) => {
        assert.equal(decoded(codewords(text)), text);
      }),
    );
  });

  test('the bars of a key with letters are 115 mm wide or more, quiet zones of ten modules not counted', () => {
    const key = fc.stringMatching(/^\d{6}[0-9A-Z]{12}\d{26}$/).filter((text) => /[A-Z]/.test(text));
    fc.assert(
      fc.property(key, (text) => {
        const sheet = new Sheet(500, 100);
        const bars = code128(text);
        assert.ok(bars);
        drawBars(sheet, bars, [0, 0, keyWidth(text), 30]);
        const [mark] = sheet.marks;
        assert.ok(mark?.kind === 'fill');
        const [left = 0] = mark.areas[0] ?? [];
        const [last = 0, , width = 0] = mark.areas.at(-1) ?? [];
        const module = (last + width - left) / bars.modules;
        assert.ok(last + width - left >= mm(115));
        assert.ok(left >= 10 * module - 1e-9 && keyWidth(text) - last - width >= 10 * module - 1e-9);
      }),
    );
  });

  test('what is no key has no barcode', () => {
    for (const text of ['', 'A', '12ab', '12 34', 'NFe1']) assert.equal(code128(text), null);
  });
});

function decoded(words: readonly number[]): string {
  let set = 'C';
  let text = '';
  for (const word of words.slice(1)) {
    if (set === 'C' && word === 101) set = 'A';
    else if (set === 'A' && word === 99) set = 'C';
    else text += set === 'C' ? String(word).padStart(2, '0') : String.fromCharCode(word + 32);
  }
  return text;
}
