import { block, drawLines, type Field, fieldRow, heightOf, titleLine } from '../kit/fields.js';
import type { Piece, Section } from '../kit/flow.js';
import { joined } from '../kit/formats.js';
import { FORM } from '../kit/style.js';
import { fit } from '../kit/text-fit.js';
import type { Installment, Note, Party, Transport, Volume } from './note.js';
import { totalBlocks } from './total-blocks.js';

/** The blocks between the head and the products. Shares are millimetres on paper that stands upright, or lies across. */
export function bodyBlocks(note: Note, width: number): Section[] {
  return [
    recipientBlock(note, width),
    ...placeBlock('LOCAL DE RETIRADA', note.pickup, note, width),
    ...placeBlock('LOCAL DE ENTREGA', note.delivery, note, width),
    ...invoiceBlock(note, width),
    ...totalBlocks(note, width),
    transportBlock(note, width),
  ];
}

function recipientBlock(note: Note, width: number): Section {
  const party = partyFields(note.recipient);
  const issued: Field = { label: 'DATA DA EMISSÃO', value: note.issuedOn, share: 30, align: 'center' };
  const left: Field = { label: 'DATA DA SAÍDA / ENTRADA', value: note.leftOn, share: 30, align: 'center' };
  const leftAt: Field = { label: 'HORA DA SAÍDA / ENTRADA', value: note.leftAt, share: 30, align: 'center' };
  const rows = note.landscape
    ? [
        [{ ...party.name, share: 96 }, party.taxId, { ...party.stateRegistration, share: 40 }, issued, left],
        [party.street, party.district, party.postalCode, { ...party.city, share: 50 }, party.uf, party.phone, leftAt],
      ]
    : [
        [{ ...party.name, share: 120 }, party.taxId, issued],
        [party.street, party.district, party.postalCode, left],
        [party.city, party.phone, party.uf, party.stateRegistration, leftAt],
      ];
  return block('DESTINATÁRIO / REMETENTE', rows, width, FORM);
}

function placeBlock(title: string, place: Party | null, note: Note, width: number): Section[] {
  if (place === null) return [];
  const party = partyFields(place);
  const rows = note.landscape
    ? [
        [{ ...party.name, share: 70 }, party.taxId, party.stateRegistration, party.phone],
        [party.street, party.district, party.city, party.uf, party.postalCode],
      ]
    : [
        [{ ...party.name, share: 96 }, party.taxId, party.stateRegistration],
        [party.street, party.district, party.postalCode],
        [{ ...party.city, share: 140 }, party.uf, party.phone],
      ];
  return [block(title, rows, width, FORM)];
}

function partyFields(party: Party): Record<Exclude<keyof Party, 'foreign'>, Field> {
  return {
    name: { label: 'NOME / RAZÃO SOCIAL', value: party.name, share: 110 },
    taxId: { label: party.foreign ? 'ID. ESTRANGEIRO' : 'CNPJ / CPF', value: party.taxId, share: 46, align: 'center' },
    street: { label: 'ENDEREÇO', value: party.street, share: 96 },
    district: { label: 'BAIRRO / DISTRITO', value: party.district, share: 45 },
    postalCode: { label: 'CEP', value: party.postalCode, share: 25, align: 'center' },
    city: { label: 'MUNICÍPIO', value: party.city, share: 66 },
    uf: { label: 'UF', value: party.uf, share: 12, align: 'center' },
    phone: { label: 'FONE / FAX', value: party.phone, share: 36 },
    stateRegistration: { label: 'INSCRIÇÃO ESTADUAL', value: party.stateRegistration, share: 52 },
  };
}

function invoiceBlock({ invoice, installments, landscape }: Note, width: number): Section[] {
  if (invoice === null && installments.length === 0) return [];
  const total: Piece[] =
    invoice === null
      ? []
      : [
          fieldRow(
            [
              { label: 'NÚMERO DA FATURA', value: invoice.number, share: 2 },
              { label: 'VALOR ORIGINAL', value: invoice.original, share: 1, align: 'right' },
              { label: 'DESCONTO', value: invoice.discount, share: 1, align: 'right' },
              { label: 'VALOR LÍQUIDO', value: invoice.net, share: 1, align: 'right' },
            ],
            width,
            FORM,
          ),
        ];
  const columns = landscape ? 8 : 6;
  const rows = Array.from({ length: Math.ceil(installments.length / columns) }, (_, row) =>
    installmentRow(installments.slice(row * columns, (row + 1) * columns), columns, width),
  );
  return [
    {
      head: () => titleLine(rows.length === 0 ? 'FATURA' : 'FATURA / DUPLICATAS (NÚMERO, VENCIMENTO, VALOR)', FORM),
      pieces: [...total, ...rows],
    },
  ];
}

function installmentRow(installments: readonly Installment[], columns: number, width: number): Piece {
  const cell = width / columns;
  const texts = installments.map(({ number, due, value }) =>
    fit(joined([number, due, value], '   '), FORM.regular, 7.5, 5.5, cell - 4),
  );
  const height = Math.max(...texts.map(heightOf)) + 2.5;
  return {
    height,
    draw(sheet, x, y) {
      texts.forEach((text, index) => {
        const left = x + index * cell;
        sheet.box(left, y, cell, height);
        drawLines(sheet, text, FORM.regular, left + 2, y + (height - heightOf(text)) / 2, cell - 4, 'center');
      });
    },
  };
}

function transportBlock({ transport, landscape }: Note, width: number): Section {
  const fields = transportFields(transport);
  const { name, freight, anttCode, plate, plateUf, taxId, street, city, uf, stateRegistration } = fields;
  const [first = NO_VOLUME, ...others] = transport.volumes;
  const volume = volumeFields(first);
  const rows = landscape
    ? [
        [name, { ...freight, share: 54 }, anttCode, plate, plateUf, taxId, stateRegistration],
        [{ ...street, share: 74 }, { ...city, share: 44 }, uf, ...volume.map((field) => ({ ...field, share: 25 }))],
      ]
    : [[name, freight, anttCode, plate, plateUf, taxId], [street, city, uf, stateRegistration], volume];
  return {
    head: () => titleLine('TRANSPORTADOR / VOLUMES TRANSPORTADOS', FORM),
    pieces: [
      ...rows.map((row) => fieldRow(row, width, FORM)),
      // Further volumes are rows without labels, as in a table.
      ...others.map((other) =>
        fieldRow(
          volumeFields(other).map((field) => ({ ...field, label: '' })),
          width,
          FURTHER_VOLUMES,
        ),
      ),
    ],
  };
}

const NO_VOLUME: Volume = { quantity: '', kind: '', brand: '', numbering: '', gross: '', net: '' };
const FURTHER_VOLUMES = { ...FORM, value: { largest: 8, smallest: 6 }, row: 11 };

function transportFields(transport: Transport): Record<Exclude<keyof Transport, 'volumes'>, Field> {
  return {
    name: { label: 'NOME / RAZÃO SOCIAL', value: transport.name, share: 68 },
    freight: { label: 'FRETE POR CONTA', value: transport.freight, share: 44 },
    anttCode: { label: 'CÓDIGO ANTT', value: transport.anttCode, share: 24 },
    plate: { label: 'PLACA DO VEÍCULO', value: transport.plate, share: 22, align: 'center' },
    plateUf: { label: 'UF', value: transport.plateUf, share: 8, align: 'center' },
    taxId: { label: 'CNPJ / CPF', value: transport.taxId, share: 38, align: 'center' },
    street: { label: 'ENDEREÇO', value: transport.street, share: 94 },
    city: { label: 'MUNICÍPIO', value: transport.city, share: 58 },
    uf: { label: 'UF', value: transport.uf, share: 8, align: 'center' },
    stateRegistration: { label: 'INSCRIÇÃO ESTADUAL', value: transport.stateRegistration, share: 38 },
  };
}

function volumeFields(volume: Volume): Field[] {
  return [
    { label: 'QUANTIDADE', value: volume.quantity, share: 26, align: 'right' },
    { label: 'ESPÉCIE', value: volume.kind, share: 38 },
    { label: 'MARCA', value: volume.brand, share: 38 },
    { label: 'NUMERAÇÃO', value: volume.numbering, share: 34 },
    { label: 'PESO BRUTO', value: volume.gross, share: 30, align: 'right' },
    { label: 'PESO LÍQUIDO', value: volume.net, share: 30, align: 'right' },
  ];
}
