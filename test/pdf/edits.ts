import fc from 'fast-check';
import type { Xml } from './nfe-sample.js';

/** Documents made worse: any of their elements taken away, emptied or filled with nonsense. */

interface Edit {
  /** Which element, as a share of all. */
  readonly at: number;
  /** Its new content; undefined: the element is gone. */
  readonly text: string | undefined;
}

export const anyEdits: fc.Arbitrary<Edit[]> = fc.array(
  fc.record({
    // Not a double: those that are drawn lie close to 0, so that nearly all edits would be of the first element.
    at: fc.nat(9_999).map((part) => part / 10_000),
    text: fc.constantFrom(
      undefined,
      '',
      'N/A',
      '-',
      '1e309',
      '0'.repeat(80),
      'palavra '.repeat(40),
      'X'.repeat(400),
      '<&>',
      '😀',
      '\u0085\u00ad',
    ),
  }),
  { minLength: 1, maxLength: 6 },
);

export function withEdits(xml: Xml, edits: readonly Edit[]): Xml {
  return edits.reduce<Xml>((edit, { at, text }) => edited(edit, Math.floor(at * countOf(edit)), text), xml);
}

/** Elements in all, at whatever depth. */
function countOf(xml: Xml): number {
  if (typeof xml === 'string') return 0;
  return Object.values(xml as Record<string, Xml | undefined>).reduce<number>(
    (sum, value) => sum + 1 + (value === undefined ? 0 : countOf(value)),
    0,
  );
}

/** The same with the nth element's content replaced; undefined: the element is gone. */
function edited(xml: Xml, nth: number, text: string | undefined): Xml {
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
