import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { isConnectionError, isUndoneByCrossing, rebuilt } from './database-error.js';

/** What a query answers. Rows are plain objects with the columns as the statement names them. */
interface QueryAnswer<Row> {
  readonly rows: Row[];
  /** Rows returned, or changed by a statement that returns none. */
  readonly rowCount: number;
}

/**
 * What the pool and an open transaction have in common; query functions take this, so that a caller decides what is one
 * transaction.
 *
 * Types: `int8` and `numeric` are strings, `date` is the string `2026-11-30`, `timestamptz` is **milliseconds since 1970**
 * (a number; `Infinity` for 'infinity'), `jsonb` is parsed, `bytea` is a Buffer. To pass an instant use {@link instant}.
 */
export interface Queryable {
  /** @throws {DatabaseError} and nothing else. */
  query<Row = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<QueryAnswer<Row>>;
}

/** A Queryable that only {@link Database.transaction} hands out: for functions whose locks must outlive one statement. */
export interface Transaction extends Queryable {
  readonly inTransaction: true;
}

/** The pool of one process. */
export interface Database extends Queryable {
  /**
   * Runs `work` between BEGIN and COMMIT. Whatever it throws rolls back and is thrown on. A connection that cannot be
   * brought back to a clean state is closed, never returned to the pool (case C95).
   *
   * What PostgreSQL undoes because two transactions crossed (deadlock, serialization failure) is begun again from the start, a few times:
   * nothing of it has happened. So `work` changes nothing but what it does through `tx`; what follows from it is done by the caller, afterwards.
   *
   * @throws {DatabaseError} also for a commit whose outcome is unknown because the connection broke: the repeat must recognize its own rows.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** For metrics. */
  stats(): { readonly total: number; readonly idle: number; readonly waiting: number };
  close(): Promise<void>;
}

interface TransactionOptions {
  readonly isolation?: 'read committed' | 'repeatable read' | 'serializable';
}

/** Where the database is, and what a process may take of it. */
export interface DatabaseOptions {
  readonly url: string;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  /** Most connections of this process. Default 10. */
  readonly max?: number;
  /** Most milliseconds a statement may take on the server. Default 30,000. */
  readonly statementTimeoutMs?: number;
  /** Told of connections that broke while nobody used them; the pool replaces them. Default: nobody is told. */
  readonly onIdleError?: (error: Error) => void;
}

/** No statement, connection attempt or forgotten transaction may last for ever (case C95). */
const CONNECT_TIMEOUT_MS = 10_000;
const STATEMENT_TIMEOUT_MS = 30_000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000;
/** How much longer than the server's own limit we wait before we take the connection for dead. */
const SILENCE_MS = 5_000;

/** Milliseconds (or `Infinity`, or null) as a parameter for a timestamptz. */
export function instant(ms: number | null | undefined): Date | 'infinity' | null {
  if (ms === null || ms === undefined) return null;
  return ms === Number.POSITIVE_INFINITY ? 'infinity' : new Date(ms);
}

/** Opens a pool; connects at the first query. */
export function createDatabase(options: DatabaseOptions): Database {
  const statementTimeout = options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS;
  const pool = new pg.Pool({
    connectionString: options.url,
    application_name: options.applicationName,
    max: options.max ?? 10,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    statement_timeout: statementTimeout,
    query_timeout: statementTimeout + SILENCE_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    types: { getTypeParser },
  });
  const onIdleError = (error: Error) => options.onIdleError?.(rebuilt(error));
  // Without a listener an idle connection's error ends the process (case C94).
  pool.on('error', onIdleError);
  // A connection in use between two statements is not covered by the pool's listener; its next statement reports the error.
  pool.on('connect', (client) => client.on('error', () => {}));
  return {
    query: (text, values) => run(pool, text, values),
    transaction: (work, transactionOptions) => repeated(() => transaction(pool, work, transactionOptions)),
    stats: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    close: () => pool.end(),
  };
}

/** Runs of a transaction that PostgreSQL keeps undoing; the last failure is thrown on, as transient. */
const CROSSED_RUNS = 4;
/** Most milliseconds before the next run, drawn at random so that the same two do not cross again. */
const CROSSED_PAUSE_MS = 100;

/** Begins a transaction again that PostgreSQL undid for want of an order between it and others. */
async function repeated<T>(run: () => Promise<T>): Promise<T> {
  for (let runs = 1; ; runs += 1) {
    try {
      return await run();
    } catch (error) {
      if (!isUndoneByCrossing(error) || runs === CROSSED_RUNS) throw error;
      await pause(Math.random() * CROSSED_PAUSE_MS * runs);
    }
  }
}

async function transaction<T>(
  pool: pg.Pool,
  work: (tx: Transaction) => Promise<T>,
  { isolation = 'read committed' }: TransactionOptions = {},
): Promise<T> {
  const client = await pool.connect().catch((error: unknown) => {
    throw rebuilt(error);
  });
  let open = true;
  const tx: Transaction = {
    inTransaction: true,
    query: (text, values) => {
      // A statement that was not awaited would otherwise run in the next user's transaction.
      if (!open) return Promise.reject(new Error('this transaction has ended: a statement in it was not awaited'));
      return run(client, text, values);
    },
  };
  let unclean: Error | undefined;
  try {
    await run(client, `begin isolation level ${isolation}`);
    const result = await work(tx);
    const { command } = await client.query('commit').catch((error: unknown) => {
      throw rebuilt(error);
    });
    // PostgreSQL answers COMMIT of a failed transaction with ROLLBACK and no error.
    if (command !== 'COMMIT')
      throw new Error('the transaction was rolled back: an error of one of its statements was caught');
    return result;
  } catch (error) {
    unclean = isConnectionError(error) ? error : await rollback(client);
    throw error;
  } finally {
    open = false;
    client.release(unclean);
  }
}

/** The reason why the connection must not be used again, if there is one. */
async function rollback(client: pg.PoolClient): Promise<Error | undefined> {
  try {
    await client.query('rollback');
    return undefined;
  } catch (error) {
    return rebuilt(error);
  }
}

async function run<Row>(
  on: pg.Pool | pg.PoolClient,
  text: string,
  values: readonly unknown[] = [],
): Promise<QueryAnswer<Row>> {
  try {
    const { rows, rowCount } = await on.query(text, [...values]);
    return { rows, rowCount: rowCount ?? 0 };
  } catch (error) {
    throw rebuilt(error);
  }
}

const asText = (value: string) => value;
const asMilliseconds = (value: string) => {
  const parsed: unknown = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ)(value);
  return parsed instanceof Date ? parsed.getTime() : parsed;
};

const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: 'text' | 'binary') => {
  if (oid === pg.types.builtins.TIMESTAMPTZ) return asMilliseconds;
  if (oid === pg.types.builtins.DATE) return asText;
  return pg.types.getTypeParser(oid, format as 'text');
};
