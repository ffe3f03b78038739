import { performance } from 'node:perf_hooks';
import { ApplicationFailure, activityInfo, cancellationSignal, type Info } from '@temporalio/activity';
import { cadenceOf, STOPPING } from '../cadence/index.js';
import type { CallAnswer, ReadAnswer } from '../government/types.js';
import type { GovernmentActivities, QueryResult } from '../model/activity-contract.js';
import { ZERO_NSU } from '../model/nsu.js';
import type { DocumentType } from '../model/words.js';
import type { CallRow } from '../storage/calls.js';
import { findAnswer, STATUS_NOT_KEPT, silence } from './archive.js';
import { type Begun, beginCall } from './begin-call.js';
import { beat, CallWatch } from './call-watch.js';
import { commitAnswer } from './commit-answer.js';
import { type CallContext, type DistributionService, limitsOf } from './dependencies.js';
import { rebuilding } from './failures.js';
import type { Committed } from './page-transaction.js';

type Query = GovernmentActivities['queryDistribution'];

/** The activity that makes a distribution call. docs/government-call.md tells what each line must never do. */
export function createQueryDistribution(deps: CallContext): Query {
  return (input) => {
    const stopBeating = beat(limitsOf(deps).beat);
    return rebuilding(() => query(deps, input)).finally(stopBeating);
  };
}

async function query(deps: CallContext, input: Parameters<Query>[0]): Promise<QueryResult> {
  const callId = callIdOf(activityInfo());
  let searched: string | null = null;
  for (;;) {
    refuseWhileStopping();
    await deps.failpoint?.('before_record');
    const begun = await beginCall(deps, { ...input, callId, searched });
    switch (begun.kind) {
      case 'begun':
        await deps.failpoint?.('after_record');
        return asResult(await call(deps, begun));
      case 'refused':
        deps.wakeEndpoints(begun.wake);
        deps.observer?.refused(input.capture, begun.refusal.reason);
        return { kind: 'refused', refusal: begun.refusal, snapshot: begun.snapshot };
      case 'recorded':
        return asResult(await settle(deps, begun.call));
      case 'unsettled': {
        const { snapshot, written } = await settle(deps, begun.call);
        if (begun.call.status === 'open' || written) {
          return { kind: 'refused', refusal: { reason: 'stale' }, snapshot };
        }
        searched = begun.call.id;
      }
    }
  }
}

/** The wire. What comes back is stored whatever it is; what does not come back is `unknown` or `not_sent`. */
async function call(deps: CallContext, begun: Extract<Begun, { kind: 'begun' }>): Promise<Committed> {
  const { call, company, certificate, recordedAt } = begun;
  const watch = new CallWatch(deps.database, call, recordedAt, limitsOf(deps));
  let answer: CallAnswer;
  try {
    await deps.failpoint?.('before_send');
    answer = await serviceFor(deps, call.documentType).ask({
      capture: call,
      taxId: company.taxId,
      uf: company.uf,
      ultNsu: begun.ultNsu,
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
async function settle(deps: CallContext, call: CallRow): Promise<Committed> {
  const bytes = call.status === 'open' || call.status === 'unknown' ? await findAnswer(deps, call) : null;
  const answer = bytes
    ? found(bytes, serviceFor(deps, call.documentType).read(bytes, { ultNsu: call.fromNsu ?? ZERO_NSU }))
    : silence({ kind: 'unknown', reason: 'the process that made the call is gone, and no answer was stored' });
  return commitAnswer(deps, call, answer, { arrivedAt: null, ours: false });
}

/** An answer as it was stored: the bytes decide what it is. */
function found(body: Uint8Array, read: ReadAnswer): CallAnswer {
  return { ...read, raw: { status: STATUS_NOT_KEPT, contentType: null, headers: {}, body } };
}

function asResult({ outcome, statusCode, documents, snapshot }: Committed): QueryResult {
  return { kind: 'committed', outcome, statusCode, documents, snapshot };
}

/** All attempts of an activity share it; a reset workflow or a new run has another. */
function callIdOf({ workflowExecution, activityId }: Info): string {
  if (!workflowExecution) throw new Error('a government call is made for a workflow only');
  return `${workflowExecution.runId}:${activityId}`;
}

/** Nothing was begun, so nothing is to be settled: another worker does it. */
function refuseWhileStopping(): void {
  if (cancellationSignal().aborted) throw ApplicationFailure.retryable('the worker is stopping', STOPPING);
}

function serviceFor(deps: CallContext, documentType: DocumentType): DistributionService {
  const service = deps.services[documentType];
  if (!service) throw new Error(`this worker has no service for ${documentType}`);
  return service;
}
