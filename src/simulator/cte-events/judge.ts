import { isAccessKey } from '../../documents/access-key.js';
import { isTaxId, taxIdRoot } from '../../documents/tax-id.js';
import { DISAGREEMENT_CANCELLATION, DISAGREEMENT_TYPE, MANIFESTATION_RULES } from '../../model/manifestation.js';
import type { EventCircumstances, EventRequest, EventVerdict } from '../events/dialect.js';
import type { RegisteredEvent } from '../events/memory.js';
import { verifySignature } from '../events/signature.js';
import type { Rule } from '../rules/state.js';

const MINUTE = 60_000;
const DAY = 86_400_000;
/** MOC CT-e: a disagreement comes within so many days of the authorization. */
const DAYS = 45;

/**
 * What becomes of a taker's event, in the order in which an authorizer finds fault: form, signature, author, CT-e, time, what was said before.
 *
 * @param ufs codes of the UFs that the authorizer serves; null: all
 */
export function judgeCteEvent(
  ufs: ReadonlySet<string> | null,
  event: EventRequest,
  now: EventCircumstances,
): EventVerdict {
  return (
    faultOfForm(ufs, event, now) ??
    faultOfAuthor(event, now) ??
    faultOfFreight(event, now) ??
    faultOfHistory(event, now) ?? { cStat: '135', rule: null, detail: null }
  );
}

const fault = (cStat: string, detail: string, rule: Rule | null = null): EventVerdict => ({ cStat, detail, rule });

function faultOfForm(
  ufs: ReadonlySet<string> | null,
  event: EventRequest,
  { environment }: EventCircumstances,
): EventVerdict | null {
  if (MANIFESTATION_RULES.get(event.type)?.documentType !== 'cte') {
    return fault('629', `tpEvento ${event.type} is not a taker's`, 'schema');
  }
  const id = `ID${event.type}${event.key}${String(event.sequence).padStart(3, '0')}`;
  if (event.id !== id) return fault('628', 'Id does not name type, key and sequence', 'schema');
  if (event.organ !== event.key.slice(0, 2)) return fault('677', `cOrgao ${event.organ}`, 'schema');
  if (ufs !== null && !ufs.has(event.organ)) return fault('677', `UF ${event.organ} has another authorizer`, 'schema');
  if (event.environmentCode !== (environment === 'production' ? '1' : '2')) {
    return fault('252', `tpAmb ${event.environmentCode} at the address of ${environment}`);
  }
  return event.detailFault === null ? null : fault('630', event.detailFault, 'schema');
}

function faultOfAuthor(event: EventRequest, { at, signatures }: EventCircumstances): EventVerdict | null {
  if (!isTaxId(event.author)) return fault('627', 'check digits');
  const verified = verifySignature(event.text, signatures, at);
  if (!verified.ok) return fault(verified.fault.cStat, verified.fault.detail, 'signature');
  const { taxId } = verified.signer;
  if (taxId !== null && taxIdRoot(taxId) === taxIdRoot(event.author)) return null;
  return fault('213', `signed by ${taxId ?? 'a certificate without a tax ID'}`, 'certificate_root');
}

function faultOfFreight(event: EventRequest, { at, environment, registry }: EventCircumstances): EventVerdict | null {
  if (!isAccessKey(event.key)) return fault('236', 'check digit of the access key');
  if (event.occurredAt > at + 5 * MINUTE) return fault('635', 'dhEvento lies in the future');
  const found = registry.findFreightAnywhere(event.key, environment, at);
  if (found === null) return fault('217', 'no company has such a CT-e');
  if (found.taker !== event.author) return fault('755', 'the author is not its taker');
  if (found.issuedAt !== null && event.occurredAt < found.issuedAt)
    return fault('634', 'dhEvento lies before the issue');
  if (event.type !== DISAGREEMENT_TYPE) return null;
  if (found.cancelled) return fault('218', 'the CT-e is cancelled');
  const { authorizedAt } = found;
  return authorizedAt !== null && at > authorizedAt + DAYS * DAY ? fault('787', `${DAYS} days are over`) : null;
}

function faultOfHistory(event: EventRequest, { environment, memory }: EventCircumstances): EventVerdict | null {
  if (memory.find(environment, event.id)) return fault('631', 'registered before');
  const said = memory.about(environment, event.author, event.key);
  const standing = said.find((each) => each.type === DISAGREEMENT_TYPE && !isTakenBack(each, said));
  if (event.type === DISAGREEMENT_TYPE) return standing ? fault('631', 'a disagreement stands already') : null;
  return standing?.protocol === event.details.nProtEvPrestDes
    ? null
    : fault('866', 'no disagreement of this protocol, or it was taken back');
}

/** A cancellation bears the sequence of what it cancels. */
function isTakenBack({ sequence }: RegisteredEvent, said: readonly RegisteredEvent[]): boolean {
  return said.some((each) => each.type === DISAGREEMENT_CANCELLATION && each.sequence === sequence);
}
