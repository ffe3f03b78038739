import { z } from 'zod';
import { enableEndpoint, type Replay, readSendingEndpoint, rotateSecret } from '../storage/endpoints.js';
import { newEventId, testBody } from '../webhooks/body.js';
import { newSecret } from '../webhooks/signature.js';
import { type Api, answers, POST_PROBLEMS } from './api.js';
import type { ApiDependencies } from './dependencies.js';
import { notFound } from './problem.js';
import { idParams, instantInput, noBody } from './schemas/common.js';
import { audit, endpointSchema, endpointView, endpointWithSecret, visibleEndpoint } from './webhook-endpoints.js';
import { tellWorkflow, warnings } from './workflow-notice.js';

const PATH = '/v1/webhook-endpoints/:id';

const enableOrder = z
  .strictObject({
    replay: z
      .union([z.enum(['all', 'none']), z.strictObject({ since: instantInput })], {
        error: 'expected all, none, or { "since": an instant }',
      })
      .default('all')
      .describe('Which of the events held meanwhile are sent; the others are cancelled'),
  })
  .nullish()
  .transform((body): Replay => body?.replay ?? 'all');

const enabledEndpoint = endpointSchema.extend({ warnings }).meta({ id: 'EnabledWebhookEndpoint' });

const testResult = z
  .object({
    delivered: z.boolean().describe('Answered with 2xx within 15 s'),
    statusCode: z.int().nullable(),
    error: z.string().nullable(),
    durationMs: z.int(),
    response: z.string().nullable().describe('First bytes of the answer'),
  })
  .meta({ id: 'WebhookTest' });

/** What can be done with a webhook endpoint. */
export function webhookEndpointActionRoutes(app: Api, deps: ApiDependencies): void {
  const { database, clock, secretBox, sender, temporal } = deps;

  app.post(
    `${PATH}/rotate-secret`,
    {
      config: { scope: 'manage' },
      schema: {
        operationId: 'rotateWebhookSecret',
        tags: ['webhooks'],
        summary: 'Make a new signing secret; the one before stays valid for 24 hours',
        params: idParams,
        body: noBody,
        response: answers({ 200: endpointWithSecret }, ...POST_PROBLEMS),
      },
    },
    async (request) => {
      const { id } = await visibleEndpoint(deps, request, request.params.id);
      const secret = newSecret();
      const at = await clock.now();
      return database.transaction(async (tx) => {
        const row = await rotateSecret(tx, secretBox, { id, secret, at });
        if (row === null) throw notFound('webhook endpoint');
        await audit(tx, request, 'rotate_secret');
        return { ...endpointView(row), secret };
      });
    },
  );

  app.post(
    `${PATH}/test`,
    {
      config: { scope: 'manage' },
      schema: {
        operationId: 'testWebhookEndpoint',
        tags: ['webhooks'],
        summary: 'Send one signed test event now, and tell how it went',
        description: 'Also to a disabled endpoint. Nothing is stored or retried.',
        params: idParams,
        body: noBody,
        response: answers({ 200: testResult }, ...POST_PROBLEMS),
      },
    },
    async (request) => {
      const { id } = await visibleEndpoint(deps, request, request.params.id);
      const now = await clock.now();
      const endpoint = await readSendingEndpoint(database, secretBox, id, now);
      if (endpoint === null) throw notFound('webhook endpoint');
      const eventId = newEventId();
      const { url, secrets } = endpoint;
      const result = await sender.send({ id: eventId, url, body: testBody(eventId, id, now), secrets });
      const { statusCode, error, durationMs, response } = result;
      return { delivered: error === null, statusCode, error, durationMs, response };
    },
  );

  app.post(
    `${PATH}/enable`,
    {
      config: { scope: 'manage' },
      schema: {
        operationId: 'enableWebhookEndpoint',
        tags: ['webhooks'],
        summary: 'Enable a disabled endpoint, and choose which of the held events are sent',
        description: 'An endpoint that is enabled already stays as it is.',
        params: idParams,
        body: enableOrder,
        response: answers({ 200: enabledEndpoint }, ...POST_PROBLEMS),
      },
    },
    async (request) => {
      const { id } = await visibleEndpoint(deps, request, request.params.id);
      const at = await clock.now();
      const row = await database.transaction(async (tx) => {
        const enabled = await enableEndpoint(tx, id, request.body, at);
        if (enabled === null) throw notFound('webhook endpoint');
        await audit(tx, request, 'enable', { replay: request.body });
        return enabled;
      });
      const told = await tellWorkflow(() => temporal.wakeDelivery(id), request.log);
      return { ...endpointView(row), warnings: told };
    },
  );
}
