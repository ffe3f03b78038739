import { amount, date, inGroups, joined, labelled, quantity, taxId } from '../kit/formats.js';
import type { Align } from '../kit/sheet.js';
import type { XmlNode } from '../kit/xml-node.js';
import { readComponents } from './cargo.js';
import { coded, meaning, PREVIOUS_PAPERS } from './codes.js';
import { about, details, keyLine, named, origins } from './documents.js';

/** What a CT-e has any number of. */
export type List = Grid | Records;

/** Short texts that stand beside each other in as many columns as the sheet has room for. */
export interface Grid {
  readonly title: string;
  /** Each entry's lines. */
  readonly entries: readonly (readonly string[])[];
}

export interface Records {
  readonly title: string;
  readonly columns: readonly RecordColumn[];
  /** Rows of cells of lines. */
  readonly rows: readonly (readonly (readonly string[])[])[];
}

export interface RecordColumn {
  readonly title: string;
  readonly share: number;
  readonly align?: Align;
}

/** Documents and other things that the CT-e names, those that it has. */
export function readLists(xml: XmlNode): List[] {
  const normal = xml.at('infCTeNorm');
  const infDoc = normal.at('infDoc');
  const keys = (title: string, groups: readonly XmlNode[], ...names: string[]): Grid => ({
    title,
    entries: groups.map((group) => [
      keyLine('CT-e', names.map((name) => group.text(name)).find((key) => key !== '') ?? ''),
    ]),
  });
  return [
    // Layout 1.04 had the documents with the sender.
    { title: 'DOCUMENTOS ORIGINÁRIOS', entries: [infDoc, xml.at('rem')].flatMap(origins) },
    deliveries(xml.all('det')),
    containers(normal.at('infModal/aquav').all('detCont')),
    {
      title: 'DOCUMENTOS REFERENCIADOS',
      entries: [
        ...normal.all('infDocRef').map(reference),
        ...[normal.text('refCTeCanc')].filter((key) => key !== '').map((key) => [keyLine('CT-e cancelado', key)]),
      ],
    },
    { title: 'GTV-e RELACIONADAS', entries: normal.all('infGTVe').map(valuesGuide) },
    previous(normal.at('docAnt').all('emiDocAnt')),
    keys('CT-e COMPLEMENTADOS', [...xml.all('infCteComp'), ...xml.all('infCTeComp')], 'chCTe', 'chave'),
    keys('CT-e MULTIMODAL VINCULADOS', normal.at('infServVinc').all('infCTeMultimodal'), 'chCTeMultimodal'),
  ].filter((list) => ('entries' in list ? list.entries : list.rows).length > 0);
}

/** CT-e Simplificado: each delivery with its documents. */
function deliveries(groups: readonly XmlNode[]): Records {
  return documentTable(
    'ENTREGAS / PRESTAÇÕES',
    [
      { title: 'Nº', share: 20, align: 'center' },
      { title: 'ORIGEM - DESTINO E COMPONENTES DO VALOR', share: 126 },
      { title: 'VALOR DO\nSERVIÇO', share: 46, align: 'right' },
      { title: 'VALOR A\nRECEBER', share: 46, align: 'right' },
    ],
    groups.map((det) => ({
      says: [
        [det.attribute('nItem')],
        [
          joined([det.text('xMunIni'), det.text('xMunFim')], ' - '),
          joined(
            readComponents(det).map(({ name, value }) => labelled(name, value)),
            '; ',
          ),
        ],
        [amount(det.text('vPrest'))],
        [amount(det.text('vRec'))],
      ],
      documents: [
        ...det.all('infNFe').map((nfe) => [inGroups(nfe.text('chNFe')), ...about(nfe)]),
        ...det.all('infDocAnt').map(partOf),
      ],
    })),
  );
}

/** A previous CT-e; of one that goes on only in part, the NF-e that do. */
function partOf(document: XmlNode): string[] {
  const parts = document.all('infNFeTranspParcial').map((part) => keyLine('NF-e', part.text('chNFe')));
  return [keyLine('CT-e', document.text('chCTe')), ...parts];
}

/** By water: what is in which container. */
function containers(groups: readonly XmlNode[]): Records {
  return documentTable(
    'CONTAINERS',
    [
      { title: 'CONTAINER', share: 90 },
      { title: 'LACRES', share: 105 },
    ],
    groups.map((container) => ({
      says: [
        [container.text('nCont')],
        [
          joined(
            container.all('lacre').map((seal) => seal.text('nLacre')),
            ', ',
          ),
        ],
      ],
      documents: [
        ...container
          .at('infDoc')
          .all('infNFe')
          .map((nfe) => [
            keyLine('NF-e', nfe.text('chave')),
            ...details([named('rateio', quantity(nfe.text('unidRat')))]),
          ]),
        ...container
          .at('infDoc')
          .all('infNF')
          .map((nf) => [
            joined(['NF', named('série', nf.text('serie')), named('nº', nf.text('nDoc'))], ' '),
            ...details([named('rateio', quantity(nf.text('unidRat')))]),
          ]),
      ],
    })),
  );
}

/** Carriers before this one and their documents. */
function previous(groups: readonly XmlNode[]): Records {
  return documentTable(
    'DOCUMENTOS ANTERIORES',
    [{ title: 'EMITENTE', share: 195 }],
    groups.map((issuer) => {
      const taxIds = taxId(issuer.text('CNPJ') || issuer.text('CPF'));
      return {
        says: [[issuer.text('xNome'), joined([taxIds, labelled('IE', issuer.text('IE')), issuer.text('UF')], ' - ')]],
        documents: issuer
          .all('idDocAnt')
          .flatMap((group) => [
            ...group
              .all('idDocAntEle')
              .map((document) => [keyLine('CT-e', document.text('chCTe') || document.text('chave'))]),
            ...group.all('idDocAntPap').map(previousPaper),
          ]),
      };
    }),
  );
}

function previousPaper(paper: XmlNode): string[] {
  const series = joined([paper.text('serie'), paper.text('subser')], '-');
  const kind = meaning(paper.text('tpDoc'), PREVIOUS_PAPERS);
  return [joined([kind, named('série', series), named('nº', paper.text('nDoc')), date(paper.text('dEmi'))], ' ')];
}

interface Owner {
  /** Its cells. */
  readonly says: readonly (readonly string[])[];
  readonly documents: readonly (readonly string[])[];
}

/** Documents that share a row; more of them take further rows, so that a sheet may end between any two. */
const IN_A_ROW = 20;
const DOCUMENT = 180;

/** What has documents of its own, and they in as many columns as it takes: one or two. */
function documentTable(title: string, columns: readonly RecordColumn[], owners: readonly Owner[]): Records {
  const count = owners.some(({ documents }) => documents.length > 1) ? 2 : 1;
  // Aligned, hence values: they shrink rather than break.
  const column: RecordColumn = { title: 'DOCUMENTOS (CHAVES DE ACESSO)', share: DOCUMENT, align: 'left' };
  return {
    title,
    columns: [...columns, ...Array.from({ length: count }, () => column)],
    rows: owners.flatMap(({ says, documents }) =>
      chunks(documents, IN_A_ROW).map((chunk, at) => [
        // Whose they are stands there once.
        ...(at === 0 ? says : says.map(() => [])),
        ...Array.from({ length: count }, (_, nth) => chunk.filter((_, index) => index % count === nth).flat()),
      ]),
    ),
  };
}

/** CT-e OS: a document on paper, or the key of a passage with luggage. */
function reference(group: XmlNode): string[] {
  if (group.text('chBPe') !== '') return [keyLine('BP-e', group.text('chBPe'))];
  return [
    joined(
      ['Documento', group.text('nDoc'), named('série', joined([group.text('serie'), group.text('subserie')], '-'))],
      ' ',
    ),
    ...details([date(group.text('dEmi')), named('valor', amount(group.text('vDoc')))]),
  ];
}

function valuesGuide(group: XmlNode): string[] {
  return [
    keyLine('GTV-e', group.text('chCTe')),
    ...details(
      group
        .all('Comp')
        .map((component) =>
          labelled(
            component.text('xComp') || coded(component.text('tpComp'), VALUE_COMPONENTS),
            amount(component.text('vComp')),
          ),
        ),
    ),
  ];
}

const VALUE_COMPONENTS = new Map([
  ['1', 'Custódia'],
  ['2', 'Embarque'],
  ['3', 'Tempo de espera'],
  ['4', 'Malote'],
  ['5', 'Ad valorem'],
  ['6', 'Outros'],
]);

/** At least one chunk, be it empty. */
function chunks<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.max(1, Math.ceil(all.length / size)) }, (_, at) =>
    all.slice(at * size, (at + 1) * size),
  );
}
