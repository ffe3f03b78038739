import { taxIdRoot } from '../../documents/tax-id.js';
import type { Environment } from '../../model/words.js';
import { type SignatureJudge, USUAL_ALGORITHMS, verifySignature } from '../events/signature.js';
import type { Rule } from '../rules/state.js';
import type { BoxItem } from './box.js';
import type { NfseEventRequest } from './event-request.js';

/** Why a request is refused, by Sefin's codes (annexes II and IV; nfse.md 1.7, 2.5). */
export interface EventFault {
  readonly code: string;
  /** One clause for the journal. */
  readonly detail: string;
  readonly rule: Rule | null;
}

/** What a statement is judged by besides itself. */
export interface EventCircumstances {
  readonly environment: Environment;
  /** Key in the address. */
  readonly key: string;
  readonly at: number;
  /** Tax ID in the certificate of the connection. */
  readonly holder: string;
  readonly signatures: SignatureJudge;
  /** All that is known of the note: itself and its events. */
  readonly about: readonly BoxItem[];
}

const MINUTE = 60_000;
const REJECTION = '203206';
/** What a taker may say; one of them, once. */
const BY_THE_TAKER: ReadonlySet<string> = new Set(['203202', REJECTION]);
/** After these nobody can say anything about the note any more: cancelled, replaced, taken as confirmed. */
const CLOSING: ReadonlySet<string> = new Set(['101101', '105102', '105104', '305101', '205204']);

/** What is wrong with a request, in the order in which Sefin finds fault: form, signature, author, note, what was said before. Null: nothing. */
export function faultOf(request: NfseEventRequest, now: EventCircumstances): EventFault | null {
  return faultOfForm(request, now) ?? faultOfSignature(request, now) ?? faultOfNote(request, now);
}

const fault = (code: string, detail: string, rule: Rule | null = null): EventFault => ({ code, detail, rule });

function faultOfForm(request: NfseEventRequest, { environment, key, at }: EventCircumstances): EventFault | null {
  if (!BY_THE_TAKER.has(request.type)) return fault('E1818', `event ${request.type} is not taken here`, 'schema');
  if (request.key !== key) return fault('E1235', 'chNFSe is not the key of the address', 'schema');
  if (request.id !== `PRE${request.key}${request.type}`) return fault('E1827', 'Id is not key and type', 'schema');
  if (request.environmentCode !== (environment === 'production' ? '1' : '2')) {
    return fault('E1845', `tpAmb ${request.environmentCode} at the address of ${environment}`, 'schema');
  }
  if (request.occurredAt > at + 5 * MINUTE) return fault('E1843', 'dhEvento lies in the future', 'schema');
  if (request.type === REJECTION && request.reasonCode === '9' && request.reason === null) {
    return fault('E1949', 'reason 9 without a text', 'schema');
  }
  return null;
}

function faultOfSignature(request: NfseEventRequest, now: EventCircumstances): EventFault | null {
  if (!request.signed) return fault('E1989', 'no signature', 'signature');
  const verified = verifySignature(request.text, now.signatures, now.at, USUAL_ALGORITHMS);
  if (!verified.ok) return fault('E1250', verified.fault.detail, 'signature');
  const signer = taxIdRoot(verified.signer.taxId ?? '');
  if (signer !== taxIdRoot(request.author) || signer !== taxIdRoot(now.holder)) {
    return fault('E0812', 'the author’s root is not the certificate’s', 'certificate_root');
  }
  return null;
}

function faultOfNote({ author, type, id }: NfseEventRequest, { about }: EventCircumstances): EventFault | null {
  const note = about.find((item) => item.type === 'NFSE');
  if (!note) return fault('E1831', 'nobody has this note');
  const taker = partyOf(note.xml, 'toma');
  if (taker === null || taxIdRoot(taker) !== taxIdRoot(author)) return fault('E0813', 'the author is not its taker');
  if (partyOf(note.xml, 'emit') === author) return fault('E0813', 'the author emitted it');
  const registered = eventsAbout(about);
  if (registered.some((event) => event.requestId === id)) return fault('E0802', 'registered before');
  if (registered.some((event) => CLOSING.has(event.type)))
    return fault('E0861', 'the note takes no statement any more');
  const said = registered.find(
    (event) => event.author !== null && taxIdRoot(event.author) === taxIdRoot(author) && BY_THE_TAKER.has(event.type),
  );
  return said ? fault('E1833', `${type} after ${said.type}`) : null;
}

/** A statement that stands. */
export interface RegisteredEvent {
  readonly type: string;
  readonly sequence: number;
  readonly requestId: string;
  readonly author: string | null;
  readonly xml: string;
  readonly at: number;
}

/** The events among documents about a note. */
export function eventsAbout(about: readonly BoxItem[]): RegisteredEvent[] {
  return about.flatMap(({ type, xml, at }) => {
    const [, event, sequence] = /Id="EVT[0-9A-Z]{50}([0-9]{6})([0-9]{3})"/.exec(xml) ?? [];
    if (type !== 'EVENTO' || event === undefined) return [];
    const requestId = /<infPedReg Id="([0-9A-Z]+)"/.exec(xml)?.[1] ?? '';
    const author = /<(?:CNPJ|CPF)Autor>([0-9A-Z]+)</.exec(xml)?.[1] ?? null;
    return [{ type: event, sequence: Number(sequence), requestId, author, xml, at }];
  });
}

function partyOf(note: string, element: 'toma' | 'emit'): string | null {
  return new RegExp(`<${element}><(?:CNPJ|CPF)>([0-9A-Z]+)<`).exec(note)?.[1] ?? null;
}
