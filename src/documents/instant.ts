const WRITTEN = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}:\d{2})(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})?)?$/;

/**
 * The instant of a time as documents write it, for filters and sorting; what is shown is always the text itself. Without an offset it is
 * Brasília's (cases C39, C61), and a calendar date begins at midnight there. Summer time, abolished in 2019, is not looked up.
 *
 * @returns milliseconds since 1970, or null when the text is no time
 */
export function instantOf(written: string): number | null {
  const [, date, time = '00:00:00', fraction = '', offset = '-03:00'] = WRITTEN.exec(written) ?? [];
  const instant = date === undefined ? Number.NaN : Date.parse(`${date}T${time}${fraction.slice(0, 4)}${offset}`);
  return Number.isNaN(instant) ? null : instant;
}
