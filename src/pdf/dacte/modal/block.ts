import type { Field } from '../../kit/fields.js';
import type { RecordColumn, Records } from '../lists.js';

/** What a means of transport has to say: rows of labelled values, and tables. */
export interface ModalBlock {
  readonly title: string;
  readonly rows: readonly (readonly Field[])[];
  readonly records: readonly Records[];
}

/** The first few fields stand there even when empty; what follows only where it says something. */
export function fields(always: readonly Field[], optional: readonly Field[] = []): Field[] {
  return [...always, ...optional.filter(({ value }) => value !== '')];
}

/** A field of a block; `share` is its part of the row's width. */
export function field(label: string, value: string, share = 1): Field {
  return { label, value, share };
}

/** A table of one-line values. Columns that no row uses are left out. */
export function records(
  title: string,
  columns: readonly (readonly [title: string, share: number, align?: RecordColumn['align']])[],
  rows: readonly (readonly string[])[],
): Records {
  const used = columns.map((_, at) => rows.some((row) => row[at] !== ''));
  const keep = <T>(all: readonly T[]) => all.filter((_, at) => used[at]);
  return {
    title,
    columns: keep(columns).map(([name, share, align]) => ({ title: name, share, ...(align && { align }) })),
    rows: used.includes(true) ? rows.map((row) => keep(row).map((text) => [text])) : [],
  };
}
