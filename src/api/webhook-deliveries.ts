import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { DELIVERY_STATUSES } from '../model/words.js';
import { recordAudit } from '../storage/audit.js';
import {
  type AttemptRow,
  type DeliveryRow,
  getDelivery,
  listAttempts,
  listDeliveries,
  type Resent,
  resendDelivery,
  resendKey,
  resendPeriod,
} from '../storage/deliveries.js';
import { type Api, answers, POST_PROBLEMS } from './api.js';
import { type Caller, callerOf, seesCompany, visibleCompany } from './authorization.js';
import type { ApiDependencies } from './dependencies.js';
import { pageOf, pageQuery } from './paging.js';
import { invalidInput, notFound, Problem } from './problem.js';
import {
  answeredInstant,
  documentType,
  idParams,
  instantInput,
  isoInstant,
  keyInput,
  noBody,
  oneOf,
  openValue,
  text,
  uuid,
} from './schemas/common.js';
import { tellWorkflow, warnings } from './workflow-notice.js';

const delivery = z
  .object({
    id: uuid,
    eventId: z.string().describe('The `webhook-id`, the same on every attempt'),
    endpointId: uuid,
    companyId: uuid,
    type: z.string().nullable(),
    action: z.string().nullable(),
    documentId: uuid.nullable(),
    status: openValue(DELIVERY_STATUSES).describe('`held`: its endpoint is disabled'),
    attempts: z.int().describe('Since it was last queued'),
    nextAttemptAt: answeredInstant.nullable(),
    lastStatusCode: z.int().nullable(),
    lastError: z.string().nullable(),
    createdAt: answeredInstant,
    deliveredAt: answeredInstant.nullable(),
  })
  .meta({ id: 'WebhookDelivery' });

const attempt = z.object({
  at: answeredInstant,
  statusCode: z.int().nullable().describe('null: no answer came'),
  error: z.string().nullable().describe('A code, a colon and a sentence; null for a 2xx'),
  durationMs: z.int(),
  response: z.string().nullable().describe('First bytes of the answer'),
});
const deliveryWithAttempts = delivery
  .extend({ attemptLog: z.array(attempt).describe('Every attempt of the last 30 days, oldest first') })
  .meta({ id: 'WebhookDeliveryWithAttempts' });

const resendOrder = z.union(
  [
    z.strictObject({ key: keyInput.describe('Everything that was told about this access key') }),
    z.strictObject({
      companyId: uuid,
      from: instantInput.describe('Inclusive; when the events were made'),
      to: instantInput.describe('Exclusive'),
      documentType: documentType.optional(),
    }),
  ],
  { error: 'expected { key }, or { companyId, from, to, documentType? }' },
);
const resent = z
  .object({ count: z.int().describe('Deliveries queued again, one per event and endpoint'), warnings })
  .meta({ id: 'Resent' });

/** Deliveries of webhooks: `/v1/webhook-deliveries`. */
export function webhookDeliveryRoutes(app: Api, deps: ApiDependencies): void {
  const { database, clock } = deps;

  app.get(
    '/v1/webhook-deliveries',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'listWebhookDeliveries',
        tags: ['webhooks'],
        summary: 'List deliveries, newest first',
        querystring: z.strictObject({
          ...pageQuery,
          endpointId: uuid.optional(),
          companyId: uuid.optional(),
          eventId: text(64).optional(),
          documentId: uuid.optional(),
          status: oneOf(DELIVERY_STATUSES).optional(),
        }),
        response: answers({ 200: pageOf(delivery) }),
      },
    },
    async (request) => {
      const { limit, cursor, ...filter } = request.query;
      const { visible } = callerOf(request);
      const page = await listDeliveries(database, { ...filter, visible }, { limit, cursor: cursor ?? null });
      return { data: page.rows.map(deliveryView), nextCursor: page.nextCursor };
    },
  );

  app.get(
    '/v1/webhook-deliveries/:id',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'getWebhookDelivery',
        tags: ['webhooks'],
        summary: 'Get one delivery with its attempts',
        params: idParams,
        response: answers({ 200: deliveryWithAttempts }),
      },
    },
    async (request) => {
      const row = await visibleDelivery(deps, request, request.params.id);
      return { ...deliveryView(row), attemptLog: (await listAttempts(database, row.id)).map(attemptView) };
    },
  );

  app.post(
    '/v1/webhook-deliveries/:id/resend',
    {
      config: { scope: 'manage' },
      schema: {
        operationId: 'resendWebhookDelivery',
        tags: ['webhooks'],
        summary: 'Send one event again to its endpoint, under the same webhook-id',
        params: idParams,
        body: noBody,
        response: answers({ 202: resent }, 'endpoint_deleted', ...POST_PROBLEMS),
      },
    },
    async (request, reply) => {
      const { id } = await visibleDelivery(deps, request, request.params.id);
      const at = await clock.now();
      const again = await resendDelivery(database, id, at);
      if (again === null) throw new Problem('endpoint_deleted', 'The endpoint of this delivery is gone');
      return reply.code(202).send(await queued(deps, request, again, { deliveryId: id }));
    },
  );

  app.post(
    '/v1/webhook-deliveries/resend',
    {
      config: { scope: 'manage' },
      schema: {
        operationId: 'resendWebhooks',
        tags: ['webhooks'],
        summary: 'Send the events of an access key, or of a period, again',
        description:
          'To every endpoint that wants them now, also one that did not exist then; under the same webhook-ids.',
        body: resendOrder,
        response: answers({ 202: resent }, ...POST_PROBLEMS),
      },
    },
    async (request, reply) => {
      const { body } = request;
      const again = await ('key' in body
        ? resendKey(database, body.key, await clock.now(), callerOf(request).visible)
        : resendCompanyPeriod(deps, request, body));
      const detail = 'key' in body ? { by: 'key' } : { by: 'period', ...body };
      return reply.code(202).send(await queued(deps, request, again, detail));
    },
  );
}

async function resendCompanyPeriod(
  deps: ApiDependencies,
  request: FastifyRequest,
  period: Parameters<typeof resendPeriod>[1],
): Promise<Resent> {
  const company = await visibleCompany(deps, request, period.companyId);
  if (period.from >= period.to) throw invalidInput({ field: 'to', message: 'expected an instant after `from`' });
  return resendPeriod(deps.database, { ...period, companyId: company.id }, await deps.clock.now());
}

/** Notes who sent again, and wakes the endpoints. */
async function queued(
  deps: ApiDependencies,
  request: FastifyRequest,
  { count, endpointIds }: Resent,
  detail: Record<string, unknown>,
) {
  const { actor }: Caller = callerOf(request);
  await recordAudit(deps.database, { actor, action: 'webhook.resend', target: 'webhook-deliveries', detail });
  const told = await tellWorkflow(async () => {
    for (const id of endpointIds) await deps.temporal.wakeDelivery(id);
  }, request.log);
  return { count, warnings: told };
}

async function visibleDelivery(
  { database }: ApiDependencies,
  request: FastifyRequest,
  id: string,
): Promise<DeliveryRow> {
  const row = await getDelivery(database, id);
  if (row === null || !seesCompany(callerOf(request), row.companyId)) throw notFound('delivery');
  return row;
}

function deliveryView(row: DeliveryRow): z.output<typeof delivery> {
  return {
    id: row.id,
    eventId: row.eventId,
    endpointId: row.endpointId,
    companyId: row.companyId,
    type: row.type,
    action: row.action,
    documentId: row.documentId,
    status: row.status,
    attempts: row.attempts,
    nextAttemptAt: isoInstant(row.nextAttemptAt),
    lastStatusCode: row.lastStatusCode,
    lastError: row.lastError,
    createdAt: isoInstant(row.createdAt),
    deliveredAt: isoInstant(row.deliveredAt),
  };
}

function attemptView(row: AttemptRow): z.output<typeof attempt> {
  return {
    at: isoInstant(row.at),
    statusCode: row.statusCode,
    error: row.error,
    durationMs: row.durationMs,
    response: row.response,
  };
}
