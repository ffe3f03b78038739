import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { DOCUMENT_TYPES } from '../model/words.js';
import { recordAudit } from '../storage/audit.js';
import {
  createEndpoint,
  deleteEndpoint,
  type EndpointRow,
  getEndpoint,
  listEndpoints,
  patchEndpoint,
} from '../storage/endpoints.js';
import { endpointUrlProblem } from '../webhooks/endpoint-url.js';
import { EVENT_TYPES } from '../webhooks/events.js';
import { newSecret } from '../webhooks/signature.js';
import { type Api, answers, BODY_PROBLEMS, POST_PROBLEMS } from './api.js';
import { type Caller, callerOf } from './authorization.js';
import { companyIdsInput, requireCompanies } from './company-lists.js';
import type { ApiDependencies } from './dependencies.js';
import { pageOf, pageQuery } from './paging.js';
import { invalidInput, notFound } from './problem.js';
import { answeredInstant, documentType, idParams, isoInstant, oneOf, patchOf, text, uuid } from './schemas/common.js';

const url = z
  .string({ error: 'expected a URL' })
  .describe('https, on the public internet, without user name or password');
const events = z
  .array(oneOf(EVENT_TYPES), { error: 'expected a list of event types' })
  .min(1, 'expected at least one event type; null means all')
  .max(EVENT_TYPES.length, 'expected each event type once')
  .nullable()
  .describe('Event types to send; null: all');
const companyIds = companyIdsInput.nullable().describe('Only events of these companies; null: of all');
const description = text(500).nullable();

const newEndpoint = z.strictObject({
  url,
  events: events.optional(),
  companyIds: companyIds.optional(),
  documentTypes: z
    .array(documentType, { error: 'expected a list of document types' })
    .min(1, 'expected at least one document type; null means all')
    .max(DOCUMENT_TYPES.length, 'expected each document type once')
    .nullable()
    .optional()
    .describe('Only events of these document types; null: of all. Cannot be changed later'),
  description: description.optional(),
});
const endpointPatch = patchOf({ url, events, companyIds, description });

/** A webhook endpoint in JSON, without its secret. */
export const endpointSchema = z
  .object({
    id: uuid,
    url: z.string(),
    description: z.string().nullable(),
    events: z.array(z.string()).nullable(),
    companyIds: z.array(uuid).nullable(),
    documentTypes: z.array(z.string()).nullable(),
    status: z.enum(['enabled', 'disabled']),
    disabledReason: z.string().nullable(),
    disabledAt: answeredInstant.nullable(),
    failingSince: answeredInstant.nullable().describe('Every attempt since then failed'),
    previousSecretUntil: answeredInstant
      .nullable()
      .describe('Until then every message is signed with the secret before the last rotation, too'),
    createdAt: answeredInstant,
  })
  .meta({ id: 'WebhookEndpoint' });
/** The answer that shows the secret. */
export const endpointWithSecret = endpointSchema
  .extend({ secret: z.string().describe('`whsec_…`, to verify signatures with. Shown only here') })
  .meta({ id: 'WebhookEndpointWithSecret' });

/** Webhook endpoints: `/v1/webhook-endpoints`. */
export function webhookEndpointRoutes(app: Api, deps: ApiDependencies): void {
  const { database, clock, secretBox } = deps;

  app.post(
    '/v1/webhook-endpoints',
    {
      config: { scope: 'manage' },
      schema: {
        operationId: 'createWebhookEndpoint',
        tags: ['webhooks'],
        summary: 'Add a webhook endpoint',
        description:
          'What happens from now on is sent there. Send what happened before with `POST /v1/webhook-deliveries/resend`.',
        body: newEndpoint,
        response: answers({ 201: endpointWithSecret }, ...POST_PROBLEMS),
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const { body } = request;
      await checkEndpoint(deps, caller, { url: body.url, companyIds: body.companyIds ?? null });
      const secret = newSecret();
      const at = await clock.now();
      const row = await database.transaction(async (tx) => {
        const made = await createEndpoint(tx, secretBox, { ...body, secret, at });
        await recordAudit(tx, { actor: caller.actor, action: 'webhook_endpoint.create', target: made.id });
        return made;
      });
      return reply.code(201).send({ ...endpointView(row), secret });
    },
  );

  app.get(
    '/v1/webhook-endpoints',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'listWebhookEndpoints',
        tags: ['webhooks'],
        summary: 'List webhook endpoints, newest first',
        querystring: z.strictObject({
          ...pageQuery,
          companyId: uuid.optional().describe('Only endpoints limited to companies, this one among them'),
          status: oneOf(['enabled', 'disabled']).optional(),
        }),
        response: answers({ 200: pageOf(endpointSchema) }),
      },
    },
    async (request) => {
      const { limit, cursor, ...filter } = request.query;
      const { visible } = callerOf(request);
      const page = await listEndpoints(database, { ...filter, visible }, { limit, cursor: cursor ?? null });
      return { data: page.rows.map(endpointView), nextCursor: page.nextCursor };
    },
  );

  app.get(
    '/v1/webhook-endpoints/:id',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'getWebhookEndpoint',
        tags: ['webhooks'],
        summary: 'Get one webhook endpoint',
        params: idParams,
        response: answers({ 200: endpointSchema }),
      },
    },
    async (request) => endpointView(await visibleEndpoint(deps, request, request.params.id)),
  );

  app.patch(
    '/v1/webhook-endpoints/:id',
    {
      config: { scope: 'manage' },
      schema: {
        operationId: 'updateWebhookEndpoint',
        tags: ['webhooks'],
        summary: 'Change a webhook endpoint',
        description: 'Only the given fields change. What was queued before is still sent, to the new URL.',
        params: idParams,
        body: endpointPatch,
        response: answers({ 200: endpointSchema }, ...BODY_PROBLEMS),
      },
    },
    async (request) => {
      const { body } = request;
      const before = await visibleEndpoint(deps, request, request.params.id);
      const { companyIds = before.companyIds } = body;
      await checkEndpoint(deps, callerOf(request), { url: body.url, companyIds });
      return database.transaction(async (tx) => {
        const after = await patchEndpoint(tx, before.id, body);
        if (after === null) throw notFound('webhook endpoint');
        await audit(tx, request, 'update', { changed: Object.keys(body) });
        return endpointView(after);
      });
    },
  );

  app.delete(
    '/v1/webhook-endpoints/:id',
    {
      config: { scope: 'manage' },
      schema: {
        operationId: 'deleteWebhookEndpoint',
        tags: ['webhooks'],
        summary: 'Delete a webhook endpoint; what was still to be sent there is cancelled',
        params: idParams,
        response: answers({ 204: z.undefined().describe('Deleted') }),
      },
    },
    async (request, reply) => {
      const { id } = await visibleEndpoint(deps, request, request.params.id);
      const at = await clock.now();
      await database.transaction(async (tx) => {
        if (!(await deleteEndpoint(tx, id, at))) throw notFound('webhook endpoint');
        await audit(tx, request, 'delete');
      });
      return reply.code(204).send();
    },
  );
}

type Tx = Parameters<typeof recordAudit>[0];

/** Notes what was done to the endpoint that the path names. */
export function audit(
  tx: Tx,
  request: FastifyRequest & { readonly params: { readonly id: string } },
  action: string,
  detail: Record<string, unknown> = {},
): Promise<void> {
  const { actor } = callerOf(request);
  return recordAudit(tx, { actor, action: `webhook_endpoint.${action}`, target: request.params.id, detail });
}

/**
 * An endpoint that the caller may see: a key limited to companies sees those that are limited to some of them.
 *
 * @throws {Problem} `not_found`
 */
export async function visibleEndpoint(
  { database }: ApiDependencies,
  request: FastifyRequest,
  id: string,
): Promise<EndpointRow> {
  const row = await getEndpoint(database, id);
  const { visible } = callerOf(request);
  const seen = visible === undefined || row?.companyIds?.every((companyId) => visible.includes(companyId));
  if (row === null || !seen) throw notFound('webhook endpoint');
  return row;
}

async function checkEndpoint(
  deps: ApiDependencies,
  caller: Caller,
  wanted: { readonly url: string | undefined; readonly companyIds: readonly string[] | null },
): Promise<void> {
  const problem = wanted.url === undefined ? null : endpointUrlProblem(wanted.url, deps.allowPrivateWebhooks);
  if (problem !== null) throw invalidInput({ field: 'url', message: problem });
  if (wanted.companyIds !== null) await requireCompanies(deps, caller, wanted.companyIds);
  else if (caller.visible !== undefined) {
    throw invalidInput({ field: 'companyIds', message: 'this key is limited to some companies: name those to send' });
  }
}

export function endpointView(row: EndpointRow): z.output<typeof endpointSchema> {
  return {
    id: row.id,
    url: row.url,
    description: row.description,
    events: row.events,
    companyIds: row.companyIds,
    documentTypes: row.documentTypes,
    status: row.status,
    disabledReason: row.disabledReason,
    disabledAt: isoInstant(row.disabledAt),
    failingSince: isoInstant(row.failingSince),
    previousSecretUntil: isoInstant(row.previousSecretUntil),
    createdAt: isoInstant(row.createdAt),
  };
}
