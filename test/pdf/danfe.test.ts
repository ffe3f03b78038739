import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { layOut } from '../../src/pdf/print.js';
import { DANFE_CASES, type DanfeCase, INSTALLMENTS, LONG_REMARK } from './danfe-cases.js';
import { outsideOf, overlapsOn, textsOf, wordsOf } from './layout-text.js';
import { textAt } from './nfe-sample.js';

const sheetsOf = ({ xml, situation }: DanfeCase) =>
  layOut({ kind: 'procNFe', xml: Buffer.from(xml), situation }).sheets;

function caseNamed(name: string): DanfeCase {
  const found = DANFE_CASES.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no case ${name}`);
  return found;
}

const pageOf = (name: string) => sheetsOf(caseNamed(name)).map(wordsOf).join('\n');

/** `1234.5` → `1.234,50`, by another way than the code under test. */
const brazilian = (amount: string): string =>
  new Intl.NumberFormat('pt-BR', { minimumFractionDigits: 2 }).format(Number(amount));

describe('a DANFE of any note', () => {
  for (const each of DANFE_CASES) {
    test(`${each.name}: as many sheets as needed, each numbered, nothing over anything else`, () => {
      const sheets = sheetsOf(each);
      assert.equal(sheets.length, each.sheets);
      sheets.forEach((sheet, index) => {
        assert.match(wordsOf(sheet), new RegExp(`^FOLHA ${index + 1}/${sheets.length}$`, 'm'));
        assert.deepEqual(overlapsOn(sheet), []);
        assert.deepEqual(outsideOf(sheet), []);
      });
    });

    test(`${each.name}: every item once and in order, totals as in the XML`, () => {
      const page = sheetsOf(each).map(wordsOf).join('\n');
      const printed = [...page.matchAll(/^COD-\d{4}$/gm)].map(String);
      const written = (each.note.det ?? [])
        .map((item) => textAt(item, ['prod', 'cProd']))
        .filter((code) => code.startsWith('COD-'));
      assert.deepEqual(printed, written);
      const totals: Record<string, string> = each.note.total?.ICMSTot ?? {};
      for (const name of ['vProd', 'vNF', 'vICMS', 'vFrete']) {
        const amount = totals[name];
        if (amount !== undefined && /^\d+\.\d\d$/.test(amount))
          assert.ok(hasLine(page, brazilian(amount)), `${name} ${amount}`);
      }
    });

    test(`${each.name}: no trace of a missing value`, () => {
      assert.doesNotMatch(sheetsOf(each).map(wordsOf).join('\n'), /undefined|\bNaN\b|\bnull\b|\[object|Invalid/);
    });

    test(`${each.name}: no number that is not in the XML`, () => {
      const known = digitsOf(each.xml + JSON.stringify(each.situation));
      const sheets = sheetsOf(each);
      for (const { text } of sheets.flatMap(textsOf)) {
        if (/^FOLHA |^0 - ENTRADA|^1 - SAÍDA|^marca|IBS\/CBS/.test(text)) continue;
        for (const [number] of text.matchAll(/\d[\d.,:/-]*/g)) {
          assert.ok(isKnown(number, known), `"${number}" of "${text}"`);
        }
      }
    });
  }
});

function hasLine(page: string, line: string): boolean {
  return page.split('\n').includes(line);
}

/** All digits of the XML, with a blank between values. */
function digitsOf(xml: string): string {
  return xml.replace(/[.:T-]/g, '').replace(/\D+/g, ' ');
}

/** Whether a printed number stands in the XML: its digits alone, a date turned round, or without the zeros of a padded number. */
function isKnown(printed: string, digits: string): boolean {
  const [, day, month, year] = /^(\d\d)\/(\d\d)\/(\d{4})$/.exec(printed) ?? [];
  const plain = year === undefined ? printed.replace(/\D/g, '') : `${year}${month}${day}`;
  const short = plain.replace(/^0+(?=\d)/, '');
  // Groups of 4 belong to keys; the second barcode of security paper is made out of other fields.
  return (
    digits.includes(plain) ||
    digits.includes(short) ||
    digits.includes(plain.replace(/00$/, '')) ||
    /^\d{4}$/.test(plain)
  );
}

describe('what stands where', () => {
  test('issuer, recipient, transport and protocol, in the words of the XML', () => {
    const page = pageOf('one item');
    for (const line of [
      '10.111.213/0001-44',
      '0043763020020',
      '998877665544',
      '3 - REGIME NORMAL',
      'Rua das Amostras, 1234 - Galpão B',
      'Distrito Industrial - CEP: 01001-000',
      'Fone: (11) 3333-4444',
      'Compradora Fictícia Indústria e Comércio S.A.',
      'Avenida do Exemplo, 99 - Bloco 2',
      '80010-000',
      '(41) 98888-7777',
      'Transportes Imaginários Ltda',
      '0 - REMETENTE (CIF)',
      'ABC1D23',
      '13,750',
      'Nº 000.004.711',
      'SÉRIE 007',
    ]) {
      assert.ok(hasLine(page, line), line);
    }
  });

  test('dates and times are those that were written, whatever the clock of this machine', () => {
    const page = pageOf('one item');
    assert.ok(hasLine(page, '02/12/2026'));
    assert.ok(hasLine(page, '17:05:00'));
    assert.ok(hasLine(page, '135260000004711 - 02/12/2026 22:57:07'));
  });

  test('a note of an old layout, issued with a CPF', () => {
    const page = pageOf('a farmer, long ago');
    for (const line of ['04/05/2011', '05/05/2011', '06:07:08']) assert.ok(hasLine(page, line), line);
    assert.match(page, /^135\.792\.468-\d\d$/m);
  });

  test('IBS, CBS and regime stand there from December 2026 on, or when the XML has them; not before', () => {
    assert.match(pageOf('one item'), /TOTAL DO IBS \/ CBS \/ IS/);
    assert.match(pageOf('simples nacional'), /TOTAL DO IBS \/ CBS \/ IS/);
    assert.doesNotMatch(pageOf('one item before the reform'), /IBS|REGIME TRIBUT/);
  });

  test('an item without a group of the reform has no line of it, not even with zeros', () => {
    assert.doesNotMatch(pageOf('denied'), /^(IBS UF|IBS MUN|CBS)$/m);
    assert.match(pageOf('one item'), /^IBS UF$/m);
  });

  test('with a reduction the effective rate is printed; fuels have quantities and amounts', () => {
    const page = pageOf('fuel and reduced rates');
    for (const line of ['0,36%', '0,04%', 'IBS MONO', '0,43', '1.000,00', '2,50%', '22,50', '1.235.230,59']) {
      assert.ok(hasLine(page, line), line);
    }
    assert.ok(!hasLine(page, '0,90%'));
  });

  test('additional information stays below its item, other units in the line below', () => {
    const page = pageOf('long words and foreign letters').split('\n');
    assert.ok(page.includes('24,00'));
    assert.ok(page.includes('0,44375'));
    assert.ok(page.some((line) => line.includes('Lote: L-77 Qtd: 10,00 Fab: 31/01/2026')));
  });

  test('characters that the fonts do not have are replaced, not garbled', () => {
    assert.match(
      pageOf('long words and foreign letters'),
      /Emoji \?\?\?, \?\?, \?mega, naïve fim, “aspas” – e travessão,/,
    );
  });

  test('a recipient abroad has its own kind of document', () => {
    const page = pageOf('abroad');
    for (const line of ['ID. ESTRANGEIRO', 'PASS-998877', 'EXTERIOR - ALEMANHA', 'Musterstraße, 1'])
      assert.ok(hasLine(page, line), line);
  });

  test('blocks that only some notes have', () => {
    const page = pageOf('everything there is');
    for (const text of [
      'LOCAL DE RETIRADA',
      'AB.12C.D34/0001-84',
      'LOCAL DE ENTREGA',
      'Niterói',
      'FAT-77',
      '1.300.000,00',
      'CÁLCULO DO ISSQN',
      '25,02',
      'Inf. fisco: Texto de interesse do fisco.',
      'Primeira linha.',
      'Segunda linha com “aspas”, travessão – e € 10.',
      'Vendedor: Fulano Inventado',
      'Lacres: LACRE-1; LACRE-2; LACRE-3',
      'Reboques: REB0Q11 SP; REB0Q22 PR',
      'Pedido: PED-1; Contrato: CONTRATO-2; Nota de empenho: EMPENHO-3',
      'FARDOS',
    ]) {
      assert.ok(hasLine(page, text), text);
    }
  });
});

describe('long notes', () => {
  test('120 installments: each once', () => {
    const page = pageOf('120 installments');
    for (const { nDup, vDup } of INSTALLMENTS) {
      assert.equal(page.split(`\n${nDup}   `).length, 2, nDup);
      assert.ok(page.includes(`   ${brazilian(vDup)}`), vDup);
    }
  });

  test('5,000 characters of remark: each word, upright and across', () => {
    for (const name of ['5,000 characters of remark', 'across, long remark']) {
      const page = pageOf(name).replaceAll('\n', ' ');
      for (const mark of LONG_REMARK.match(/marca\d\d/g) ?? [])
        assert.equal(page.split(mark).length, 2, `${name}: ${mark}`);
    }
  });

  test('a remark without any blank is broken and complete', () => {
    const letters = [...pageOf('remark without a blank')].filter((letter) => letter === 'B').length;
    const without = [...pageOf('41 items')].filter((letter) => letter === 'B').length;
    assert.ok(letters >= 4998 && letters < 4998 + without, `${letters} letters B`);
  });

  test('long words, foreign letters, 120 installments and 5,000 characters of remark at once: each letter', () => {
    const page = pageOf('everything that is too long');
    const flowing = page.replaceAll('\n', ' ');
    for (const { nDup } of INSTALLMENTS) assert.equal(page.split(`\n${nDup}   `).length, 2, nDup);
    for (const mark of LONG_REMARK.match(/marca\d\d/g) ?? []) assert.equal(page.split(mark).length, 2, mark);
    assert.equal(page.match(/^X+$/gm)?.join('').length, 120);
    assert.match(flowing, /Emoji \?\?\?, \?\?, \?mega/);
  });

  test('every sheet repeats issuer, key, protocol and registrations', () => {
    for (const sheet of sheetsOf(caseNamed('41 items'))) {
      const page = wordsOf(sheet);
      for (const text of [
        'Vendedora Inventada de Ferragens e',
        '135260000004711 - 02/12/2026 22:57:07',
        '0043763020020',
        'SÉRIE 007',
      ]) {
        assert.ok(hasLine(page, text), text);
      }
    }
  });
});

describe('what a note is worth', () => {
  const marks = (name: string) =>
    sheetsOf(caseNamed(name)).map((sheet) =>
      textsOf(sheet)
        .filter(({ isSlanted }) => isSlanted)
        .map(({ text }) => text),
    );

  test('nothing across an authorized one', () => assert.deepEqual(marks('one item'), [[]]));
  test('one of the test environment', () => assert.deepEqual(marks('test environment'), [['SEM VALOR FISCAL']]));
  test('a denied one', () => {
    assert.deepEqual(marks('denied'), [['DENEGADA']]);
    assert.match(pageOf('denied'), /^PROTOCOLO DE DENEGAÇÃO DE USO$/m);
  });
  test('one that nobody has authorized', () => {
    assert.deepEqual(marks('without protocol'), [['SEM VALOR FISCAL']]);
    assert.match(pageOf('without protocol'), /^SEM PROTOCOLO DE AUTORIZAÇÃO$/m);
  });
  test('a cancelled one, with the cancellation’s protocol', () => {
    assert.deepEqual(marks('cancelled'), [['CANCELADA']]);
    const page = pageOf('cancelled').replaceAll('\n', ' ');
    assert.match(page, /NOTA FISCAL CANCELADA EM 03\/12\/2026 08:01:02 PROTOCOLO 135260000009999/);
  });
  test('both at once', () =>
    assert.deepEqual(marks('test and cancelled, across'), [['CANCELADA', 'SEM VALOR FISCAL']]));
  test('contingency is said, and since when and why', () => {
    assert.deepEqual(marks('EPEC'), [[]]);
    assert.match(pageOf('EPEC'), /^EMITIDA EM CONTINGÊNCIA \(EPEC\)$/m);
    assert.match(pageOf('EPEC'), /Entrada em contingência: 02\/12\/2026 14:00:00 - Sem comunicação com a Sefaz/);
  });
  test('on security paper: pending, with the data of the second barcode', () => {
    const page = pageOf('security paper, not yet authorized');
    assert.match(page.replaceAll('\n', ' '), /EMITIDA EM CONTINGÊNCIA \(FS-DA\) - PENDENTE DE AUTORIZAÇÃO/);
    assert.match(page, /^3552 0212 2230 0012 0000 0012 3456 7891 202\d$/m);
  });
});
