import { activityInfo, heartbeat } from '@temporalio/activity';
import { type Nsu, tryParseNsu } from '../../model/nsu.js';
import type { CallRow } from '../../storage/calls.js';

/** A call as Temporal remembers it: enough to write its row again. */
export interface RememberedCall extends Pick<CallRow, 'kind' | 'fromNsu'> {
  /** Milliseconds. */
  readonly startedAt: number;
}

/**
 * What the attempts of one activity tell each other besides the database: that a call was written down and may have been made. A failover to
 * a replica can lose exactly that row, and without it the next attempt would make the call again. It travels in the heartbeats.
 */
export class CallMemory {
  #call: RememberedCall | null = read(activityInfo().heartbeatDetails);

  /** The call of an earlier attempt. */
  get call(): RememberedCall | null {
    return this.#call;
  }

  /** Call it as soon as the row is committed. */
  remember({ startedAt, kind, fromNsu }: CallRow): void {
    this.#call = { startedAt, kind, fromNsu };
    this.beat();
  }

  /** Heartbeats until the function that it gives is called. */
  beating(everyMs: number): () => void {
    this.beat();
    const timer = setInterval(() => this.beat(), everyMs);
    return () => clearInterval(timer);
  }

  /** Every heartbeat takes the place of the one before, so each says it. */
  private beat(): void {
    heartbeat(this.#call ?? undefined);
  }
}

function read(details: unknown): RememberedCall | null {
  const { startedAt, kind, fromNsu } = (details ?? {}) as Partial<Record<keyof RememberedCall, unknown>>;
  if (typeof startedAt !== 'number' || typeof kind !== 'string') return null;
  const nsu: Nsu | null = tryParseNsu(fromNsu);
  return { startedAt, kind, fromNsu: nsu };
}
