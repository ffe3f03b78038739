import { performance } from 'node:perf_hooks';
import { ApplicationFailure, activityInfo, cancellationSignal } from '@temporalio/activity';
import { cadenceOf, STOPPING } from '../../cadence/index.js';
import type { CallAnswer, ReadAnswer } from '../../government/types.js';
import { ZERO_NSU } from '../../model/nsu.js';
import type { DocumentType } from '../../model/words.js';
import { type CallRow, isPointCall, ON_DEMAND_KINDS } from '../../storage/calls.js';
import {
  type CallContext,
  type DistributionQuestion,
  type DistributionService,
  limitsOf,
  type StoredQuestion,
} from '../dependencies.js';
import { findAnswer, STATUS_NOT_KEPT, silence } from './archive.js';
import type { BegunCall } from './begin-steps.js';
import { CallWatch } from './call-watch.js';
import { commitAnswer } from './commit-answer.js';
import type { Committed } from './ended-call.js';

/** The wire. What comes back is stored whatever it is; what does not come back is `unknown` or `not_sent`. */
export async function makeCall(
  deps: CallContext,
  begun: BegunCall,
  asked: Pick<DistributionQuestion, 'ultNsu' | 'point' | 'onDemand'>,
): Promise<Committed> {
  const { call, company, certificate, recordedAt } = begun;
  const watch = new CallWatch(deps.database, call, recordedAt, limitsOf(deps));
  let answer: CallAnswer;
  try {
    await deps.failpoint?.('before_send');
    answer = await serviceFor(deps, call.documentType).ask({
      ...asked,
      capture: call,
      taxId: company.taxId,
      uf: company.uf,
      certificate,
      limitMs: cadenceOf(call.documentType).callLimit,
      signal: watch.signal,
      beforeSend: watch.beforeSend,
    });
  } finally {
    watch.end();
  }
  const arrivedAt = performance.now();
  await deps.failpoint?.('after_send');
  if (watch.dropped) answer = silence({ kind: 'not_sent', reason: STOPPING });
  return commitAnswer(deps, call, answer, { arrivedAt, ours: true });
}

/**
 * Ends a call that somebody else began, or this activity in an earlier attempt, without ever calling: its answer is committed if it
 * stands somewhere; an open call without one becomes `unknown`; a settled one keeps its end.
 */
export async function settle(deps: CallContext, call: CallRow): Promise<Committed> {
  const bytes = call.status === 'open' || call.status === 'unknown' ? await findAnswer(deps, call) : null;
  const answer = bytes
    ? found(bytes, serviceFor(deps, call.documentType).read(bytes, askedBy(call)))
    : silence({ kind: 'unknown', reason: 'the process that made the call is gone, and no answer was stored' });
  return commitAnswer(deps, call, answer, { arrivedAt: null, ours: false });
}

/** What a call asked, as far as its answer is read differently for it. The key of a query by key is in the answer. */
function askedBy(call: CallRow): StoredQuestion {
  const asked = { capture: call, ultNsu: call.fromNsu ?? ZERO_NSU };
  if (call.kind === ON_DEMAND_KINDS.note) return { ...asked, onDemand: { note: '' } };
  if (call.kind === ON_DEMAND_KINDS.events) return { ...asked, onDemand: { events: '' } };
  return isPointCall(call) ? { ...asked, point: { nsu: asked.ultNsu } } : asked;
}

/** An answer as it was stored: the bytes decide what it is. */
function found(body: Uint8Array, read: ReadAnswer): CallAnswer {
  return { ...read, raw: { status: STATUS_NOT_KEPT, contentType: null, headers: {}, body } };
}

/** Of the activity that runs. All its attempts share it; a reset workflow or a new run has another. */
export function ownCallId(): string {
  const { workflowExecution, activityId } = activityInfo();
  if (!workflowExecution) throw new Error('a government call is made for a workflow only');
  return `${workflowExecution.runId}:${activityId}`;
}

/** Nothing was begun, so nothing is to be settled: another worker does it. */
export function refuseWhileStopping(): void {
  if (cancellationSignal().aborted) throw ApplicationFailure.retryable('the worker is stopping', STOPPING);
}

function serviceFor(deps: CallContext, documentType: DocumentType): DistributionService {
  const service = deps.services[documentType];
  if (!service) throw new Error(`this worker has no service for ${documentType}`);
  return service;
}
