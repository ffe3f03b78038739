import { accessKeyParts, isAccessKey } from '../../documents/index.js';
import { NoPdf, PdfFailed } from '../errors.js';
import { code128, drawBars, keyWidth } from '../kit/barcode.js';
import { block, type Field, fieldRow, titleLine } from '../kit/fields.js';
import { flow, type Piece, type Section } from '../kit/flow.js';
import { dateAndTime, documentNumber, inGroups, joined, seriesNumber, taxId } from '../kit/formats.js';
import { textBox } from '../kit/lines.js';
import { A4, mm, Sheet } from '../kit/sheet.js';
import { FORM } from '../kit/style.js';
import type { Printout } from '../kit/to-pdf.js';
import { drawWatermarks } from '../kit/watermark.js';
import type { XmlNode } from '../kit/xml-node.js';
import type { Letter } from './letter.js';
import { sectionTitle } from './title.js';

const CORRECTION_LETTER = '110110';

const MARGIN = mm(10);
const ROOM = A4.width - 2 * MARGIN;
const TITLE = 34;
const SMALL = { font: FORM.regular, size: 8 } as const;

/**
 * A correction letter (CC-e) of an NF-e or a CT-e. No manual prescribes its form; this one has the letters and boxes of the DANFE and the
 * DACTE that it is kept with, and the key as barcode.
 */
export function correctionLetterOf(letter: Letter): (root: XmlNode) => Printout {
  return (root) => printLetter(letter, root);
}

/** @throws {NoPdf} for any other event */
function printLetter(letter: Letter, root: XmlNode): Printout {
  const event = root.at(letter.event);
  if (!event.exists) {
    throw new PdfFailed('other_document', `The document is no event of a ${letter.subject}: it has no ${letter.event}`);
  }
  if (event.text('tpEvento') !== CORRECTION_LETTER) {
    throw new NoPdf(letter.kind, 'Of the events only correction letters (110110) have a printed form');
  }
  const registration = root.at(letter.registration);
  const key = event.text(letter.key);
  if (registration.text(letter.key) !== '' && registration.text(letter.key) !== key) {
    throw new PdfFailed('contradiction', 'The registration is about another document: their keys differ');
  }
  const isValid = event.text('tpAmb') !== '2' && letter.isRegistered(registration.text('cStat'));
  const { sheets } = flow(sectionsOf(letter, event, registration, key), () => ({
    x: MARGIN,
    top: MARGIN + TITLE,
    bottom: A4.height - MARGIN,
  }));
  return {
    title: joined(['Carta de correção', inGroups(key)], ' – '),
    issued: event.text('dhEvento'),
    sheets: sheets.map((drawings, index) => {
      const sheet = new Sheet(A4.width, A4.height);
      drawWatermarks(sheet, isValid ? [] : ['SEM VALOR FISCAL']);
      drawTitle(sheet, letter, `FOLHA ${index + 1}/${sheets.length}`);
      for (const draw of drawings) draw(sheet);
      return sheet;
    }),
  };
}

function drawTitle(sheet: Sheet, { article, subject }: Letter, folio: string): void {
  sheet.text('CARTA DE CORREÇÃO ELETRÔNICA', MARGIN, MARGIN + 12, { font: FORM.bold, size: 14 }, 'center', ROOM);
  sheet.text(`CC-e de ${article} ${subject}`, MARGIN, MARGIN + 24, { font: FORM.regular, size: 9 }, 'center', ROOM);
  sheet.text(folio, MARGIN, MARGIN + 12, { font: FORM.bold, size: 10 }, 'right', ROOM);
}

function sectionsOf(letter: Letter, event: XmlNode, registration: XmlNode, key: string): Section[] {
  const detail = letter.detail(event);
  return [
    { head: () => titleLine(letter.heading, FORM), pieces: [barcode(key), documentRow(key)] },
    block('EVENTO', eventRows(event, detail, registration), ROOM, FORM),
    letter.correction(detail, ROOM),
    textBox(sectionTitle('CONDIÇÕES DE USO'), detail.paragraphs('xCondUso'), ROOM, SMALL),
  ];
}

function barcode(key: string): Piece {
  const bars = code128(key);
  const height = mm(15);
  return {
    height,
    draw(sheet, x, y) {
      sheet.box(x, y, ROOM, height);
      const width = keyWidth(key);
      if (bars) drawBars(sheet, bars, [x + (ROOM - width) / 2, y + mm(2), width, mm(11)]);
    },
  };
}

/** What the key says of the document; the letter itself says no more. */
function documentRow(key: string): Piece {
  const parts = isAccessKey(key) ? accessKeyParts(key) : null;
  return fieldRow(
    [
      { label: 'CHAVE DE ACESSO', value: inGroups(key), share: 5, align: 'center', bold: true },
      { label: 'MODELO', value: parts?.model ?? '', share: 1, align: 'center' },
      { label: 'SÉRIE', value: seriesNumber(parts?.series ?? ''), share: 1, align: 'center' },
      { label: 'NÚMERO', value: documentNumber(parts?.number ?? ''), share: 1.5, align: 'center' },
    ],
    ROOM,
    FORM,
  );
}

function eventRows(event: XmlNode, detail: XmlNode, registration: XmlNode): Field[][] {
  const description = detail.text('descEvento');
  return [
    [
      { label: 'TIPO DE EVENTO', value: joined([event.text('tpEvento'), description], ' - '), share: 3 },
      { label: 'SEQUÊNCIA', value: event.text('nSeqEvento'), share: 1, align: 'center' },
      { label: 'DATA E HORA DO EVENTO', value: dateAndTime(event.text('dhEvento')), share: 2, align: 'center' },
      {
        label: 'CNPJ / CPF DO AUTOR',
        value: taxId(event.text('CNPJ') || event.text('CPF')),
        share: 2,
        align: 'center',
      },
    ],
    [
      {
        label: 'SITUAÇÃO DO REGISTRO',
        value: joined([registration.text('cStat'), registration.text('xMotivo')], ' - '),
        share: 3,
      },
      { label: 'ÓRGÃO', value: event.text('cOrgao'), share: 1, align: 'center' },
      {
        label: 'DATA E HORA DO REGISTRO',
        value: dateAndTime(registration.text('dhRegEvento')),
        share: 2,
        align: 'center',
      },
      { label: 'PROTOCOLO', value: registration.text('nProt'), share: 2, align: 'center', bold: true },
    ],
  ];
}
