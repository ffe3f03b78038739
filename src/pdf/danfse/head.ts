import { drawQr } from '../kit/barcode.js';
import { wrapAll } from '../kit/text-fit.js';
import { BOLD, IDENTIFICATION, NOTHING, REGULAR, row, shown } from './grid.js';
import type { ServiceNote } from './note.js';
import { type Band, COLUMNS, cm, FRAME, heightOf, type Paper, shade, stack } from './paper.js';

/** Title, identification and QR code (NT 008, items 2.4.2 and 2.4.3). */
export function headBands(note: ServiceNote): Band[] {
  return [titleBand(note), identificationBand(note)];
}

const TITLE_BOTTOM = cm(1.48);
const [LEFT, SECOND, , LAST, RIGHT] = COLUMNS;

function titleBand(note: ServiceNote): Band {
  const height = TITLE_BOTTOM - FRAME.top;
  return {
    height,
    draw(paper, y) {
      shade(paper, FRAME.left, y, FRAME.right - FRAME.left, height);
      drawWordmark(paper, y, height);
      const titles = ['DANFSe v2.0', 'Documento Auxiliar da NFS-e'];
      const top = y + (height - (note.isTest ? 33 : 22)) / 2;
      const width = LAST - SECOND;
      titles.forEach((title, index) => {
        paper.ink.text(title, SECOND, top + 8.5 + index * 11, { font: BOLD, size: 9 }, 'center', width);
      });
      if (note.isTest) {
        const warning = { font: BOLD, size: 9, red: true } as const;
        paper.ink.text('NFS-e SEM VALIDADE JURÍDICA', SECOND, top + 30.5, warning, 'center', width);
      }
      drawOrigin(paper, note, y, height);
    },
  };
}

/** In the place of the official logo, which is the government's and is no part of this program. */
function drawWordmark(paper: Paper, y: number, height: number): void {
  const middle = y + height / 2;
  paper.ink.text('NFS-e', LEFT, middle + 7, { font: BOLD, size: 20 });
  paper.ink.text('Nota Fiscal de', LEFT + 64, middle - 1.5, { font: REGULAR, size: 8 });
  paper.ink.text('Serviço Eletrônica', LEFT + 64, middle + 7, { font: REGULAR, size: 8 });
}

function drawOrigin(paper: Paper, note: ServiceNote, y: number, height: number): void {
  const fitting = (text: string, size: number, lines: number) =>
    shown([text], RIGHT - LAST, lines, size).map((line) => ({ text: line, size }));
  const lines = [
    ...(note.city === null ? [] : fitting(`Município: ${note.city || NOTHING}`, 8, 2)),
    ...fitting(`Ambiente Gerador: ${note.generator || NOTHING}`, 6, 1),
    ...fitting(`Tipo de Ambiente: ${note.environment || NOTHING}`, 6, 1),
  ];
  let top = y + (height - lines.reduce((sum, { size }) => sum + size * 1.2, 0)) / 2;
  for (const { text, size } of lines) {
    paper.ink.text(text, LAST, top + size * 0.95, { font: REGULAR, size });
    top += size * 1.2;
  }
}

function identificationBand(note: ServiceNote): Band {
  const { declaration } = note;
  const rows = [
    [{ label: 'CHAVE DE ACESSO DA NFS-E', value: note.key, span: 3 }],
    [
      { label: 'NÚMERO DA NFS-E', value: note.number },
      { label: 'COMPETÊNCIA DA NFS-E', value: note.competence },
      { label: 'DATA E HORA DA EMISSÃO DA NFS-E', value: note.issuedAt },
    ],
    [
      { label: 'NÚMERO DA DPS', value: declaration.number },
      { label: 'SÉRIE DA DPS', value: declaration.series },
      { label: 'DATA E HORA DA EMISSÃO DA DPS', value: declaration.issuedAt },
    ],
    [
      { label: 'EMITENTE DA NFS-E', value: note.emitter, shaded: true as const },
      { label: 'SITUAÇÃO DA NFS-E', value: note.status },
      { label: 'FINALIDADE', value: note.purpose },
    ],
  ].map((cells) => row(cells, 1, IDENTIFICATION));
  return {
    height: heightOf(rows),
    draw(paper, y) {
      stack(paper, rows, y);
      drawLookup(paper, note, y);
    },
  };
}

/** Where anyone can look a note up by its key; notes of the test environment are known only there. */
const LOOKUP = 'https://www.nfse.gov.br/ConsultaPublica/?tpc=1&chave=';
const TEST_LOOKUP = 'https://www.producaorestrita.nfse.gov.br/ConsultaPublica/?tpc=1&chave=';
const QR = { x: cm(17.48), y: cm(1.67), size: cm(1.52) };
const LEGEND =
  'A autenticidade desta NFS-e pode ser verificada pela leitura deste código QR ou pela consulta da chave de acesso no portal nacional da NFS-e';

const KEY = /^[0-9A-Z]{50}$/;

/** Without a key there is nothing to look up, and so no code. */
function drawLookup(paper: Paper, note: ServiceNote, y: number): void {
  if (!KEY.test(note.key)) return;
  const top = y + QR.y - TITLE_BOTTOM;
  drawQr(paper.ink, `${note.isTest ? TEST_LOOKUP : LOOKUP}${note.key}`, QR.x, top, QR.size, 0);
  wrapAll([LEGEND], REGULAR, 6, RIGHT - LAST).forEach((line, index) => {
    const baseline = top + QR.size + 9 + index * 6.8;
    paper.ink.text(line, LAST, baseline, { font: REGULAR, size: 6 }, 'center', RIGHT - LAST);
  });
}
