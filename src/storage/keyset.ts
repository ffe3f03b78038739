/** One page of a list that is stable under inserts, because the cursor names the last row instead of counting rows. */
export interface Page<Row> {
  readonly rows: Row[];
  /** Opaque; null at the end. */
  readonly nextCursor: string | null;
}

/** Which page of a list. */
export interface PageRequest {
  /** Rows wanted; the caller has checked the bounds. */
  readonly limit: number;
  readonly cursor?: string | null;
}

/** A cursor that this list did not give out. The API answers 422. */
export class InvalidCursor extends Error {
  override readonly name = 'InvalidCursor';
  constructor() {
    super('cursor: not one that this list gave out; leave it out to begin again');
  }
}

/** What a list is ordered by, e.g. an instant in milliseconds and an id. */
export type Position = readonly (string | number)[];

const KINDS = {
  // PostgreSQL's calendar begins later than JavaScript's, and nothing of ours is older than 1970.
  instant: (value: unknown) => typeof value === 'number' && value >= 0 && value < 8.64e15,
  number: (value: unknown) => Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 31,
  nsu: (value: unknown) => typeof value === 'string' && /^[0-9]{15}$/.test(value),
  uuid: (value: unknown) => typeof value === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value),
  text: (value: unknown) => typeof value === 'string' && !value.includes('\0'),
};

/**
 * The position behind a cursor, ready as parameters of a statement; null without one.
 *
 * @throws {InvalidCursor} when it does not have the form `shape`, so that nothing foreign reaches a statement.
 */
export function readCursor(
  cursor: string | null | undefined,
  shape: readonly (keyof typeof KINDS)[],
): unknown[] | null {
  if (cursor === null || cursor === undefined) return null;
  let values: unknown;
  try {
    values = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    throw new InvalidCursor();
  }
  if (!Array.isArray(values) || values.length !== shape.length) throw new InvalidCursor();
  return shape.map((kind, i) => {
    if (!KINDS[kind](values[i])) throw new InvalidCursor();
    return kind === 'instant' ? new Date(values[i]) : values[i];
  });
}

/** Makes a page of `limit + 1` rows read: the extra one only says that there is more. */
export function pageOf<Row>(rows: Row[], limit: number, positionOf: (row: Row) => Position): Page<Row> {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const more = rows.length > limit && last !== undefined;
  return {
    rows: page,
    nextCursor: more ? Buffer.from(JSON.stringify(positionOf(last))).toString('base64url') : null,
  };
}
