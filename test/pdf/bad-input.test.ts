import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { NoPdf, PdfFailed } from '../../src/pdf/index.js';
import { layOut } from '../../src/pdf/print.js';
import { sharedFile } from '../support/shared.js';
import { anyEdits, withEdits } from './edits.js';
import { outsideOf, overlapsOn, wordsOf } from './layout-text.js';
import { type NoteParts, procNfe, sampleItem, sampleKey, sampleNote, type Xml } from './nfe-sample.js';
import { correctionLetterXml } from './other-cases.js';

const sheetsOf = (xml: string | Uint8Array, kind: 'procNFe' | 'procEventoNFe' = 'procNFe') =>
  layOut({ kind, xml: Buffer.from(xml), situation: { state: 'unknown' } }).sheets;

function assertReadable(xml: string, kind: 'procNFe' | 'procEventoNFe' = 'procNFe'): void {
  for (const sheet of sheetsOf(xml, kind)) {
    assert.doesNotMatch(wordsOf(sheet), /undefined|\bNaN\b|\bnull\b|\[object/);
    assert.deepEqual(overlapsOn(sheet), []);
    assert.deepEqual(outsideOf(sheet), []);
  }
}

const full: NoteParts = {
  ...sampleNote({ items: 3, allTaxes: true, reform: true }),
  cobr: { fat: { nFat: '1', vOrig: '1.00' }, dup: [{ nDup: '001', dVenc: '2026-12-15', vDup: '1.00' }] },
};

describe('a note with parts missing', () => {
  const without = (...names: string[]): NoteParts =>
    Object.fromEntries(Object.entries(full).filter(([name]) => !names.includes(name))) as NoteParts;

  for (const names of [
    ['dest'],
    ['emit'],
    ['det'],
    ['total'],
    ['transp'],
    ['pag'],
    ['infAdic'],
    ['cobr'],
    ['ide'],
    ['dest', 'emit', 'det', 'total', 'transp', 'ide'],
  ]) {
    test(`without ${names.join(', ')}`, () => assertReadable(procNfe(without(...names))));
  }

  test('without addresses, taxes, protocol', () => {
    const bare = { ...full, emit: { xNome: 'Só um nome' }, dest: { CNPJ: '' }, det: [{ prod: { xProd: 'Só isto' } }] };
    assertReadable(procNfe(bare as unknown as NoteParts, null));
  });

  test('with empty elements', () => {
    const empty = {
      ...full,
      transp: { modFrete: '', transporta: '', vol: ['', ''], veicTransp: '' },
      retirada: '',
      entrega: '',
    };
    assertReadable(procNfe(empty as unknown as NoteParts));
  });

  test('any part taken away, emptied or filled with nonsense: still a page, or a clear error', () => {
    fc.assert(
      fc.property(anyEdits, (edits) => {
        const note = withEdits(full, edits);
        const safe: Xml = { ...(note as object), '@Id': full['@Id'] };
        assertReadable(procNfe(safe));
      }),
      { numRuns: 150 },
    );
  });
});

describe('a note that is too much', () => {
  const ends: [string, NoteParts][] = [
    [
      '5,000 volumes',
      { ...full, transp: { vol: Array.from({ length: 5000 }, (_, at) => ({ qVol: String(at), esp: 'CX' })) } },
    ],
    [
      '2,000 installments',
      { ...full, cobr: { dup: Array.from({ length: 2000 }, () => ({ nDup: '1', vDup: '1.00' })) } },
    ],
    ['400,000 characters of remark', { ...full, infAdic: { infCpl: 'uma palavra '.repeat(33_000) } }],
    [
      'an item of 100,000 characters',
      { ...full, det: [{ ...sampleItem(1), infAdProd: 'uma palavra '.repeat(8_000) }, sampleItem(2)] },
    ],
    [
      '500 lots of one item',
      {
        ...full,
        det: [{ prod: { cProd: 'A', rastro: Array.from({ length: 500 }, (_, at) => ({ nLote: String(at) })) } }],
      },
    ],
    [
      'names of 5,000 characters',
      {
        ...full,
        emit: { xNome: 'N'.repeat(5000), enderEmit: { xLgr: 'rua '.repeat(900) } },
        dest: { xNome: 'W'.repeat(5000) },
      },
    ],
    ...['nNF', 'serie', 'tpNF'].map((name): [string, NoteParts] => [
      `400 letters for ${name}`,
      { ...full, ide: { ...(full.ide as object), [name]: 'X'.repeat(400) } },
    ]),
  ];
  for (const [name, note] of ends) test(name, () => assertReadable(procNfe(note)));

  test('a long item is divided over sheets and complete', () => {
    const words = Array.from({ length: 8000 }, (_, at) => `p${at}`);
    const note = { ...full, det: [{ ...sampleItem(1), infAdProd: words.join(' ') }, sampleItem(2)] };
    const printed = sheetsOf(procNfe(note))
      .map(wordsOf)
      .join('\n')
      .split(/\s/)
      .filter((word) => /^p\d+$/.test(word));
    assert.deepEqual(printed, words);
  });

  test('all volumes are there', () => {
    const page = sheetsOf(procNfe(ends[0]?.[1] ?? full))
      .map(wordsOf)
      .join('\n');
    assert.equal(page.match(/^CX$/gm)?.length, 5000 + 3);
  });
});

describe('no document, or another one', () => {
  const failure = (xml: string | Uint8Array, kind?: 'procNFe' | 'procEventoNFe') => {
    try {
      sheetsOf(xml, kind);
      return 'a page';
    } catch (error) {
      if (error instanceof PdfFailed) return error.failure;
      if (error instanceof NoPdf) return 'no pdf';
      throw error;
    }
  };
  const good = procNfe(full);
  const entities = '<!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;&b;">]>';

  test('bytes that are no XML', () => {
    for (const xml of ['', '   ', 'hello', '<', '<a>', '<a></b>', good.slice(0, -40), `${good}<b/>`]) {
      assert.equal(failure(xml), 'unreadable', xml.slice(0, 20));
    }
  });
  test('a DOCTYPE, entities, too deep, too large', () => {
    assert.equal(failure(`${entities}<nfeProc>&c;</nfeProc>`), 'unreadable');
    assert.equal(failure('<!DOCTYPE a SYSTEM "file:///etc/hostname"><a/>'), 'unreadable');
    assert.equal(failure(`<a>${'<b>'.repeat(200)}${'</b>'.repeat(200)}</a>`), 'unreadable');
    assert.equal(failure(Buffer.alloc(11 * 1024 * 1024, 0x20)), 'unreadable');
  });
  test('another kind of document', () => {
    for (const xml of ['<cteProc/>', '<resNFe/>', '<nfeProc/>', '<procEventoNFe/>'])
      assert.equal(failure(xml), 'other_document');
    assert.equal(failure('<nfeProc/>', 'procEventoNFe'), 'other_document');
    assert.equal(failure(correctionLetterXml({ type: '110111' }), 'procEventoNFe'), 'no pdf');
  });
  test('a protocol of another note would make it look authorized', () => {
    assert.equal(failure(procNfe(full, { key: sampleKey({ emission: '6' }) })), 'contradiction');
  });
  test('a note without its nfeProc, with prefixes, comments, CDATA, in Latin-1', () => {
    const bare = good.replace(/^.*?<NFe>/s, '<NFe>').replace(/<protNFe.*$/s, '');
    assert.equal(failure(bare), 'a page');
    assert.equal(
      failure(good.replaceAll(/<(\/?)(?=[a-zA-Z])/g, '<$1n:').replace('<n:nfeProc', '<n:nfeProc xmlns:n="urn:x"')),
      'a page',
    );
    const odd = good.replace('<natOp>', '<!-- c --><natOp><![CDATA[<Remessa> & ]]>');
    assert.match(sheetsOf(odd).map(wordsOf).join('\n'), /<Remessa> & Venda/);
    const latin1 = Buffer.from(good.replace('UTF-8', 'ISO-8859-1'), 'latin1');
    assert.match(sheetsOf(latin1).map(wordsOf).join('\n'), /Compradora Fictícia Indústria/);
  });
});

describe('the collected cases', () => {
  const folder = sharedFile('cases');
  test('every whole note among them has a page', {
    skip: folder === null && 'the case files are not here (../shared)',
  }, () => {
    const files = readdirSync(folder ?? '').filter((file) => /procnfe|nfeproc/.test(file) && file.endsWith('.xml'));
    assert.ok(files.length >= 5);
    for (const file of files) assertReadable(readFileSync(`${folder}/${file}`, 'utf8'));
  });
});
