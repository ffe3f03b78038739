import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, FastifySchema, RawServerDefault } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ERROR_CATALOGUE, type ProblemCode } from './error-catalogue.js';

/** A Fastify instance whose routes are typed by their zod schemas. */
export type Api = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** Each scope includes those before it. */
export const SCOPES = ['read', 'manage', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a key needs for this route; absent: no key is asked for. */
    scope?: Scope;
  }
}

const problemBody = z
  .object({
    type: z.string().describe('`urn:malote:problem:` and the code'),
    title: z.string(),
    status: z.int(),
    detail: z.string().describe('What is wrong in this case'),
    code: z.string().describe('Stable: branch on it'),
    requestId: z.string().describe('As in `X-Request-Id`; quote it to the operators'),
    errors: z
      .array(z.object({ field: z.string(), message: z.string() }))
      .optional()
      .describe('Input faults: which field, and what was expected of it'),
  })
  .meta({ id: 'Problem', description: 'RFC 9457. docs/errors.md lists every code with what to do about it' });

/** Errors that every route below `/v1` and `/links` can answer with. */
const COMMON: readonly ProblemCode[] = ['not_found', 'invalid_input', 'internal_error', 'temporarily_unavailable'];
/** Errors that every route with a key can answer with, besides. */
const KEY_PROBLEMS: readonly ProblemCode[] = ['unauthorized', 'scope_missing'];

/** Errors that every route with a body can answer with. */
export const BODY_PROBLEMS: readonly ProblemCode[] = ['malformed_request', 'body_too_large', 'unsupported_media_type'];
/** Errors that every POST can answer with, when it carries an Idempotency-Key. */
export const POST_PROBLEMS: readonly ProblemCode[] = [
  ...BODY_PROBLEMS,
  'idempotency_in_flight',
  'idempotency_key_reused',
];

/**
 * The answers of a route for its schema: the good ones as given, and one per status of the problems it can end in. For
 * the types of the handler only the good ones count; problems are thrown.
 */
export function answers<Good extends Record<number, unknown>>(good: Good, ...codes: readonly ProblemCode[]): Good {
  return openAnswers(good, ...KEY_PROBLEMS, ...codes);
}

/** As {@link answers}, for a route that asks for no key. */
export function openAnswers<Good extends Record<number, unknown>>(good: Good, ...codes: readonly ProblemCode[]): Good {
  const byStatus: Record<number, ProblemCode[]> = {};
  for (const code of new Set([...COMMON, ...codes])) {
    const sameStatus = byStatus[ERROR_CATALOGUE[code].status] ?? [];
    byStatus[ERROR_CATALOGUE[code].status] = [...sameStatus, code];
  }
  const problems = Object.fromEntries(
    Object.entries(byStatus).map(([status, sameStatus]) => [
      status,
      {
        description: sameStatus.map((code) => `\`${code}\`: ${ERROR_CATALOGUE[code].title}`).join('. '),
        content: { 'application/problem+json': { schema: problemBody } },
      },
    ]),
  );
  return { ...problems, ...described(good) };
}

/** Gives JSON answers a description, which OpenAPI asks for. The types of the handler do not see the difference. */
function described<Good extends Record<number, unknown>>(good: Good): Good {
  return Object.fromEntries(
    Object.entries(good).map(([status, schema]) => [
      status,
      schema instanceof z.ZodObject
        ? { description: GOOD[status] ?? 'Done', content: { 'application/json': { schema } } }
        : schema,
    ]),
  ) as Good;
}

const GOOD: Readonly<Record<string, string>> = {
  200: 'Done',
  201: 'Made',
  202: 'Stored; it happens from now on',
};

/** For the good answer of a route that gives bytes, not JSON. */
export function bytes(description: string, ...contentTypes: readonly string[]) {
  return {
    description,
    content: Object.fromEntries(contentTypes.map((type) => [type, { schema: z.unknown() }])),
  } satisfies FastifySchema['response'];
}
