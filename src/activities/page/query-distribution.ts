import type { GovernmentActivities, QueryResult } from '../../model/activity-contract.js';
import { beginCall } from '../call/begin-call.js';
import { CallMemory } from '../call/call-memory.js';
import type { Committed } from '../call/ended-call.js';
import { makeCall, ownCallId, refuseWhileStopping, settle } from '../call/make-call.js';
import { type CallContext, limitsOf } from '../dependencies.js';
import { rebuilding } from '../failures.js';

type Query = GovernmentActivities['queryDistribution'];

/** The activity that makes a distribution call. docs/government-call.md tells what each line must never do. */
export function createQueryDistribution(deps: CallContext): Query {
  return (input) => {
    const memory = new CallMemory();
    const stopBeating = memory.beating(limitsOf(deps).beat);
    return rebuilding(() => query(deps, input, memory)).finally(stopBeating);
  };
}

async function query(deps: CallContext, input: Parameters<Query>[0], memory: CallMemory): Promise<QueryResult> {
  const callId = ownCallId();
  let searched: string | null = null;
  for (;;) {
    refuseWhileStopping();
    await deps.failpoint?.('before_record');
    const begun = await beginCall(deps, { ...input, callId, searched, remembered: memory.call });
    switch (begun.kind) {
      case 'begun':
        memory.remember(begun.call);
        await deps.failpoint?.('after_record');
        return asResult(await makeCall(deps, begun, { ultNsu: begun.ultNsu }));
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

function asResult({ outcome, statusCode, documents, snapshot }: Committed): QueryResult {
  return { kind: 'committed', outcome, statusCode, documents, snapshot };
}
