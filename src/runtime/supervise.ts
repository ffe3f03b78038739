import { setTimeout as delay } from 'node:timers/promises';

/** A part of `malote dev` that may end although nobody asked it to. */
export interface Supervised {
  /** Resolves, or rejects, when the part has ended. */
  readonly ended: Promise<unknown>;
  stop(): Promise<unknown>;
}

export interface Supervisor<T extends Supervised> {
  /** The running one. */
  readonly current: () => T;
  /** Rejects when the part ended too often; never resolves. */
  readonly failed: Promise<never>;
  /** Ends it for good. */
  stop(): Promise<void>;
}

const RESTARTS = 5;
const WITHIN_MS = 60_000;
const PAUSE_MS = 500;

/**
 * Keeps a part running: started again whenever it ends by itself, as somebody who tries what happens may kill it. Ended five times
 * within a minute, it is given up.
 *
 * @param start gets the one that ended, to take up its place (its port, say); null at first
 * @param onRestart told why it ended, right before it is started again
 */
export async function supervise<T extends Supervised>(
  name: string,
  start: (before: T | null) => Promise<T>,
  onRestart: (why: string) => void,
): Promise<Supervisor<T>> {
  let current = await start(null);
  let stopping = false;
  const ends: number[] = [];

  const watch = async (): Promise<never> => {
    for (;;) {
      const why = await current.ended.then(
        (how) => (typeof how === 'string' ? how : 'it ended'),
        (error: unknown) => (error instanceof Error ? error.message : 'it failed'),
      );
      if (stopping) return new Promise<never>(() => undefined);
      ends.push(Date.now());
      if (ends.length >= RESTARTS && Date.now() - (ends.at(-RESTARTS) ?? 0) < WITHIN_MS) {
        throw new Error(`${name} ended ${RESTARTS} times within a minute, at last with: ${why}`);
      }
      onRestart(why);
      await delay(PAUSE_MS);
      if (stopping) return new Promise<never>(() => undefined);
      current = await start(current);
    }
  };
  const failed = watch();
  failed.catch(() => undefined); // whoever waits for it hears of it
  return {
    current: () => current,
    failed,
    stop: async () => {
      stopping = true;
      await current.stop();
    },
  };
}
