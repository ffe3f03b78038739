import type { DocumentType } from './words.js';

/**
 * Manifestations: events by which a company itself says something about a document that it received (glossary). Which there are, what
 * each must be called, and until when it may be made.
 */

export const MANIFESTATION_STATUSES = ['pending', 'registered', 'rejected', 'expired'] as const;
export type ManifestationStatus = (typeof MANIFESTATION_STATUSES)[number];

/** Who asked: a person or program, or the automatic Awareness. */
export type ManifestationOrigin = 'request' | 'awareness';

/**
 * What a manifestation does to others of its note. `awareness`: once, not after a conclusive one. `conclusive`: a statement about the
 * operation; at most two of each type, the last one counts. `tax_reform`: requests and statements of IBS and CBS, any number.
 * `disagreement`: the service was not as agreed; it may be taken back, and then said again. `once`: one statement, whichever, for ever.
 */
type ManifestationClass = 'awareness' | 'conclusive' | 'tax_reform' | 'disagreement' | 'once';

/** Who registers events: its name in the call log, and how many it takes in one request (NT 2020.001, NT 2025.002, MOC CT-e 4.00). */
export const EVENT_AUTHORITIES = {
  /** The national environment. */
  an: { service: 'nfe-event', most: 20 },
  /** The virtual authority of RS. */
  svrs: { service: 'nfe-event-svrs', most: 1 },
  /** Whoever authorized the CT-e: that of its UF. */
  cte: { service: 'cte-event', most: 1 },
  /** Sefin Nacional, of NFS-e (nfse.md 2.2). */
  sefin: { service: 'nfse-sefin', most: 1 },
} as const satisfies Record<string, { readonly service: string; readonly most: number }>;
export type EventAuthority = keyof typeof EVENT_AUTHORITIES;
/** Those of events about NF-e. */
export type NfeAuthority = Extract<EventAuthority, 'an' | 'svrs'>;

/** One type of statement: what it is called, who takes it, and until when. */
export interface ManifestationRule {
  /** tpEvento. */
  readonly type: string;
  readonly documentType: DocumentType;
  /** descEvento, to the letter: the AN takes no accents (493), SVRS demands them. */
  readonly description: string;
  readonly class: ManifestationClass;
  readonly authority: EventAuthority;
  /** Days after the authorization within which it counts as made in time; null: no such limit. */
  readonly days: number | null;
  /** xJust or xObs, 15 to 255 characters: required here, forbidden everywhere else. */
  readonly justified: boolean;
  /** Highest nSeqEvento. */
  readonly times: number;
  /** cMotivo, one of these codes: required here, forbidden everywhere else. A justification may go with each, and must with `explained`. */
  readonly reasons?: { readonly codes: readonly string[]; readonly explained: string };
}

/** NT 2020.001 v1.60, Ajuste SINIEF 14/2026. */
const AWARENESS = { class: 'awareness', authority: 'an', days: 10, justified: false, times: 1 } as const;
const CONCLUSIVE = { class: 'conclusive', authority: 'an', days: 90, justified: false, times: 2 } as const;
/** NT 2025.002. */
const TAX_REFORM = { class: 'tax_reform', authority: 'svrs', days: null, justified: false, times: 99 } as const;

/** CT-e 4.00: 610110 counts as in time for 45 days (787); nSeqEvento has three digits. */
const DISAGREEMENT = { class: 'disagreement', authority: 'cte', days: 45, justified: true, times: 999 } as const;

/** nfse.md 2.4, 2.5: the descriptions are a closed list, and the accents are part of it. */
const ONCE = { class: 'once', authority: 'sefin', days: null, justified: false, times: 1 } as const;
/** Where the reason of a statement stands among its fields: the name that its layout has for it. */
export const REASON_CODE = 'cMotivo';
const REJECTION_REASONS = { codes: ['1', '2', '3', '4', '5', '9'], explained: '9' } as const;

const rule = (
  type: string,
  description: string,
  group: Omit<ManifestationRule, 'type' | 'documentType' | 'description'>,
  documentType: DocumentType = 'nfe',
) => [type, { type, documentType, description, ...group }] as const;

/** Every type that Malote sends, by tpEvento. Texts are the government's, to the letter (docs/rules.md). */
export const MANIFESTATION_RULES: ReadonlyMap<string, ManifestationRule> = new Map<string, ManifestationRule>([
  rule('210200', 'Confirmacao da Operacao', CONCLUSIVE),
  rule('210210', 'Ciencia da Operacao', AWARENESS),
  rule('210220', 'Desconhecimento da Operacao', CONCLUSIVE),
  rule('210240', 'Operacao nao Realizada', { ...CONCLUSIVE, justified: true }),
  rule('211110', 'Solicitação de Apropriação de crédito presumido', TAX_REFORM),
  rule('211124', 'Perecimento, perda, roubo ou furto durante o transporte contratado pelo adquirente', TAX_REFORM),
  rule('211128', 'Aceite de débito na apuração por emissão de nota de crédito', TAX_REFORM),
  rule('211130', 'Imobilização de Item', TAX_REFORM),
  rule('211140', 'Solicitação de Apropriação de Crédito de Combustível', TAX_REFORM),
  rule(
    '211150',
    'Solicitação de Apropriação de Crédito para bens e serviços que dependem de atividade do adquirente',
    TAX_REFORM,
  ),
  rule('212110', 'Manifestação sobre Pedido de Transferência de Crédito de IBS em Operação de Sucessão', TAX_REFORM),
  rule('212120', 'Manifestação sobre Pedido de Transferência de Crédito de CBS em Operação de Sucessão', TAX_REFORM),
  rule('110001', 'Cancelamento de Evento', TAX_REFORM),
  rule('610110', 'Prestacao do Servico em Desacordo', DISAGREEMENT, 'cte'),
  rule(
    '610111',
    'Cancelamento Prestacao do Servico em Desacordo',
    { ...DISAGREEMENT, days: null, justified: false },
    'cte',
  ),
  rule('203202', 'Manifestação de NFS-e - Confirmação do Tomador', ONCE, 'nfse'),
  rule('203206', 'Manifestação de NFS-e - Rejeição do Tomador', { ...ONCE, reasons: REJECTION_REASONS }, 'nfse'),
]);

export const AWARENESS_TYPE = '210210';
export const EVENT_CANCELLATION = '110001';
/** The taker of a CT-e says that the service was not as agreed, and takes it back. */
export const DISAGREEMENT_TYPE = '610110';
export const DISAGREEMENT_CANCELLATION = '610111';
/** The field in which that names the disagreement: its protocol. */
export const DISAGREEMENT_PROTOCOL = 'nProtEvPrestDes';

/** Statements that end the recipient's time to answer. */
export const CONCLUSIVE_TYPES: readonly string[] = [...MANIFESTATION_RULES.values()]
  .filter((each) => each.class === 'conclusive')
  .map(({ type }) => type);

const DAY = 86_400_000;

/**
 * Last instant at which a manifestation of this rule counts as made in time, milliseconds; null: no limit, or the authorization is not known.
 *
 * @param authorizedAt milliseconds
 */
export function legalDeadline({ days }: ManifestationRule, authorizedAt: number | null): number | null {
  return days === null || authorizedAt === null ? null : authorizedAt + days * DAY;
}

/** Days within which a note's recipient has to make a statement about the operation. */
export const CONCLUSIVE_DAYS = CONCLUSIVE.days;

/** Until when the recipient of a note can answer in time, milliseconds. @param authorizedAt milliseconds */
export function answerDeadlines(authorizedAt: number): { readonly awareness: number; readonly conclusive: number } {
  return { awareness: authorizedAt + AWARENESS.days * DAY, conclusive: authorizedAt + CONCLUSIVE.days * DAY };
}

const LEAST_JUSTIFICATION = 15;
const MOST_JUSTIFICATION = 255;

/** What is wrong with a justification (xJust, xObs), in words that follow the field's name; null: nothing. It is sent exactly as given. */
export function justificationFault(text: string): string | null {
  if (text.length < LEAST_JUSTIFICATION || text.length > MOST_JUSTIFICATION) {
    return `must have ${LEAST_JUSTIFICATION} to ${MOST_JUSTIFICATION} characters and has ${text.length}`;
  }
  // TString of the XSDs.
  return /^[!-ÿ][ -ÿ]*[!-ÿ]$/.test(text)
    ? null
    : 'must be one line of Latin-1 (letters, accents, digits, signs) that neither begins nor ends with a blank';
}
