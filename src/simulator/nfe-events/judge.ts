import { isTaxId, taxIdRoot } from '../../documents/tax-id.js';
import {
  AWARENESS_TYPE,
  CONCLUSIVE_TYPES,
  legalDeadline,
  MANIFESTATION_RULES,
  type NfeAuthority,
} from '../../model/manifestation.js';
import { keyFault } from '../distribution/request.js';
import type { EventCircumstances, EventRequest, EventVerdict } from '../events/dialect.js';
import { verifySignature } from '../events/signature.js';
import type { Rule } from '../rules/state.js';

const MINUTE = 60_000;
/** cOrgao of who registers. */
export const ORGAN: Readonly<Record<NfeAuthority, string>> = { an: '91', svrs: '92' };

/** What becomes of one event, in the order in which the service finds fault: form, signature, author, note, time, what was said before. */
export function judgeEvent(authority: NfeAuthority, event: EventRequest, now: EventCircumstances): EventVerdict {
  return (
    faultOfForm(authority, event, now) ??
    faultOfAuthor(event, now) ??
    faultOfNote(event, now) ??
    faultOfHistory(event, now) ??
    registered(event, now)
  );
}

const fault = (cStat: string, detail: string, rule: Rule | null = null): EventVerdict => ({ cStat, detail, rule });

function faultOfForm(
  authority: NfeAuthority,
  event: EventRequest,
  { environment }: EventCircumstances,
): EventVerdict | null {
  const rule = MANIFESTATION_RULES.get(event.type);
  if (rule?.authority !== authority) return fault('491', `tpEvento ${event.type} is not of this service`, 'schema');
  const id = `ID${event.type}${event.key}${String(event.sequence).padStart(2, '0')}`;
  if (event.id !== id) return fault('572', 'Id does not name type, key and sequence', 'schema');
  if (event.organ !== ORGAN[authority]) return fault('250', `cOrgao ${event.organ}`, 'schema');
  if (event.environmentCode !== (environment === 'production' ? '1' : '2')) {
    return fault('252', `tpAmb ${event.environmentCode} at the address of ${environment}`);
  }
  if (event.detailFault !== null) return fault('493', event.detailFault, 'schema');
  return event.sequence > rule.times ? fault('594', `nSeqEvento ${event.sequence}`) : null;
}

function faultOfAuthor(event: EventRequest, { at, signatures }: EventCircumstances): EventVerdict | null {
  if (!isTaxId(event.author)) return fault(event.author.length === 11 ? '490' : '489', 'check digits');
  const verified = verifySignature(event.text, signatures, at);
  if (!verified.ok) return fault(verified.fault.cStat, verified.fault.detail, 'signature');
  const { taxId } = verified.signer;
  if (taxId !== null && taxIdRoot(taxId) === taxIdRoot(event.author)) return null;
  return fault('213', `signed by ${taxId ?? 'a certificate without a tax ID'}`, 'certificate_root');
}

function faultOfNote(event: EventRequest, { at, environment, registry }: EventCircumstances): EventVerdict | null {
  const wrongKey = keyFault(event.key);
  if (wrongKey !== null) return fault(wrongKey, 'access key');
  if (event.occurredAt > at + 5 * MINUTE) return fault('578', 'dhEvento lies in the future');
  const found = registry.find('nfe', event.author, environment)?.notes?.findNote(event.key) ?? null;
  if (found === null) {
    // Of somebody else, or of nobody: an unknown note is taken without a link.
    return registry.findNoteAnywhere(event.key, environment) === null
      ? null
      : fault('575', 'the author is not its recipient');
  }
  if (event.type === '110001') return null;
  if (found.role !== 'recipient') return fault('575', `the author is its ${found.role}`);
  if (event.occurredAt < found.note.issuedAt) return fault('577', 'dhEvento lies before the issue');
  const dead = found.note.situation !== '1' || found.cancelled;
  if (dead && event.type === AWARENESS_TYPE) return fault('650', 'the note is cancelled or denied');
  if (dead && event.type === '210220') return fault('651', 'the note is cancelled or denied');
  const rule = MANIFESTATION_RULES.get(event.type);
  const deadline = rule ? legalDeadline(rule, found.note.authorizedAt) : null;
  return deadline !== null && at > deadline ? fault('596', `${rule?.days} days are over`) : null;
}

function faultOfHistory(event: EventRequest, { environment, memory }: EventCircumstances): EventVerdict | null {
  if (memory.find(environment, event.id)) return fault('573', 'registered before');
  const said = memory.about(environment, event.author, event.key);
  if (event.type === AWARENESS_TYPE && said.some(({ type }) => CONCLUSIVE_TYPES.includes(type))) {
    return fault('655', 'a conclusive statement is registered');
  }
  if (event.type !== '110001') return null;
  const { tpEventoAut, nProtEvento } = event.details;
  const cancelled = said.some(({ type, protocol }) => type === tpEventoAut && protocol === nProtEvento);
  return cancelled ? null : fault('460', 'no event of this type and protocol');
}

function registered(event: EventRequest, { environment, registry }: EventCircumstances): EventVerdict {
  const linked = registry.find('nfe', event.author, environment)?.notes?.findNote(event.key) ?? null;
  return { cStat: linked ? '135' : '136', rule: null, detail: null };
}
