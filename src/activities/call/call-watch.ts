import { performance } from 'node:perf_hooks';
import { cancellationSignal, heartbeat } from '@temporalio/activity';
import { type CallRow, isOpen } from '../../storage/calls.js';
import type { Queryable } from '../../storage/database.js';
import type { CallLimits } from '../dependencies.js';

/** An instant of this process, by two clocks: one never jumps, the other goes on while the machine is frozen. */
export interface Mark {
  readonly monotonic: number;
  readonly wall: number;
}

/** This moment, by the clock that never jumps and by the one that goes on while the machine is frozen. */
export function mark(): Mark {
  return { monotonic: performance.now(), wall: Date.now() };
}

/** Milliseconds since the mark: the longer of the two opinions. */
function elapsedSince({ monotonic, wall }: Mark): number {
  return Math.max(performance.now() - monotonic, Date.now() - wall);
}

/** Heartbeats from now on, so that a dead worker is noticed and a cancellation arrives. Gives the function that ends them. */
export function beat(everyMs: number): () => void {
  heartbeat();
  const timer = setInterval(heartbeat, everyMs);
  return () => clearInterval(timer);
}

/**
 * Watches over one call while it is in flight: cuts the connection when the call is not this process's any more, and keeps the
 * request from leaving when it must not.
 */
export class CallWatch {
  readonly #cut = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #stopping = cancellationSignal();
  readonly #onStop = () => {
    // A request that has left is waited for: its answer counts whether or not somebody still wants it.
    if (!this.#sent) this.#cut.abort();
  };
  #sent = false;
  #reading = false;
  #lastSeen = performance.now();

  constructor(
    private readonly db: Queryable,
    private readonly call: Pick<CallRow, 'id' | 'startedAt'>,
    private readonly recordedAt: Mark,
    private readonly limits: CallLimits,
  ) {
    this.#stopping.addEventListener('abort', this.#onStop);
    if (this.#stopping.aborted) this.#cut.abort();
    this.#timer = setInterval(() => void this.#look(), limits.beat);
  }

  /** Aborts when the connection must be cut. */
  get signal(): AbortSignal {
    return this.#cut.signal;
  }

  /** The process was asked to stop before the request left. */
  get dropped(): boolean {
    return this.#stopping.aborted && !this.#sent;
  }

  /** Throws when the request must not leave. Its first byte follows at once. */
  readonly beforeSend = (): void => {
    if (this.#stopping.aborted) throw new Error('the process is stopping');
    if (this.#cut.signal.aborted) throw new Error('the call is not ours any more');
    if (elapsedSince(this.recordedAt) > this.limits.sendWithin) {
      // Frozen in between (a paused machine, a blocked process): another one may already act on the call's row.
      throw new Error(`more than ${this.limits.sendWithin / 1_000} s passed since the call was recorded`);
    }
    this.#sent = true;
  };

  end(): void {
    clearInterval(this.#timer);
    this.#stopping.removeEventListener('abort', this.#onStop);
  }

  async #look(): Promise<void> {
    if (performance.now() - this.#lastSeen > this.limits.blind) this.#cut.abort();
    if (this.#reading) return;
    this.#reading = true;
    try {
      const open = await isOpen(this.db, this.call);
      if (open) this.#lastSeen = performance.now();
      else this.#cut.abort();
    } catch {
      // Not readable now: the age of the last good look decides.
    } finally {
      this.#reading = false;
    }
  }
}
