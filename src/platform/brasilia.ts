const CLOCK = new Intl.DateTimeFormat('en-CA', {
  timeZone: 'America/Sao_Paulo',
  hourCycle: 'h23',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

/** What the clock of Brasília (America/Sao_Paulo) shows, each part with its zeros. */
export interface WallTime {
  readonly year: string;
  readonly month: string;
  readonly day: string;
  readonly hour: string;
  readonly minute: string;
  readonly second: string;
}

/** @param at milliseconds since 1970 */
export function brasiliaTime(at: number): WallTime {
  const parts = Object.fromEntries(CLOCK.formatToParts(at).map(({ type, value }) => [type, value]));
  const { year = '', month = '', day = '', hour = '', minute = '', second = '' } = parts;
  return { year, month, day, hour, minute, second };
}

/**
 * When a day begins in Brasília.
 *
 * @param day such as 2026-11-30
 * @returns milliseconds since 1970
 */
export function startOfDay(day: string): number {
  const asUtc = Date.parse(`${day}T00:00:00Z`);
  // Three hours behind Greenwich, two in the summers in which there was summer time.
  const guess = asUtc + 3 * 3_600_000;
  const { year, month, day: shown, hour, minute, second } = brasiliaTime(guess);
  return guess + asUtc - Date.parse(`${year}-${month}-${shown}T${hour}:${minute}:${second}Z`);
}

/**
 * When a day is over in Brasília: the first moment of the next.
 *
 * @param day such as 2026-11-30
 * @returns milliseconds since 1970
 */
export function endOfDay(day: string): number {
  return startOfDay(new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10));
}
