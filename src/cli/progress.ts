import { setTimeout as delay } from 'node:timers/promises';

const WIDTH = 30;
/** Milliseconds between two looks. */
const PAUSE = 1_000;

/**
 * Looks again and again until something is over. On a terminal a bar shows how far it is.
 *
 * @param what what is done and how much there is; `total` null: not known yet
 */
export async function followed<T>(
  look: () => Promise<T>,
  what: (seen: T) => {
    readonly over: boolean;
    readonly done: number;
    readonly total: number | null;
    readonly unit: string;
  },
): Promise<T> {
  const { stderr } = process;
  for (;;) {
    const seen = await look();
    const { over, done, total, unit } = what(seen);
    if (stderr.isTTY)
      stderr.write(over ? '\r\x1b[K' : `\r\x1b[K${bar(done, total)} ${done} of ${total ?? '…'} ${unit}`);
    if (over) return seen;
    await delay(PAUSE);
  }
}

function bar(done: number, total: number | null): string {
  const full = total === null || total === 0 ? 0 : Math.min(Math.round((done / total) * WIDTH), WIDTH);
  return `[${'#'.repeat(full)}${'.'.repeat(WIDTH - full)}]`;
}
