import type { Logger } from '../platform/log.js';

/** One Ctrl-C may reach us twice: from the terminal, and passed on by npm. */
const SAME_WISH_MS = 1000;

/**
 * Resolves with the first SIGINT or SIGTERM: time to stop in order. A later one ends the process at once.
 *
 * @param onForced called right before that
 */
export function stopSignal(onForced: () => void = () => undefined): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let askedAt: number | null = null;
    const listen = (signal: NodeJS.Signals): void => {
      if (askedAt === null) {
        askedAt = performance.now();
        resolve(signal);
      } else if (performance.now() - askedAt > SAME_WISH_MS) {
        onForced();
        process.exit(signal === 'SIGINT' ? 130 : 143);
      }
    };
    process.on('SIGINT', listen);
    process.on('SIGTERM', listen);
  });
}

/** Runs a process's work until a signal, or until the work ends by itself, then stops it in order. */
export async function untilStopped(
  logger: Logger,
  work: { readonly ended?: Promise<unknown>; readonly stop: () => Promise<unknown> },
): Promise<void> {
  const signal = stopSignal(() => logger.warn('stopped at once: calls in hand count as unknown'));
  const first = await Promise.race([signal, work.ended ?? new Promise<never>(() => undefined)]);
  if (typeof first === 'string') logger.info({ signal: first }, 'stopping: no new work, what is in hand is finished');
  await work.stop();
  await work.ended;
  logger.info('stopped');
}
