import type { Item } from '../danfe/item.js';
import { type Note, readNote, titleOf } from '../danfe/note.js';
import { standingOf } from '../danfe/standing.js';
import { drawQr } from '../kit/barcode.js';
import { flow, type Piece } from '../kit/flow.js';
import { inGroups, isSome, joined, labelled } from '../kit/formats.js';
import { pairLine, rule, space, textLines } from '../kit/lines.js';
import { mm, Sheet } from '../kit/sheet.js';
import type { Printout } from '../kit/to-pdf.js';
import { drawWatermarks } from '../kit/watermark.js';
import type { XmlNode } from '../kit/xml-node.js';
import type { Situation } from '../situation.js';
import type { Standing } from '../standing.js';
import { type ConsumerParts, readConsumerParts } from './consumer-parts.js';

/** The roll of a receipt printer, and what it leaves blank at both sides. */
const WIDTH = mm(80);
const MARGIN = mm(3);
const ROOM = WIDTH - 2 * MARGIN;
/** A page of a PDF ends at 200 inches. A receipt longer than a metre and a half goes on on a further one. */
const LONGEST = mm(1500);

const TEXT = { font: 'Helvetica', size: 7 } as const;
const STRONG = { font: 'Helvetica-Bold', size: 7.5 } as const;
const CENTRED = { ...TEXT, align: 'center' } as const;
const HEADING = { ...STRONG, align: 'center' } as const;
/** At least 25 mm; the codes of NFC-e are dense. */
const QR_CODE = mm(45);

/** Whether a note, as root element, is an NFC-e. */
export function isConsumerNote(root: XmlNode): boolean {
  return (root.name === 'NFe' ? root : root.at('NFe')).text('infNFe/ide/mod') === '65';
}

/** DANFE of an NFC-e (model 65): a receipt as long as it needs to be, with the QR code of its XML. */
export function danfeNfce(root: XmlNode, situation: Situation): Printout {
  const note = readNote(root);
  const standing = standingOf(note, situation);
  const pieces = receipt(note, readConsumerParts(root), standing);
  const { sheets, end } = flow([{ pieces }], () => ({ x: MARGIN, top: MARGIN, bottom: LONGEST - MARGIN }));
  return {
    title: titleOf(note),
    issued: note.issued,
    sheets: sheets.map((drawings, index) => {
      const sheet = new Sheet(WIDTH, index === sheets.length - 1 ? end + MARGIN : LONGEST);
      drawWatermarks(sheet, standing.watermarks);
      for (const draw of drawings) draw(sheet);
      return sheet;
    }),
  };
}

function receipt(note: Note, consumer: ConsumerParts, standing: Standing): Piece[] {
  const notices = standing.notices.length === 0 ? [] : [rule(ROOM), ...textLines(standing.notices, ROOM, HEADING)];
  return [
    ...issuerLines(note),
    rule(ROOM),
    ...textLines(['Documento Auxiliar da Nota Fiscal de Consumidor Eletrônica'], ROOM, HEADING),
    ...notices,
    rule(ROOM),
    pairLine('CÓDIGO  DESCRIÇÃO', '', ROOM, STRONG),
    pairLine('QTDE. UN. x VALOR UNIT.', 'VALOR TOTAL', ROOM, STRONG),
    space(2),
    ...note.items.flatMap(itemLines),
    rule(ROOM),
    ...totalLines(note),
    ...paymentLines(consumer),
    rule(ROOM),
    ...textLines(['Consulte pela chave de acesso em', consumer.lookup], ROOM, CENTRED),
    ...textLines([inGroups(note.key)], ROOM, HEADING),
    rule(ROOM),
    ...consumerLines(note),
    rule(ROOM),
    ...textLines([`NFC-e nº ${note.number} Série ${note.series} ${note.issuedOn} ${note.issuedAt}`], ROOM, HEADING),
    ...textLines(
      [
        labelled(protocolLabel(standing), note.protocol.number),
        labelled('Data de autorização', joined([note.protocol.on, note.protocol.at], ' ')),
      ],
      ROOM,
      CENTRED,
    ),
    ...notices,
    ...qrCode(consumer),
    ...(note.remarks.length === 0 ? [] : [rule(ROOM), ...textLines(note.remarks, ROOM, TEXT)]),
  ];
}

function protocolLabel({ protocolLabel: label }: Standing): string {
  return label.charAt(0) + label.slice(1).toLowerCase();
}

function issuerLines({ issuer }: Note): Piece[] {
  return [
    ...textLines([issuer.name], ROOM, { ...HEADING, size: 9 }),
    ...textLines(
      [
        joined([labelled('CNPJ/CPF', issuer.taxId), labelled('IE', issuer.stateRegistration)], '  '),
        joined([issuer.street, issuer.district], ', '),
        joined([joined([issuer.city, issuer.uf], ' - '), labelled('CEP', issuer.postalCode)], '  '),
        labelled('Fone', issuer.phone),
      ],
      ROOM,
      CENTRED,
    ),
  ];
}

function itemLines(item: Item): Piece[] {
  const [name = '', ...details] = item.description;
  return [
    ...textLines([joined([item.code, name], '  ')], ROOM, TEXT),
    ...textLines(details, ROOM, { ...TEXT, size: 6 }),
    pairLine(joined([joined([item.quantity, item.unit], ' '), item.unitPrice], ' x '), item.total, ROOM, TEXT),
    ...(isSome(item.discount) ? [pairLine('Desconto', item.discount, ROOM, TEXT)] : []),
  ];
}

function totalLines({ totals, items }: Note): Piece[] {
  const line = (label: string, value: string) => (value === '' ? [] : [pairLine(`${label} R$`, value, ROOM, TEXT)]);
  const someLine = (label: string, value: string) => (isSome(value) ? line(label, value) : []);
  return [
    pairLine('Qtd. total de itens', String(items.length), ROOM, TEXT),
    ...line('Valor total', totals.vProd),
    ...someLine('Desconto', totals.vDesc),
    ...someLine('Frete', totals.vFrete),
    ...someLine('Seguro', totals.vSeg),
    ...someLine('Outras despesas', totals.vOutro),
    pairLine('VALOR A PAGAR R$', totals.vNF, ROOM, STRONG),
    ...line('CBS', totals.vCBS),
    ...line('IBS UF', totals.vIBSUF),
    ...line('IBS município', totals.vIBSMun),
    ...line('Imposto seletivo', totals.vIS),
    ...line('Tributos totais incidentes (Lei federal 12.741/2012)', totals.vTotTrib),
  ];
}

function paymentLines({ payments, change }: ConsumerParts): Piece[] {
  return [
    ...(payments.length === 0 ? [] : [space(3), pairLine('FORMA DE PAGAMENTO', 'VALOR PAGO R$', ROOM, STRONG)]),
    ...payments.map(({ means, value }) => pairLine(means, value, ROOM, TEXT)),
    ...(isSome(change) ? [pairLine('Troco R$', change, ROOM, TEXT)] : []),
  ];
}

function consumerLines({ recipient }: Note): Piece[] {
  const lines = [
    joined([labelled(recipient.foreign ? 'Id. estrangeiro' : 'CNPJ/CPF', recipient.taxId), recipient.name], '  '),
    joined([recipient.street, recipient.district, joined([recipient.city, recipient.uf], '/')], ', '),
  ].filter((line) => line !== '');
  return lines.length === 0
    ? textLines(['CONSUMIDOR NÃO IDENTIFICADO'], ROOM, HEADING)
    : [...textLines(['CONSUMIDOR'], ROOM, HEADING), ...textLines(lines, ROOM, CENTRED)];
}

function qrCode({ qrCode: text }: ConsumerParts): Piece[] {
  if (text === '') return [];
  return [
    {
      height: QR_CODE,
      draw: (sheet, x, y) => drawQr(sheet, text, x + (ROOM - QR_CODE) / 2, y, QR_CODE),
    },
  ];
}
