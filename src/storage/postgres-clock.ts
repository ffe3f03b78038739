import type { Clock } from '../platform/clock.js';
import type { Queryable } from './database.js';

/** PostgreSQL's clock: all workers go by one, whatever their hosts say. */
export class PostgresClock implements Clock {
  readonly #db: Queryable;

  constructor(db: Queryable) {
    this.#db = db;
  }

  /** @param on the transaction that holds a row's lock: asking through the pool inside one could wait for itself */
  async now(on: Queryable = this.#db): Promise<number> {
    const { rows } = await on.query<{ ms: string }>(
      'select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as ms',
    );
    return Number(rows[0]?.ms);
  }
}
