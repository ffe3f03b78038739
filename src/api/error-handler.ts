import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { isTransientDatabaseError } from '../storage/database-error.js';
import { InvalidCursor } from '../storage/keyset.js';
import { ObjectNotFound, ObjectStoreUnavailable } from '../storage/object-store/index.js';
import { XmlDamaged } from '../storage/read-xml.js';
import { type FieldFault, invalidInput, notFound, Problem } from './problem.js';

/** Seconds after which a caller should try again when the database or the object store does not answer. */
const RETRY_AFTER_OUTAGE = 5;

/** Turns whatever a route threw into `application/problem+json`. What is not ours becomes a 500 or 503 that tells nothing. */
export function answerError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const problem = toProblem(error, request);
  if (problem.status >= 500) request.log.error({ err: error }, problem.code);
  sendProblem(problem, request, reply);
}

/** Answers with a problem, as `application/problem+json`. */
export function sendProblem(problem: Problem, request: FastifyRequest, reply: FastifyReply): void {
  if (problem.extras.retryAfter !== undefined) reply.header('retry-after', problem.extras.retryAfter);
  if (problem.code === 'unauthorized') reply.header('www-authenticate', 'Bearer realm="malote"');
  void reply
    .code(problem.status)
    // Errors of the framework itself come before any hook.
    .header('x-request-id', request.id)
    .type('application/problem+json')
    .send(JSON.stringify(problem.body(request.id)));
}

function toProblem(error: FastifyError, request: FastifyRequest): Problem {
  if (error instanceof Problem) return error;
  if (hasZodFastifySchemaValidationErrors(error)) {
    // A path parameter that has not even the shape of an id names nothing that exists.
    if (error.validationContext === 'params') return notFound('such resource');
    const where = error.validationContext === 'querystring' ? 'query parameter' : 'field';
    const errors = error.validation.flatMap((fault) => fieldFaults(fault, where));
    return new Problem('invalid_input', `Not valid: ${[...new Set(errors.map((one) => one.field))].join(', ')}`, {
      errors,
    });
  }
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Problem('body_too_large', `The body may have ${request.routeOptions.bodyLimit} bytes`);
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return wrongMediaType(request);
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return new Problem('malformed_request', 'The body is empty, but Content-Type says JSON');
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return new Problem('malformed_request', 'The body is not well-formed JSON');
  }
  if (error instanceof InvalidCursor) {
    return invalidInput({ field: 'cursor', message: 'expected the nextCursor of an earlier answer of this list' });
  }
  if (error instanceof XmlDamaged || error instanceof ObjectNotFound) {
    return new Problem('content_damaged', 'The archive does not hold the bytes that were captured');
  }
  if (isTransientDatabaseError(error) || error instanceof ObjectStoreUnavailable) {
    return new Problem('temporarily_unavailable', 'The service cannot reach one of its own parts right now', {
      retryAfter: RETRY_AFTER_OUTAGE,
    });
  }
  // Fastify's own refusals (a wrong Content-Length, a bad percent escape in the path) are the caller's fault.
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500) {
    return new Problem('malformed_request', 'The request is not well-formed HTTP for this route');
  }
  return new Problem(
    'internal_error',
    'Something went wrong on our side; nothing is known to be wrong with the request',
  );
}

/** Says which types the route does read: JSON, unless its schema names others. */
export function wrongMediaType({ routeOptions }: FastifyRequest): Problem {
  const types = routeOptions.schema?.consumes ?? ['application/json'];
  return new Problem('unsupported_media_type', `The content types read here: ${types.join(', ')}`);
}

interface SchemaFault {
  readonly instancePath: string;
  readonly message?: string;
  readonly keyword: string;
  readonly params: Record<string, unknown>;
}

/** One schema fault as the field faults of the contract: an unknown field is named itself, not the object that it stands in. */
function fieldFaults(fault: SchemaFault, where: string): FieldFault[] {
  const path = fault.instancePath.split('/').filter((part) => part !== '');
  const unknownKeys = fault.keyword === 'unrecognized_keys' ? fault.params.keys : undefined;
  if (Array.isArray(unknownKeys)) {
    return unknownKeys.map((key) => ({
      field: [...path, String(key)].join('.'),
      message: `unknown ${where}: remove it, or check its spelling`,
    }));
  }
  return [{ field: path.join('.') || 'body', message: fault.message ?? 'not valid' }];
}
