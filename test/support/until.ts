import { setTimeout as delay } from 'node:timers/promises';

/**
 * Polls until the condition holds (anything truthy), and returns what it gave. Fails after the limit, naming what was waited for.
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  what: string,
  limitMs = 120_000,
): Promise<Exclude<T, false | null | undefined | 0 | ''>> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const value = await condition();
    if (value) return value as Exclude<T, false | null | undefined | 0 | ''>;
    if (performance.now() > deadline) throw new Error(`waited ${limitMs} ms in vain: ${what}`);
    await delay(20);
  }
}
