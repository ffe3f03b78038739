import type { GovernmentActivities } from '../../model/activity-contract.js';
import { ZERO_NSU } from '../../model/nsu.js';
import type { PointResult, RecoveryResult } from '../../model/point-query.js';
import { CallMemory } from '../call/call-memory.js';
import type { Committed } from '../call/ended-call.js';
import { makeCall, ownCallId, refuseWhileStopping, settle } from '../call/make-call.js';
import { type CallContext, limitsOf } from '../dependencies.js';
import { rebuilding } from '../failures.js';
import { type BeginPointInput, beginPoint } from './begin-point.js';

/** The activities that ask for one document: what somebody wants, or the recovery item that is due. */
export function createPointQueries(deps: CallContext): Pick<GovernmentActivities, 'queryPoint' | 'recoverNext'> {
  return {
    queryPoint: async ({ capture, ask, revision, requestId = null }) => {
      const result = await beating(deps, { capture, revision, asked: { ask, requestId } });
      if (result.kind === 'nothing_due') throw new Error('a question was not asked');
      return result;
    },
    recoverNext: async ({ capture, revision }) => {
      const result = await beating(deps, { capture, revision, asked: null });
      if (result.kind === 'local') throw new Error('a recovery item is never answered from here');
      return result;
    },
  };
}

type Input = Omit<BeginPointInput, 'callId' | 'remembered'>;

function beating(deps: CallContext, input: Input): Promise<PointResult | RecoveryResult> {
  const memory = new CallMemory();
  const stopBeating = memory.beating(limitsOf(deps).beat);
  return rebuilding(() => ask(deps, input, memory)).finally(stopBeating);
}

async function ask(deps: CallContext, input: Input, memory: CallMemory): Promise<PointResult | RecoveryResult> {
  const callId = ownCallId();
  for (;;) {
    refuseWhileStopping();
    await deps.failpoint?.('before_record');
    const begun = await beginPoint(deps, { ...input, callId, remembered: memory.call });
    switch (begun.kind) {
      case 'begun':
        memory.remember(begun.call);
        await deps.failpoint?.('after_record');
        return asResult(await makeCall(deps, begun, { ultNsu: ZERO_NSU, point: begun.ask }));
      case 'recorded':
        return asResult(await settle(deps, begun.call));
      case 'unsettled':
        // Whatever came of it, it is over now, and a question has no cursor that could have become stale by it.
        await settle(deps, begun.call);
        continue;
      case 'local': {
        const { kind, documentIds, snapshot, wake } = begun;
        deps.wakeEndpoints(wake);
        return { kind, documentIds, snapshot };
      }
      case 'refused': {
        const { kind, refusal, snapshot, wake } = begun;
        deps.wakeEndpoints(wake);
        deps.observer?.refused(input.capture, refusal.reason);
        return { kind, refusal, snapshot };
      }
      case 'nothing_due':
        return begun;
    }
  }
}

function asResult({
  outcome,
  statusCode,
  documentIds = [],
  snapshot,
}: Committed): Extract<PointResult, { kind: 'asked' }> {
  return { kind: 'asked', outcome, statusCode, documentIds, snapshot };
}
