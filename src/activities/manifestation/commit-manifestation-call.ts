import type { EventAnswer, EventResult } from '../../government/event-answer.js';
import type { SendResult } from '../../model/manifestation-contract.js';
import type { OutcomeKind } from '../../model/outcome.js';
import { type CallRow, type CallStatus, getCall, settleCall } from '../../storage/calls.js';
import type { CaptureRow } from '../../storage/capture-rows.js';
import { lockCapture } from '../../storage/captures.js';
import { type CompanyRow, getCompany } from '../../storage/companies.js';
import type { Transaction } from '../../storage/database.js';
import { isTransientDatabaseError } from '../../storage/database-error.js';
import { findEventDocument } from '../../storage/event-documents.js';
import { lockOfCall, type ManifestationResult, recordResults } from '../../storage/manifestation-queue.js';
import type { ManifestationRow } from '../../storage/manifestations.js';
import { countDocuments } from '../../storage/page.js';
import { archiveAnswer, keepsObject, putAnswer, storeArchive } from '../call/archive.js';
import { instantsOfEnd } from '../call/ended-call.js';
import { patiently } from '../call/patience.js';
import { limitsOf, type SettledCall } from '../dependencies.js';
import { captureUnknown } from '../failures.js';
import { Announcements } from '../page/announcements.js';
import { storeDocuments } from '../page/store-items.js';
import { eventServiceOf } from './event-services.js';
import type { ManifestationDependencies } from './manifestation-dependencies.js';
import { type Proof, proofDocument, storeProof } from './manifestation-proofs.js';
import { isOurs, type Judged, resultOf, verdictOn } from './manifestation-verdict.js';

/** What one request did, in numbers. */
export type Counts = Pick<SendResult, 'sent' | 'registered' | 'rejected' | 'statusCode'>;
export const NOTHING_SENT: Counts = { sent: 0, registered: 0, rejected: 0, statusCode: null };

/** Of the few bytes of 108, 109 and 656, as many are kept. */
const LARGEST_BODY_IN_LOG = 4_096;

/**
 * Stores how a call ended: the bytes first, then what they say about each event, the events that became documents, and who is to be told,
 * in one transaction. A repeat changes nothing.
 *
 * @param arrivedAt `performance.now()` at the answer's arrival; null: found later, or none came
 * @throws when database or object store fail for longer than the patience; the answer then stands where the next attempt finds it
 */
export async function commitManifestationCall(
  deps: ManifestationDependencies,
  call: CallRow,
  answer: EventAnswer,
  arrivedAt: number | null,
): Promise<Counts> {
  if (keepsObject(answer)) {
    await archiveAnswer(deps, call, answer);
    await deps.failpoint?.('after_archive');
  }
  const proofs = await storeProofs(deps, call, answer);
  const ended = { call, answer, arrivedAt, proofs };
  const { counts, wake, settled } = await patiently(limitsOf(deps), isTransientDatabaseError, () =>
    deps.database.transaction((tx) => commit(deps, tx, ended)),
  ).catch(async (error: unknown) => {
    if (!keepsObject(answer)) await putAnswer(deps, call, answer);
    throw error;
  });
  await deps.failpoint?.('after_commit');
  deps.wakeEndpoints(wake);
  if (settled) deps.observer?.settled(call, settled);
  return counts;
}

/** The documents of our events that the answer calls registered, by the events' ids. */
async function storeProofs(
  deps: ManifestationDependencies,
  call: CallRow,
  { results }: EventAnswer,
): Promise<ReadonlyMap<string, Proof>> {
  const proofs = new Map<string, Proof>();
  const rows = results.length > 0 ? await deps.database.transaction((tx) => lockOfCall(tx, call, call.id)) : [];
  for (const row of rows) {
    const result = resultOf(row, results);
    if (result && isOurs(row, result)) proofs.set(row.id, await storeProof(deps, call, row, result));
  }
  return proofs;
}

interface Ended {
  readonly call: CallRow;
  readonly answer: EventAnswer;
  readonly arrivedAt: number | null;
  readonly proofs: ReadonlyMap<string, Proof>;
}

async function commit(
  deps: ManifestationDependencies,
  tx: Transaction,
  { call: begun, answer, arrivedAt, proofs }: Ended,
): Promise<{ counts: Counts; wake: readonly string[]; settled: SettledCall | null }> {
  // In this order everywhere: capture, events, documents, company.
  const capture = await lockCapture(tx, begun);
  const company = capture && (await getCompany(tx, capture.companyId));
  if (!capture || !company) throw captureUnknown('capture');
  const rows = await lockOfCall(tx, begun, begun.id);
  const call = await getCall(tx, begun);
  if (!call) throw new Error('the row of a call disappeared');
  if (!mayCommit(call, answer)) return { counts: NOTHING_SENT, wake: [], settled: null };

  const { now, at } = await instantsOfEnd(deps, tx, arrivedAt);
  const archiveId = keepsObject(answer) ? await storeArchive(tx, call, answer, null, at) : null;
  const stage: Stage = { deps, tx, call, answer, capture, company, at, proofs, fresh: [] };
  const announcements = new Announcements(tx, capture, company, at);
  const results: ManifestationResult[] = [];
  for (const row of rows.filter(({ status }) => status === 'pending')) {
    results.push(await judge(stage, row, announcements));
  }
  await recordResults(tx, results, at);
  const registered = results.filter(({ status }) => status === 'registered').length;
  const rejected = results.filter(({ status }) => status === 'rejected').length;
  const how = { outcome: outcomeOf(answer, registered), statusCode: codeOf(answer) };
  await settleCall(tx, call, {
    ...how,
    status: statusOf(answer),
    statusText: answer.statusText,
    settledAt: now,
    answeredAt: statusOf(answer) === 'answered' ? at : null,
    ultNsu: null,
    maxNsu: null,
    documents: registered,
    archiveId,
    body: archiveId === null && answer.raw ? answer.raw.body.subarray(0, LARGEST_BODY_IN_LOG) : null,
    leaseUntil: null,
  });
  const wake = await announcements.publish();
  await deps.failpoint?.('inside_transaction');
  const durationMs = arrivedAt === null ? null : at - call.startedAt;
  return {
    counts: { sent: rows.length, registered, rejected, statusCode: how.statusCode },
    wake,
    settled: { ...how, documents: stage.fresh.length, durationMs },
  };
}

interface Stage {
  readonly deps: ManifestationDependencies;
  readonly tx: Transaction;
  readonly call: CallRow;
  readonly answer: EventAnswer;
  readonly capture: CaptureRow;
  readonly company: CompanyRow;
  readonly at: number;
  readonly proofs: ReadonlyMap<string, Proof>;
  /** Ids of the documents that it brought. */
  readonly fresh: string[];
}

async function judge(stage: Stage, row: ManifestationRow, announcements: Announcements): Promise<ManifestationResult> {
  const { answer, at, deps } = stage;
  const { outcome, statusText, results } = answer;
  const result = resultOf(row, results);
  const verdict = verdictOn(row, { outcome, statusText, result, at, timeScale: deps.timeScale, step: stepOf(stage) });
  const documentId = verdict.status === 'registered' ? await storeRegistered(stage, row, result, announcements) : null;
  return { ...verdict, documentId };
}

function stepOf({ deps, call }: Stage): Judged['step'] {
  const { readBack } = eventServiceOf(deps.eventServices, call.documentType);
  if (!readBack) return null;
  return call.kind === readBack.operation ? 'asking' : 'sending';
}

/** Stored and told of once: one that came by distribution already is only linked. */
async function storeRegistered(
  { tx, call, capture, company, at, proofs, fresh }: Stage,
  row: ManifestationRow,
  result: EventResult | null,
  announcements: Announcements,
): Promise<string | null> {
  const proof = proofs.get(row.id);
  if (!proof || !result) return null;
  const there = await findEventDocument(tx, capture, { ...row, protocol: result.protocol });
  if (there) return there;
  const document = await proofDocument(tx, call, proof, { taxId: company.taxId, at });
  if (!document) return null;
  const [stored] = await storeDocuments(tx, capture, company.taxId, [document], announcements, at);
  if (!stored) return null;
  await countDocuments(tx, capture, 1);
  fresh.push(stored.id);
  return stored.id;
}

/** An answer that comes after its call was given up still counts, as long as no other call has the events. */
function mayCommit({ status }: CallRow, answer: EventAnswer): boolean {
  return status === 'open' || (status === 'unknown' && statusOf(answer) === 'answered');
}

function statusOf({ outcome }: EventAnswer): Exclude<CallStatus, 'open'> {
  return outcome.kind === 'not_sent' || outcome.kind === 'unknown' ? outcome.kind : 'answered';
}

/** An answer about events of which none was registered is a rejection of all. One that calls any of them misuse is about the sender. */
function outcomeOf({ outcome, results }: EventAnswer, registered: number): OutcomeKind {
  if (results.some(({ meaning }) => meaning === 'misuse')) return 'throttled';
  return outcome.kind === 'documents' && registered === 0 ? 'rejected' : outcome.kind;
}

function codeOf({ outcome }: EventAnswer): string | null {
  return 'statusCode' in outcome ? outcome.statusCode : null;
}
