import { scaled } from '../../cadence/index.js';
import type { ClientCertificate } from '../../government/types.js';
import { EVENT_AUTHORITIES, type ManifestationRule } from '../../model/manifestation.js';
import type { SendResult } from '../../model/manifestation-contract.js';
import type { CaptureKey } from '../../model/words.js';
import { type CallRow, findCalls, insertCall } from '../../storage/calls.js';
import type { CaptureRow } from '../../storage/capture-rows.js';
import { lockCapture } from '../../storage/captures.js';
import { usableCertificate } from '../../storage/certificates.js';
import { type CompanyRow, getCompany } from '../../storage/companies.js';
import type { Transaction } from '../../storage/database.js';
import {
  expireManifestations,
  giveToCall,
  holdBack,
  lockDue,
  misuseSince,
  putOff,
} from '../../storage/manifestation-queue.js';
import type { ManifestationRow } from '../../storage/manifestations.js';
import { archiveKey } from '../../storage/object-store/index.js';
import { nextTurn } from '../call/begin-steps.js';
import { type Mark, mark } from '../call/call-watch.js';
import { captureUnknown, notOurTurn } from '../failures.js';
import { withdrawUnwanted } from './awareness.js';
import { type EventService, eventServiceOf } from './event-services.js';
import { nextBatch, ruleOf } from './manifestation-batch.js';
import type { ManifestationDependencies } from './manifestation-dependencies.js';
import { EVENT_LEASE_MS, isInDoubt, MISUSE_WAIT } from './manifestation-verdict.js';

/** What became of the wish to send. */
export type BegunEvents =
  /** The call's row and its hold on the events are committed: the one way to the wire. */
  | {
      readonly kind: 'begun';
      readonly call: CallRow;
      /** What the first event is, and about which document. */
      readonly rule: ManifestationRule;
      readonly key: string;
      readonly sequence: number;
      /** The call asks what became of the event, instead of sending it. Null: it sends. */
      readonly readsBack: EventService['readBack'] | null;
      /** Signed, in the order of the request. */
      readonly events: readonly string[];
      readonly certificate: ClientCertificate;
      readonly recordedAt: Mark;
    }
  /** An earlier attempt of this activity wrote the row: it is settled, never sent again under it. */
  | { readonly kind: 'recorded'; readonly call: CallRow }
  /** Events are due whose last call has no end yet: settle it first. */
  | { readonly kind: 'unsettled'; readonly call: CallRow }
  | { readonly kind: 'nothing'; readonly obstacle: SendResult['obstacle'] };

const DAY = 86_400_000;
/** Looked at in one go: a request holds 20, and some may be withdrawn. */
const LOOKED_AT = 60;
/** Without a certificate everything is looked at again after this, or when one is stored. */
const LATER = 3_600_000;

/**
 * Takes what is due, signs what is not signed yet, and writes the row of the call that will send it: one short transaction. An event
 * keeps the bytes of its first signature, so that whatever is sent again is the same event.
 *
 * @throws ApplicationFailure `company_unknown` (non-retryable)
 */
export function beginManifestationCall(
  deps: ManifestationDependencies,
  capture: CaptureKey,
  callId: string,
): Promise<BegunEvents> {
  return deps.database.transaction((tx) => begin(deps, tx, capture, callId));
}

async function begin(
  deps: ManifestationDependencies,
  tx: Transaction,
  capture: CaptureKey,
  callId: string,
): Promise<BegunEvents> {
  // In this order everywhere: capture, events, documents, company.
  const row = await lockCapture(tx, capture);
  const company = row && (await getCompany(tx, capture.companyId));
  if (!company) throw captureUnknown('capture');
  const now = await deps.clock.now(tx);
  const recordedAt = mark();
  const [own] = await findCalls(tx, [callId], now - 2 * DAY);
  if (own) return { kind: 'recorded', call: own };

  if (company.deletingAt !== null) {
    await putOff(tx, capture, now, now + LATER);
    return { kind: 'nothing', obstacle: null };
  }

  await expireManifestations(tx, capture, now);
  const due = await lockDue(tx, capture, { now, limit: LOOKED_AT });
  const unsettled = await unsettledCall(tx, due);
  if (unsettled) return { kind: 'unsettled', call: unsettled };
  const wanted = await withdrawUnwanted(tx, { capture: row, company, now }, due);
  const free = await withoutMisused(deps, tx, { capture, now }, wanted);
  if (free.length === 0) return { kind: 'nothing', obstacle: null };

  const usable = await usableCertificate(tx, company, now);
  if (!usable.ok) {
    await putOff(tx, capture, now, Math.max(Math.min(usable.until ?? Infinity, now + LATER), now + 1_000));
    return { kind: 'nothing', obstacle: `certificate_${usable.problem}` };
  }
  const service = eventServiceOf(deps.eventServices, capture.documentType);
  const { first, rows } = nextBatch(free);
  const rule = ruleOf(first);
  const readsBack = (isInDoubt(first) && service.readBack) || null;
  const turn = await nextTurn({ tx, row, now }, usable.certificate);
  if (turn !== null) throw notOurTurn(turn - now);
  const certificate = await deps.openCertificate(usable.certificate);
  const signer = { service, company, certificate, validUntil: usable.certificate.notAfter };
  const sent = rows.map((each) => signed(each, row, signer, now));
  const call = {
    companyId: capture.companyId,
    documentType: capture.documentType,
    environment: capture.environment,
    id: callId,
    startedAt: now,
    service: EVENT_AUTHORITIES[rule.authority].service,
    kind: readsBack?.operation ?? service.operation,
    fromNsu: null,
    deadline: now + EVENT_LEASE_MS,
    archiveKey: archiveKey(capture, now, callId),
  };
  await insertCall(tx, call);
  await giveToCall(tx, call, sent, { isAttempt: readsBack === null });
  const unanswered = {
    status: 'open',
    outcome: null,
    statusCode: null,
    documents: 0,
    body: null,
    isProbe: false,
  } as const;
  return {
    kind: 'begun',
    call: { ...call, ...unanswered },
    rule,
    key: first.key,
    sequence: first.sequence,
    readsBack,
    events: sent.map((each) => each.signed.toString()),
    certificate,
    recordedAt,
  };
}

/** What may go now: while a service calls us misusers nothing goes there, whichever event it was about. */
async function withoutMisused(
  { timeScale }: ManifestationDependencies,
  tx: Transaction,
  { capture, now }: { readonly capture: CaptureKey; readonly now: number },
  wanted: readonly ManifestationRow[],
): Promise<readonly ManifestationRow[]> {
  if (wanted.length === 0) return wanted;
  const wait = scaled(MISUSE_WAIT, timeScale);
  const misused = await misuseSince(tx, capture, now - wait);
  const serviceOf = (row: ManifestationRow) => EVENT_AUTHORITIES[ruleOf(row).authority].service;
  for (const [service, at] of misused) {
    const held = wanted.filter((row) => serviceOf(row) === service);
    await holdBack(
      tx,
      held.map(({ id }) => id),
      at + wait,
    );
  }
  return wanted.filter((row) => !misused.has(serviceOf(row)));
}

/** A call that held some of these events and was not settled, because its process died. */
async function unsettledCall(tx: Transaction, due: readonly ManifestationRow[]): Promise<CallRow | null> {
  const open = due.find(({ callId, callDeadline }) => callId !== null && callDeadline !== null);
  if (!open?.callId) return null;
  const [call] = await findCalls(tx, [open.callId], (open.callStartedAt ?? 0) - 1);
  // Swept away meanwhile: nothing will come of it any more.
  return call?.status === 'open' ? call : null;
}

interface Signer {
  readonly service: EventService;
  readonly company: CompanyRow;
  readonly certificate: ClientCertificate;
  readonly validUntil: number;
}

/** With its first signature, unless the certificate of that is no longer valid: then anew, under the same Id. */
function signed(
  row: ManifestationRow,
  capture: CaptureRow,
  { service, company, certificate, validUntil }: Signer,
  now: number,
): { id: string; signed: Buffer; signedUntil: number } {
  if (row.signed && row.signedUntil !== null && row.signedUntil > now) {
    return { id: row.id, signed: row.signed, signedUntil: row.signedUntil };
  }
  const { key, sequence, justification, fields } = row;
  const event = {
    rule: ruleOf(row),
    environment: capture.environment,
    author: company.taxId,
    uf: company.uf,
    key,
    sequence,
    occurredAt: now,
    justification,
    fields,
  };
  return { id: row.id, signed: Buffer.from(service.sign(event, certificate)), signedUntil: validUntil };
}
