const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?$/;

/**
 * Reads a time of a government answer (dhResp), milliseconds since 1970; null when it is absent or no time. Without an offset it is Brasília's,
 * −03:00 all year since 2019: the CT-e layout leaves it out (case C61).
 */
export function parseServerTime(text: string | null): number | null {
  const match = RFC_3339.exec(text ?? '');
  if (!match) return null;
  const at = Date.parse(match[2] ? match[0] : `${match[0]}-03:00`);
  return Number.isNaN(at) ? null : at;
}
