import type { Xml } from './nfe-sample.js';

/** Changes to any element of a made-up document, for property tests. */

/** Elements in all, at whatever depth. */
export function countOf(xml: Xml): number {
  if (typeof xml === 'string') return 0;
  return Object.values(xml as Record<string, Xml | undefined>).reduce<number>(
    (sum, value) => sum + 1 + (value === undefined ? 0 : countOf(value)),
    0,
  );
}

/** The same with the nth element's content replaced; undefined: the element is gone. */
export function edited(xml: Xml, nth: number, text: string | undefined): Xml {
  if (typeof xml === 'string') return xml;
  let left = nth;
  const entries = Object.entries(xml as Record<string, Xml | undefined>).map(
    ([name, value]): [string, Xml | undefined] => {
      const inside = value === undefined ? 0 : countOf(value);
      const here = left;
      left -= 1 + inside;
      if (here === 0) return [name, text];
      return [name, here > 0 && here <= inside && value !== undefined ? edited(value, here - 1, text) : value];
    },
  );
  return Array.isArray(xml)
    ? entries.flatMap(([, value]) => (value === undefined ? [] : [value]))
    : Object.fromEntries(entries);
}
