import pg from 'pg';

/**
 * What goes wrong between us and PostgreSQL, rebuilt: the driver's error carries the values of the failing statement
 * (`detail`, and the text of class 22), which may be tax IDs or XML.
 */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
  constructor(
    message: string,
    /** SQLSTATE of the server, the code of the socket's error, or `CONNECTION` for the driver's own words of a lost one. */
    readonly code: string | null,
    readonly constraint: string | null = null,
    readonly table: string | null = null,
  ) {
    super(message);
  }
}

/** Our error for whatever the driver threw. */
export function rebuilt(error: unknown): DatabaseError {
  if (error instanceof DatabaseError) return error;
  if (error instanceof pg.DatabaseError) {
    const code = error.code ?? null;
    const text = code?.startsWith('22') ? error.message.replace(/".*"/s, '"…"') : error.message;
    return new DatabaseError(`PostgreSQL ${code}: ${text}`, code, error.constraint ?? null, error.table ?? null);
  }
  const { code, message } = error as { code?: unknown; message?: unknown };
  const text = String(message || code);
  if (typeof code === 'string') return new DatabaseError(`PostgreSQL connection: ${text}`, code);
  return new DatabaseError(`PostgreSQL: ${text}`, LOST_CONNECTION.test(text) ? 'CONNECTION' : null);
}

/** The driver says so in words only. */
const LOST_CONNECTION = /connection terminated|connection error|timeout|was closed|end on the pool/i;

/**
 * The database could not be reached or gave up for a reason of its own: the same work may succeed later. Retried without
 * limit and never counted against a company (design.md section 2, rule 8).
 */
export function isTransientDatabaseError(error: unknown): boolean {
  if (isConnectionError(error)) return true;
  if (!(error instanceof DatabaseError) || error.code === null) return false;
  return TRANSIENT.has(error.code) || TRANSIENT.has(error.code.slice(0, 2));
}

/** The connection is gone or silent: nothing more can be said over it. */
export function isConnectionError(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && error.code !== null && !SQLSTATE.test(error.code);
}

/**
 * PostgreSQL undid a whole transaction because it crossed another one (serialization failure, deadlock): nothing of it has happened, and
 * the other one goes on. Certain even where COMMIT itself says so, unlike a lost connection.
 */
export function isUndoneByCrossing(error: unknown): boolean {
  return error instanceof DatabaseError && (error.code === '40001' || error.code === '40P01');
}

/** The content of a row broke a statement (data exception, constraint): the same work will fail again. */
export function isContentError(error: unknown): boolean {
  return error instanceof DatabaseError && (error.code?.startsWith('22') || error.code?.startsWith('23')) === true;
}

/** A unique constraint or index, by name, refused a row. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  return (
    error instanceof DatabaseError &&
    error.code === '23505' &&
    (constraint === undefined || error.constraint === constraint)
  );
}

/** Five characters with a digit among them: EPIPE is none. */
const SQLSTATE = /^(?=.*\d)[0-9A-Z]{5}$/;

const TRANSIENT = new Set([
  '08', // connection exceptions
  '53', // out of memory, disk or connections
  '57', // shutdown, crash, cancelled by a time limit
  '58', // errors of the system underneath
  '40001', // serialization failure
  '40P01', // deadlock
  '55P03', // lock not available
  '25006', // read-only: a failover is under way
  '25P03', // idle in transaction too long
]);
