import { fileURLToPath } from 'node:url';

/** What may be told of an error in a log line: nothing that its maker did not write down here or in our own code. */
export interface DescribedError {
  readonly name: string;
  readonly code?: string;
  /** Only of errors that our own code made: a library's text may hold anything, its objects the private key (case C96). */
  readonly message?: string;
  /** Frames only: functions and places, no values. */
  readonly stack?: string;
  readonly cause?: DescribedError;
}

const MAX_CAUSES = 3;
const OURS = [new URL('../', import.meta.url).href, fileURLToPath(new URL('../', import.meta.url))];

/** Rebuilds an error, or whatever was thrown, from an allow-list. */
export function serializeError(thrown: unknown, causes = MAX_CAUSES): DescribedError {
  if (!(thrown instanceof Error)) return { name: `thrown ${thrown === null ? 'null' : typeof thrown}` };
  const frames = framesOf(thrown);
  const { code } = thrown as { code?: unknown };
  return {
    name: thrown.name,
    ...(typeof code === 'string' && code.length <= 64 ? { code } : {}),
    ...(madeByUs(frames) ? { message: thrown.message } : {}),
    ...(frames.length === 0 ? {} : { stack: frames.join('\n') }),
    ...(thrown.cause === undefined || causes === 0 ? {} : { cause: serializeError(thrown.cause, causes - 1) }),
  };
}

/**
 * One line about an error, fit for a person and for a log: our own message, else name and code.
 */
export function describeError(thrown: unknown): string {
  const { name, code, message } = serializeError(thrown, 0);
  return message ?? (code === undefined || code === name ? name : `${name} (${code})`);
}

/** The frames of the stack. The message in front of them is cut off by its length, so that no message can pass for a frame. */
function framesOf(error: Error): string[] {
  const stack = typeof error.stack === 'string' ? error.stack : '';
  const at = stack.indexOf(error.message);
  return stack
    .slice(at < 0 ? 0 : at + error.message.length)
    .split('\n')
    .filter((line) => /^\s+at /.test(line));
}

/**
 * An error is ours when it was made in our own code: its first frame says so, which needs no list of names to be kept. The
 * factories of Temporal's failures are skipped, since we call them with words of our own.
 */
function madeByUs(frames: readonly string[]): boolean {
  const maker = frames.find((frame) => !frame.includes('/node_modules/@temporalio/common/'));
  return maker !== undefined && OURS.some((place) => maker.includes(place));
}
