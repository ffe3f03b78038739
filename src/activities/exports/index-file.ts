import { stringify } from 'csv-stringify/sync';
import { rolesOf } from '../../documents/index.js';
import type { DocumentState, Party } from '../../model/document.js';
import { brasiliaTime } from '../../platform/brasilia.js';
import type { ExportDocument } from '../../storage/export-documents.js';
import type { ExportedFiles } from './file-names.js';

/**
 * The index of an export, for accountants: a table that Excel opens with a double click where Brazilian settings hold. UTF-8 with a mark,
 * semicolons, decimal commas, days before months. Keys and tax IDs are written with their usual punctuation, because a spreadsheet would turn
 * their digits into a rounded number. A text that a spreadsheet would take for a formula begins with an apostrophe.
 */
export const INDEX_NAME = 'indice.csv';
/** What is missing, and why. Only where something is. */
export const PROBLEMS_NAME = 'problemas.csv';

const BOM = '\uFEFF';

const COLUMNS = [
  'Chave de acesso',
  'Tipo',
  'Modelo',
  'Série',
  'Número',
  'Emissão',
  'Emitente CNPJ/CPF',
  'Emitente',
  'Emitente UF',
  'Destinatário CNPJ/CPF',
  'Destinatário',
  'Valor',
  'Situação',
  'Sentido',
  'Papel da empresa',
  'Evento',
  'Descrição do evento',
  'Protocolo',
  'Capturado em',
  'Arquivo XML',
  'Arquivo PDF',
  'Observação',
  'Id',
];
const PROBLEM_COLUMNS = ['Chave de acesso', 'Tipo', 'Problema', 'Id'];

/** First line of the index, with the mark by which spreadsheets know UTF-8. */
export const INDEX_HEADER = BOM + csv([COLUMNS]);
/** First line of the list of problems, likewise. */
export const PROBLEMS_HEADER = BOM + csv([PROBLEM_COLUMNS]);

/** One document's line of the index. `taxId`: whose export it is. */
export function indexRow(document: ExportDocument, { xml, pdf, remark }: ExportedFiles, taxId: string): string {
  const { metadata, event, countedElsewhere } = document;
  const { issuer = {}, recipient = {} } = metadata;
  return csv([
    [
      grouped(document.key),
      document.kind,
      metadata.model,
      metadata.series,
      metadata.number,
      writtenTime(metadata.issuedAt ?? event?.occurredAt ?? event?.registeredAt),
      taxIdOf(issuer),
      issuer.name,
      issuer.uf ?? metadata.uf,
      taxIdOf(recipient),
      recipient.name,
      // A column that is summed must not have an amount twice.
      countedElsewhere ? '' : metadata.total?.replace('.', ','),
      STATES[document.state],
      document.direction === 'issued' ? 'emitido' : 'recebido',
      rolesOf(document.documentType, metadata, taxId)
        .map((role) => (document.documentType === 'nfse' && OF_SERVICES[role]) || (ROLES[role] ?? role))
        .join(', '),
      event?.type,
      event?.description,
      event?.protocol ?? metadata.protocol,
      shownTime(document.capturedAt),
      xml,
      pdf,
      [countedElsewhere && 'valor na linha da mesma chave', remark].filter(Boolean).join(', '),
      document.id,
    ],
  ]);
}

/** One line for a document whose file could not be had, and why. */
export function problemRow({ key, kind, id }: ExportDocument, problem: string): string {
  return csv([[grouped(key), kind, problem, id]]);
}

const STATES: Readonly<Record<DocumentState, string>> = {
  authorized: 'autorizado',
  denied: 'denegado',
  cancelled: 'cancelado',
  replaced: 'substituído',
  blocked: 'bloqueado',
  unknown: '',
};

/** Roles by the fields that they stand in; further ones show as they are called there. */
const ROLES: Readonly<Record<string, string>> = {
  issuer: 'emitente',
  recipient: 'destinatário',
  carrier: 'transportador',
  sender: 'remetente',
  dispatcher: 'expedidor',
  receiver: 'recebedor',
  taker: 'tomador',
  intermediary: 'intermediário',
  authorizedThirdParties: 'autorizado a baixar',
};

const OF_SERVICES: Readonly<Record<string, string>> = { issuer: 'prestador', recipient: 'tomador' };

function csv(rows: (string | undefined | null)[][]): string {
  return stringify(rows, { delimiter: ';', record_delimiter: 'windows', escape_formulas: true });
}

/** In groups of four, as on a DANFE. */
function grouped(key: string | null): string {
  return key?.replace(/(.{4})(?=.)/g, '$1 ') ?? '';
}

function taxIdOf({ taxId, foreignTaxId }: Party): string | undefined {
  if (taxId?.length === 14) return taxId.replace(/^(..)(...)(...)(....)(..)$/, '$1.$2.$3/$4-$5');
  if (taxId?.length === 11) return taxId.replace(/^(...)(...)(...)(..)$/, '$1.$2.$3-$4');
  return taxId ?? foreignTaxId;
}

/** The clock that the document was written by, never moved to another zone. */
function writtenTime(written: string | undefined): string | undefined {
  const [, year, month, day, time] = /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}:\d{2}:\d{2}))?/.exec(written ?? '') ?? [];
  return year === undefined ? written : `${day}/${month}/${year}${time === undefined ? '' : ` ${time}`}`;
}

function shownTime(at: number): string {
  const { year, month, day, hour, minute, second } = brasiliaTime(at);
  return `${day}/${month}/${year} ${hour}:${minute}:${second}`;
}
