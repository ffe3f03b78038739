import type { HostHandler } from '../model/words.js';
import type { StartSignal } from './messages.js';

/**
 * What signals have asked for and the loop has not yet done. Signals only leave a note here: the loop does the work, one thing at a
 * time, so that no two parts of a capture ever act at once.
 */
export class CaptureInbox {
  /** A start: `enable` when the SDK wants the row written, else a mere "read the row again". */
  #start: StartSignal | null = null;
  #stop = false;
  #resume = false;
  #reload = false;
  #woken = false;
  #changed = false;
  #hold: number | 'indefinitely' | undefined;

  /** A start cancels a stop that came before it, and the other way round: the last word counts. */
  start(argument: unknown): boolean {
    const signal = readStart(argument);
    if (!signal) return false;
    this.#start = signal;
    this.#stop = false;
    return true;
  }

  stop(): void {
    this.#stop = true;
    this.#start = null;
  }

  /** Ends a hold, also one that was asked for a moment ago and is not carried out yet. A hold after it is another matter. */
  resume(): void {
    this.#resume = true;
    this.#hold = undefined;
  }

  /** @param now milliseconds; a hold until then or earlier is none */
  pause(argument: unknown, now: number): boolean {
    const until = readPause(argument);
    if (until === null || (until !== 'indefinitely' && until <= now)) return false;
    this.#hold = until;
    return true;
  }

  configure(): void {
    this.#reload = true;
  }

  wake(): void {
    this.#woken = true;
  }

  /** A point query changed the state: what comes next is to be planned anew. */
  change(): void {
    this.#changed = true;
  }

  /** Anything that ends a wait. */
  get hasNews(): boolean {
    return (
      this.#stop ||
      this.#start !== null ||
      this.#resume ||
      this.#reload ||
      this.#woken ||
      this.#changed ||
      this.#hold !== undefined
    );
  }

  get wantsStop(): boolean {
    return this.#stop;
  }

  takeStart(): StartSignal | null {
    const start = this.#start;
    this.#start = null;
    return start;
  }

  takeResume(): boolean {
    const resume = this.#resume;
    this.#resume = false;
    return resume;
  }

  takeChange(): boolean {
    const changed = this.#changed;
    this.#changed = false;
    return changed;
  }

  takeHold(): number | 'indefinitely' | undefined {
    const hold = this.#hold;
    this.#hold = undefined;
    return hold;
  }

  /** A wake-up reads the row again too: rows hold the work, signals only say that there is some. */
  takeReload(): boolean {
    const reload = this.#reload || this.#woken;
    this.#reload = false;
    this.#woken = false;
    return reload;
  }

  /** The stop was carried out, or overtaken by a later start. */
  clearStop(): void {
    this.#stop = false;
  }
}

function readStart(argument: unknown): StartSignal | null {
  if (argument === undefined || argument === null) return {};
  if (typeof argument !== 'object') return null;
  const enable = (argument as { enable?: unknown }).enable;
  if (enable === undefined || enable === null) return {};
  if (typeof enable !== 'object') return null;
  const handler = (enable as { handler?: unknown }).handler;
  if (handler === undefined) return { enable: {} };
  if (handler === null) return { enable: { handler: null } };
  return isHandler(handler) ? { enable: { handler } } : null;
}

function isHandler(value: unknown): value is HostHandler {
  const handler = value as Partial<HostHandler>;
  return typeof value === 'object' && typeof handler.taskQueue === 'string' && typeof handler.activity === 'string';
}

function readPause(argument: unknown): number | 'indefinitely' | null {
  if (argument === undefined || argument === null) return 'indefinitely';
  const until = (argument as { until?: unknown }).until;
  if (until === undefined || until === null) return 'indefinitely';
  const instant = typeof until === 'string' ? Date.parse(until) : Number.NaN;
  return Number.isNaN(instant) ? null : instant;
}
