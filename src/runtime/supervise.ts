import { setTimeout as delay } from 'node:timers/promises';

/** A part of `malote dev` that may end although nobody asked it to. */
export interface Supervised {
  /** Resolves, or rejects, when the part has ended. */
  readonly ended: Promise<unknown>;
  stop(): Promise<unknown>;
}

/** Keeps one program running. */
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

/**
 * Keeps a part running: started again whenever it ends by itself, as somebody who tries what happens may kill it. Ended five times
 * within a minute, it is given up.
 *
 * @param start gets the one that ended, to take up its place (its port, say); null at first
 * @param onRestart told why it ended, right before it is started again
 * @param pauseMs between its end and its start
 */
export async function supervise<T extends Supervised>(
  name: string,
  start: (before: T | null) => Promise<T>,
  onRestart: (why: string) => void,
  pauseMs = 500,
): Promise<Supervisor<T>> {
  let current = await start(null);
  let restart: Promise<T> | null = null;
  let stopping = false;
  const ends: number[] = [];

  const watch = async (): Promise<never> => {
    for (;;) {
      const why = await current.ended.then(
        (how) => (typeof how === 'string' ? how : 'it ended'),
        (error: unknown) => (error instanceof Error ? error.message : 'it failed'),
      );
      if (stopping) return NEVER;
      ends.push(performance.now());
      if (ends.length >= RESTARTS && performance.now() - (ends.at(-RESTARTS) ?? 0) < WITHIN_MS) {
        throw new Error(`${name} ended ${RESTARTS} times within a minute, at last with: ${why}`);
      }
      onRestart(why);
      await delay(pauseMs);
      if (stopping) return NEVER;
      restart = start(current);
      current = await restart;
    }
  };
  const failed = watch();
  failed.catch(() => undefined); // whoever waits for it hears of it
  return {
    current: () => current,
    failed,
    stop: async () => {
      stopping = true;
      // One that is about to come up again has to come up before it can be stopped.
      await restart?.catch(() => undefined);
      await current.stop();
    },
  };
}

const NEVER = new Promise<never>(() => undefined);
