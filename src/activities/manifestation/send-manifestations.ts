import { performance } from 'node:perf_hooks';
import { ApplicationFailure, activityInfo, cancellationSignal } from '@temporalio/activity';
import { STOPPING } from '../../cadence/index.js';
import type { EventAnswer } from '../../government/event-answer.js';
import type { ManifestationActivities, SendResult } from '../../model/manifestation-contract.js';
import type { Outcome } from '../../model/outcome.js';
import type { CallRow } from '../../storage/calls.js';
import { outlookOf } from '../../storage/manifestation-queue.js';
import { findAnswer, STATUS_NOT_KEPT } from '../call/archive.js';
import { beat, CallWatch } from '../call/call-watch.js';
import { limitsOf } from '../dependencies.js';
import { rebuilding } from '../failures.js';
import { type BegunEvents, beginManifestationCall } from './begin-manifestation-call.js';
import { type Counts, commitManifestationCall, NOTHING_SENT } from './commit-manifestation-call.js';
import { eventServiceOf } from './event-services.js';
import type { ManifestationDependencies } from './manifestation-dependencies.js';
import { EVENT_CALL_LIMIT_MS } from './manifestation-verdict.js';

type Send = ManifestationActivities['sendManifestations'];

/**
 * The activity that sends what is due. It follows the rules of every government call (docs/government-call.md): the row before the call,
 * the archive before the commit, and no second call of one activity. What differs: a call that may have arrived is simply made again,
 * because the same signed event is registered once; where the service can be asked, it is asked first what became of it.
 */
export function createSendManifestations(deps: ManifestationDependencies): Send {
  return (input) => {
    const stopBeating = beat(limitsOf(deps).beat);
    return rebuilding(() => send(deps, input)).finally(stopBeating);
  };
}

async function send(deps: ManifestationDependencies, { capture }: Parameters<Send>[0]): Promise<SendResult> {
  const { workflowExecution, activityId } = activityInfo();
  if (!workflowExecution) throw new Error('a government call is made for a workflow only');
  const callId = `${workflowExecution.runId}:${activityId}`;
  const withOutlook = async (counts: Counts, obstacle: SendResult['obstacle'] = null): Promise<SendResult> => ({
    ...counts,
    obstacle,
    ...(await outlookOf(deps.database, capture)),
  });
  for (;;) {
    if (cancellationSignal().aborted) throw ApplicationFailure.retryable('the worker is stopping', STOPPING);
    await deps.failpoint?.('before_record');
    const begun = await beginManifestationCall(deps, capture, callId);
    switch (begun.kind) {
      case 'nothing':
        return withOutlook(NOTHING_SENT, begun.obstacle);
      case 'recorded':
        return withOutlook(await settle(deps, begun.call));
      case 'unsettled':
        await settle(deps, begun.call);
        break;
      case 'begun':
        await deps.failpoint?.('after_record');
        return withOutlook(await call(deps, begun));
    }
  }
}

async function call(deps: ManifestationDependencies, begun: Extract<BegunEvents, { kind: 'begun' }>): Promise<Counts> {
  const { call, rule, key, sequence, events, readsBack, certificate, recordedAt } = begun;
  const service = eventServiceOf(deps.eventServices, call.documentType);
  const watch = new CallWatch(deps.database, call, recordedAt, limitsOf(deps));
  let answer: EventAnswer;
  try {
    await deps.failpoint?.('before_send');
    const request = {
      rule,
      key,
      sequence,
      environment: call.environment,
      startedAt: call.startedAt,
      certificate,
      limitMs: EVENT_CALL_LIMIT_MS,
      signal: watch.signal,
      beforeSend: watch.beforeSend,
    };
    answer = await (readsBack ? readsBack.ask(request) : service.send({ ...request, events }));
  } finally {
    watch.end();
  }
  const arrivedAt = performance.now();
  await deps.failpoint?.('after_send');
  if (watch.dropped) answer = silence({ kind: 'not_sent', reason: STOPPING });
  return commitManifestationCall(deps, call, answer, arrivedAt);
}

/** Ends a call whose process is gone: by its stored answer if there is one, else as unanswered. Never by calling. */
async function settle(deps: ManifestationDependencies, call: CallRow): Promise<Counts> {
  const bytes = call.status === 'open' ? await findAnswer(deps, call) : null;
  const answer: EventAnswer = bytes
    ? {
        ...eventServiceOf(deps.eventServices, call.documentType).read(bytes, call.environment),
        raw: { status: STATUS_NOT_KEPT, contentType: null, headers: {}, body: bytes },
      }
    : silence({ kind: 'unknown', reason: 'the process that made the call is gone, and no answer was stored' });
  return commitManifestationCall(deps, call, answer, null);
}

function silence(outcome: Extract<Outcome, { kind: 'not_sent' | 'unknown' }>): EventAnswer {
  return { outcome, results: [], items: [], statusText: outcome.reason, serverTime: null, warnings: [], raw: null };
}
