import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { DocumentKind } from '../../src/model/document.js';
import { layOut } from '../../src/pdf/print.js';
import {
  type CteElement,
  type CteParts,
  cteLetterXml,
  delivery,
  procCte,
  sampleCte,
  sampleCteOs,
  sampleCteSimp,
} from './cte-sample.js';
import { EVERY_MODAL } from './dacte-cases.js';
import { anyEdits, withEdits } from './edits.js';
import { outsideOf, overlapsOn, wordsOf } from './layout-text.js';
import type { Xml } from './nfe-sample.js';

function sheetsOf(xml: string, kind: DocumentKind = 'procCTe') {
  return layOut({ kind, xml: Buffer.from(xml), situation: { state: 'unknown' } }).sheets;
}

function assertReadable(xml: string, kind?: DocumentKind): void {
  for (const sheet of sheetsOf(xml, kind)) {
    assert.doesNotMatch(wordsOf(sheet), /undefined|\bNaN\b|\bnull\b|\[object/);
    assert.deepEqual(overlapsOn(sheet), []);
    assert.deepEqual(outsideOf(sheet), []);
  }
}

const FORMS: readonly (readonly [CteElement, CteParts])[] = [
  ['CTe', sampleCte()],
  ['CTeOS', sampleCteOs()],
  ['CTeSimp', sampleCteSimp([delivery(1, [1, 2]), delivery(2, [3])])],
];

describe('a CT-e with parts missing', () => {
  for (const [element, cte] of FORMS) {
    for (const name of Object.keys(cte).filter((part) => !part.startsWith('@'))) {
      test(`${element} without ${name}, or with nothing in it`, () => {
        assertReadable(procCte({ ...cte, [name]: undefined }, { element }));
        assertReadable(procCte({ ...cte, [name]: '' }, { element, protocol: null, qrCode: null }));
      });
    }
  }

  test('without addresses, names, measures', () => {
    assertReadable(
      procCte({
        ...sampleCte(),
        emit: '',
        rem: { CNPJ: '' },
        dest: { xNome: 'Só um nome' },
        infCTeNorm: { infCarga: { infQ: ['', ''] }, infDoc: { infNFe: ['', {}] }, infModal: { aereo: '' } },
      }),
    );
  });

  test('any part taken away, emptied or filled with nonsense: still a page', () => {
    const all: (readonly [CteElement, CteParts])[] = [...FORMS, ...EVERY_MODAL.map((cte) => ['CTe', cte] as const)];
    fc.assert(
      fc.property(fc.constantFrom(...all), anyEdits, (form, edits) => {
        const [element, cte] = form;
        const edited: Xml = { ...(withEdits(cte, edits) as object), '@Id': cte['@Id'] };
        assertReadable(procCte(edited as CteParts, { element }));
      }),
      { numRuns: 250 },
    );
  });

  test('a letter with parts missing', () => {
    assertReadable(cteLetterXml({ changes: [] }), 'procEventoCTe');
    assertReadable(cteLetterXml({ changes: ['', { valorAlterado: 'x '.repeat(9000) }] }), 'procEventoCTe');
  });
});

describe('a CT-e that is too much', () => {
  const times = (count: number, each: Xml): Xml[] => Array.from({ length: count }, () => each);
  const normal = sampleCte().infCTeNorm as object;
  const ends: [string, CteParts][] = [
    [
      '500 measures',
      {
        ...sampleCte(),
        infCTeNorm: { ...normal, infCarga: { infQ: times(500, { cUnid: '01', tpMed: 'PESO', qCarga: '1.0' }) } },
      },
    ],
    ['900 components', { ...sampleCte(), vPrest: { Comp: times(900, { xNome: 'TAXA', vComp: '1.00' }) } }],
    [
      '40,000 words of remark',
      { ...sampleCte(), compl: { xObs: 'uma palavra '.repeat(20_000), ObsFisco: { xTexto: 'fisco '.repeat(9000) } } },
    ],
    [
      '2,000 new vehicles',
      { ...sampleCte(), infCTeNorm: { ...normal, veicNovos: times(2000, { chassi: '9BW0', cCor: '1' }) } },
    ],
    [
      'a note in 800 containers',
      {
        ...sampleCte(),
        infCTeNorm: {
          ...normal,
          infDoc: { infNFe: { chave: '1', infUnidCarga: times(800, { idUnidCarga: 'AMOU1234567' }) } },
        },
      },
    ],
    [
      '300 carriers before',
      {
        ...sampleCte(),
        infCTeNorm: { ...normal, docAnt: { emiDocAnt: times(300, { xNome: 'Transportadora '.repeat(4) }) } },
      },
    ],
  ];
  for (const [name, cte] of ends) test(name, () => assertReadable(procCte(cte)));

  test('a list and a remark that need a sheet each are complete', () => {
    const words = Array.from({ length: 3000 }, (_, at) => `p${at}`);
    const cte = { ...sampleCte({ notes: 400 }), compl: { xObs: words.join(' ') } };
    const page = sheetsOf(procCte(cte)).map(wordsOf).join('\n');
    assert.deepEqual(
      page.split(/\s/).filter((word) => /^p\d+$/.test(word)),
      words,
    );
    assert.equal(page.match(/^NF-e /gm)?.length, 400);
  });
});
