import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DocumentKind } from '../../src/model/document.js';
import { PdfFailed } from '../../src/pdf/index.js';
import { layOut, printPdf } from '../../src/pdf/print.js';
import { makeFreight } from '../../src/simulator/documents/cte/freight.js';
import { procCte as simulatedCte } from '../../src/simulator/documents/cte/proc-cte.js';
import { makeCast } from '../../src/simulator/documents/note.js';
import { knownPerson } from '../../src/simulator/documents/people.js';
import { noteKey, procCte, sampleCte, sampleCteOs, TAKER } from './cte-sample.js';
import { DACTE_CASES, LETTER_CHANGES } from './dacte-cases.js';
import { outsideOf, overlapsOn, textsOf, wordsOf } from './layout-text.js';
import { BUYER } from './nfe-sample.js';
import type { OtherCase } from './other-cases.js';

const sheetsOf = ({ kind, xml, situation }: Pick<OtherCase, 'kind' | 'xml' | 'situation'>) =>
  layOut({ kind, xml: Buffer.from(xml), situation }).sheets;

function caseNamed(name: string): OtherCase {
  const found = DACTE_CASES.find((each) => each.name === `CT-e: ${name}`);
  if (found === undefined) throw new Error(`no case ${name}`);
  return found;
}

const pageOf = (name: string) => sheetsOf(caseNamed(name)).map(wordsOf).join('\n');
const keysOn = (page: string) =>
  [...page.matchAll(/\b\d{4}(?: [0-9A-Z]{4}){10}\b|\b\d{6}[0-9A-Z]{12}\d{26}\b/g)].map(String);
const withoutBlanks = (keys: readonly string[]) => keys.map((key) => key.replaceAll(' ', ''));

describe('a DACTE of any CT-e', () => {
  for (const each of DACTE_CASES) {
    test(`${each.name}: as many sheets as needed, each numbered, nothing over anything else`, () => {
      const sheets = sheetsOf(each);
      assert.equal(sheets.length, each.sheets);
      sheets.forEach((sheet, index) => {
        assert.match(wordsOf(sheet), new RegExp(`^(FOLHA )?${index + 1}/${sheets.length}$`, 'm'));
        assert.deepEqual(overlapsOn(sheet), []);
        assert.deepEqual(outsideOf(sheet), []);
      });
    });

    test(`${each.name}: what it says, and no trace of a missing value`, () => {
      const page = sheetsOf(each).map(wordsOf).join('\n');
      for (const text of each.texts) assert.ok(page.replaceAll('\n', ' ').includes(text), text);
      assert.doesNotMatch(page, /undefined|\bNaN\b|\bnull\b|\[object|Invalid/);
    });

    test(`${each.name}: no number that is not in the XML`, () => {
      const digits = (each.xml + JSON.stringify(each.situation)).replace(/[.:T-]/g, '').replace(/\D+/g, ' ');
      for (const { text } of sheetsOf(each).flatMap(textsOf)) {
        if (/^(FOLHA )?\d+\/\d+$|^\d - (NORMAL|FERROVIA)|PI965|^UN M3$/.test(text)) continue;
        for (const [number] of text.matchAll(/\d(?:[\d.,:/-]*\d)?/g))
          assert.ok(isKnown(number, digits), `"${number}" of "${text}"`);
      }
    });

    test(`${each.name}: every access key of the XML`, () => {
      const written = new Set(
        withoutBlanks(keysOn(each.xml.replace(/qrCodCTe>.*<\/qrCodCTe/, '').replace(/Id="[^"]*"/, ''))),
      );
      const printed = new Set(withoutBlanks(keysOn(sheetsOf(each).map(wordsOf).join('\n'))));
      assert.deepEqual(
        [...written].filter((key) => !printed.has(key)),
        [],
      );
    });
  }
});

/** Whether a printed number stands in the XML: its digits alone, a date turned round, or without the zeros of a padded number. */
function isKnown(printed: string, digits: string): boolean {
  const [, day, month, year] = /^(\d\d)\/(\d\d)\/(\d{4})$/.exec(printed) ?? [];
  const plain = year === undefined ? printed.replace(/\D/g, '') : `${year}${month}${day}`;
  return digits.includes(plain) || digits.includes(plain.replace(/^0+(?=\d)/, ''));
}

describe('lists of any length', () => {
  const numbers = (count: number) => Array.from({ length: count }, (_, at) => noteKey(at + 1));

  test('2,000 NF-e: each once and in order, over the sheets that they need', () => {
    const sheets = sheetsOf(caseNamed('2,000 notes'));
    const notes = numbers(2000);
    assert.deepEqual(
      withoutBlanks(keysOn(sheets.map(wordsOf).join('\n'))).filter((key) => notes.includes(key)),
      notes,
    );
    // The first sheet has everything else, and not only the beginning of the list.
    const [first] = sheets;
    assert.ok(first);
    assert.match(wordsOf(first), /OBSERVAÇÕES[\s\S]*DADOS ESPECÍFICOS DO MODAL RODOVIÁRIO/);
  });

  test('deliveries of a CT-e Simplificado: each with its notes', () => {
    const page = pageOf('simplified, 999 deliveries');
    assert.deepEqual(
      withoutBlanks(keysOn(page)).filter((key) => key.slice(20, 22) === '55'),
      numbers(999),
    );
    for (const price of ['101,50', '600,50', '1.099,50'])
      assert.equal(page.split('\n').filter((line) => line === price).length, 2, price);
    const ofOne = withoutBlanks(keysOn(pageOf('simplified, 2,000 notes of one delivery'))).filter(
      (key) => key.slice(20, 22) === '55',
    );
    assert.deepEqual([...ofOne].sort(), [...numbers(2000)].sort());
  });

  test('every correction of a letter, in order', () => {
    const page = pageOf('80 corrections');
    const printed = [...page.matchAll(/^novo valor \d+, por extenso para a amostra$/gm)].map(String);
    assert.deepEqual(
      printed,
      LETTER_CHANGES.map(({ valorAlterado }) => valorAlterado),
    );
  });
});

describe('what stands where', () => {
  const page = (cte: Parameters<typeof procCte>[0], kind: DocumentKind = 'procCTe') =>
    sheetsOf({
      kind,
      xml: procCte(cte, { element: kind === 'procCTeOS' ? 'CTeOS' : 'CTe' }),
      situation: { state: 'authorized' },
    })
      .map(wordsOf)
      .join('\n')
      .split('\n');
  const takerIn = (lines: readonly string[]) => lines[lines.indexOf('TOMADOR') + 1];

  test('who pays is who the code points to, and nobody else', () => {
    const withTaker = (ide: object) => ({ ...sampleCte(), ide: { ...sampleCte().ide, toma3: undefined, ...ide } });
    const names = ['Remetente Inventada de Ferragens Ltda', 'Destinatária Fictícia S.A.'];
    assert.equal(takerIn(page(withTaker({ toma3: { toma: '0' } }))), names[0]);
    assert.equal(takerIn(page(withTaker({ toma03: { toma: '3' } }))), names[1]);
    assert.equal(takerIn(page(withTaker({ toma4: { toma: '4', ...TAKER } }))), 'Tomadora Imaginária Comércio Ltda');
    // There is no dispatcher: the box stays empty.
    assert.equal(takerIn(page(withTaker({ toma3: { toma: '1' } }))), 'CNPJ / CPF');
    assert.equal(takerIn(page(sampleCteOs(), 'procCTeOS')), 'Tomadora Imaginária Comércio Ltda');
  });

  test('what the document does not have has no box', () => {
    const lines = page({ ...sampleCte(), imp: {}, compl: undefined });
    for (const label of [
      'EXPEDIDOR',
      'RECEBEDOR',
      'CST / cClassTrib DO IBS E DA CBS',
      'PREVISÃO DO FLUXO DA CARGA',
      'CT-e GLOBALIZADO',
    ]) {
      assert.ok(!lines.includes(label), label);
    }
  });

  test('with a reduction the effective rate is printed', () => {
    const taxes = pageOf('taxes of all kinds').split('\n');
    assert.ok(taxes.includes('0,04%') && !taxes.includes('0,10%'));
  });

  test('a person is transported without a receipt for goods', () => {
    assert.doesNotMatch(pageOf('OS'), /DECLARO QUE RECEBI/);
    assert.match(pageOf('road'), /DECLARO QUE RECEBI/);
  });

  test('marks across the sheet', () => {
    const slanted = (name: string) =>
      sheetsOf(caseNamed(name))
        .flatMap(textsOf)
        .filter(({ isSlanted }) => isSlanted)
        .map(({ text }) => text);
    assert.deepEqual(slanted('road'), []);
    assert.deepEqual(slanted('cancelled'), ['CANCELADO']);
    assert.deepEqual(slanted('replaced'), ['SUBSTITUÍDO']);
    assert.deepEqual(slanted('test environment'), ['SEM VALOR FISCAL']);
    assert.deepEqual(slanted('without protocol'), ['SEM VALOR FISCAL']);
    // EPEC, authorized since: as good as any.
    assert.deepEqual(slanted('contingency'), []);
    assert.deepEqual(slanted('refused correction letter'), ['SEM VALOR FISCAL']);
  });

  test('a cancelled one whose protocol is not here is cancelled, not without authorization', () => {
    const xml = Buffer.from(procCte(sampleCte(), { protocol: null }));
    const { sheets } = layOut({ kind: 'procCTe', xml, situation: { state: 'cancelled' } });
    const slanted = sheets.flatMap(textsOf).filter(({ isSlanted }) => isSlanted);
    assert.deepEqual(
      slanted.map(({ text }) => text),
      ['CANCELADO'],
    );
    assert.doesNotMatch(sheets.map(wordsOf).join(), /SEM PROTOCOLO/);
  });

  test('a denied CT-e of an old layout', () => {
    const xml = procCte(sampleCte(), { protocol: { cStat: '302' } });
    const lines = sheetsOf({ kind: 'procCTe', xml, situation: { state: 'denied' } })
      .map(wordsOf)
      .join('\n')
      .split('\n');
    for (const line of ['DENEGADO', 'USO DENEGADO - SEM VALOR FISCAL', 'PROTOCOLO DE DENEGAÇÃO DE USO'])
      assert.ok(lines.includes(line), line);
  });

  test('the same document gives the same bytes', async () => {
    const { kind, xml, situation } = caseNamed('road');
    const print = () => printPdf({ kind, xml: Buffer.from(xml), situation });
    assert.deepEqual(await print(), await print());
  });
});

describe('other documents', () => {
  const failureOf = (xml: string, kind: DocumentKind) => {
    try {
      sheetsOf({ kind, xml, situation: { state: 'unknown' } });
      return 'a page';
    } catch (error) {
      return error instanceof PdfFailed ? error.failure : error instanceof Error ? error.name : 'unknown';
    }
  };

  test('are refused, each with its reason', () => {
    const good = procCte(sampleCte());
    assert.equal(failureOf(good, 'procGTVe'), 'NoPdf');
    assert.equal(failureOf(procCte(sampleCte(), { element: 'GTVe' }), 'procCTe'), 'other_document');
    assert.equal(failureOf('<cteProc/>', 'procCTe'), 'other_document');
    assert.equal(failureOf('<cteProc><CTe/></cteProc>', 'procCTe'), 'other_document');
    assert.equal(failureOf('<nfeProc><NFe><infNFe/></NFe></nfeProc>', 'procCTe'), 'other_document');
    assert.equal(failureOf(good, 'procEventoCTe'), 'other_document');
    assert.equal(failureOf(good.slice(0, -30), 'procCTe'), 'unreadable');
    const { xml } = caseNamed('correction letter');
    assert.equal(failureOf(xml, 'procEventoNFe'), 'other_document');
    assert.equal(failureOf(xml.replaceAll('110110', '110111'), 'procEventoCTe'), 'NoPdf');
  });

  test('a protocol of another CT-e would make it look authorized', () => {
    assert.equal(failureOf(procCte(sampleCte(), { protocol: { key: noteKey(1) } }), 'procCTe'), 'contradiction');
  });

  test('a form under the root of another one, or without any, is printed as what it is', () => {
    const simplified = caseNamed('simplified').xml;
    const astray = simplified.replaceAll('cteSimpProc', 'cteProc');
    assert.deepEqual(
      sheetsOf({ kind: 'procCTe', xml: astray, situation: { state: 'authorized' } }).map(wordsOf),
      sheetsOf(caseNamed('simplified')).map(wordsOf),
    );
    const alone = procCte(sampleCte())
      .replace(/^.*?<CTe>/s, '<CTe>')
      .replace(/<protCTe.*$/s, '');
    assert.equal(failureOf(alone, 'procCTe'), 'a page');
  });
});

describe('CT-e of the simulator, valid by the official schemas', () => {
  const cast = makeCast('dacte', knownPerson('dacte', BUYER, 'Compradora Fictícia S.A.', 'SP'), '1');
  const forms = [
    ['procCTe', 'CTe', '4.00'],
    ['procCTe', 'CTe', '3.00'],
    ['procCTe', 'CTe', '2.00'],
    ['procCTeOS', 'CTeOS', '4.00'],
    ['procCTeSimp', 'CTeSimp', '4.00'],
  ] as const;
  for (const [kind, form, layout] of forms) {
    test(`${form} ${layout}: 20 of them, each with its keys and its price`, () => {
      for (let index = 0; index < 20; index++) {
        const freight = makeFreight(cast, { index, form, role: 'taker', receivedAt: Date.UTC(2026, 10, 30, 12) });
        const sheets = sheetsOf({ kind, xml: simulatedCte(freight, layout), situation: { state: 'authorized' } });
        const page = sheets.map(wordsOf).join('\n').replaceAll(/[\n ]/g, '');
        for (const key of [freight.key, ...(form === 'CTeOS' ? [] : freight.nfeKeys)])
          assert.ok(page.includes(key), key);
        assert.ok(page.includes(freight.taker.name.replaceAll(' ', '')));
        for (const sheet of sheets) assert.deepEqual([...overlapsOn(sheet), ...outsideOf(sheet)], []);
      }
    });
  }
});
