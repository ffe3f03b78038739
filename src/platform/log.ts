import { type DestinationStream, type Logger, pino } from 'pino';
import { describeError, serializeError } from './errors.js';
import { scrub } from './scrub.js';

export type { Logger } from 'pino';

/** How much is logged, and where to. */
export interface LogOptions {
  readonly level: string;
  /** On every line: which process this is. */
  readonly role: string;
  /** Default: standard output. */
  readonly destination?: DestinationStream;
}

/**
 * A logger whose lines cannot carry what must not leave the process, however deep it lies (case C96): values are rebuilt from
 * an allow-list before they are written, and the finished line is scrubbed of tax IDs, keys and XML.
 */
export function createLogger(options: LogOptions): Logger {
  const logger = pino(
    {
      level: options.level,
      base: { role: options.role, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: (error: unknown) => error, req: requestLine, res: answerLine },
      hooks: {
        logMethod(args, method) {
          method.apply(this, rebuiltArguments(args) as Parameters<typeof method>);
        },
        streamWrite: scrub,
      },
    },
    options.destination ?? pino.destination(1),
  );
  // Fields of a child logger pass no hook of pino's; children inherit this method.
  const child = logger.child;
  logger.child = function (this: Logger, bindings, childOptions) {
    return child.call(this, rebuiltFields(bindings), childOptions) as ReturnType<typeof child>;
  } as typeof child;
  return logger;
}

/** Pino takes (fields, message, …values), (error, …) or (message, …values). */
function rebuiltArguments(args: readonly unknown[]): unknown[] {
  const [first, ...rest] = args;
  const values = rest.map((value, index) => (index === 0 && typeof value === 'string' ? value : rebuilt(value, 0)));
  if (first instanceof Error)
    return [{ err: serializeError(first) }, values[0] ?? describeError(first), ...values.slice(1)];
  if (typeof first !== 'object' || first === null) return [first, ...values];
  const fields = rebuiltFields(first);
  const { err } = first as { err?: unknown };
  return values.length === 0 && err instanceof Error ? [fields, describeError(err)] : [fields, ...values];
}

function rebuiltFields(fields: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if (name === 'err' || name === 'error') return [name, serializeError(value)];
      // Fastify's objects: their own serializers above take what may be shown.
      if (name === 'req' || name === 'res') return [name, value];
      return [name, SECRET_NAMES.test(name) ? HIDDEN : rebuilt(value, 1)];
    }),
  );
}

/** Most that a line may hold. */
const MAX_ITEMS = 20;
const MAX_TEXT = 2000;
const HIDDEN = '[hidden]';
const SECRET_NAMES =
  /pass|senha|secret|token|authorization|cookie|pfx|pem|privatekey|cipher|signature|apikey|masterkey|xml|body|payload|justification/i;

/** Plain values, lists, errors, and one level of plain objects. Everything else is named by its kind, never opened. */
function rebuilt(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : value;
  if (typeof value === 'bigint') return value.toString();
  if (value === null || ['number', 'boolean', 'undefined'].includes(typeof value)) return value;
  if (value instanceof Error) return serializeError(value);
  if (value instanceof Date) return value;
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (depth > 2) return `[${Array.isArray(value) ? 'list' : 'object'}]`;
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => rebuilt(item, depth + 1));
  if (Object.getPrototypeOf(value) !== Object.prototype)
    return `[${(value as object).constructor?.name ?? typeof value}]`;
  return Object.fromEntries(
    Object.entries(value as object).map(([name, part]) => [
      name,
      SECRET_NAMES.test(name) ? HIDDEN : isNested(part) ? '[object]' : rebuilt(part, depth + 1),
    ]),
  );
}

/** An object inside an object inside a field: nobody reads that in a log, and it is where secrets hide. */
function isNested(part: unknown): boolean {
  return typeof part === 'object' && part !== null && Object.getPrototypeOf(part) === Object.prototype;
}

interface RequestLike {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly url?: unknown;
}

/** Method and path; a query string may hold tax IDs, a header the API key. */
function requestLine(request: RequestLike): Record<string, unknown> {
  return { id: request.id, method: request.method, path: String(request.url ?? '').split('?')[0] };
}

function answerLine(answer: { readonly statusCode?: unknown }): Record<string, unknown> {
  return { statusCode: answer.statusCode };
}
