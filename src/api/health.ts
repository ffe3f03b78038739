import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { VERSION } from '../platform/version.js';
import type { Api } from './api.js';
import type { ApiDependencies } from './dependencies.js';

/** Milliseconds that a part may take to answer: less than any prober waits. */
const CHECK_LIMIT_MS = 2_000;

const health = z
  .object({
    ready: z.boolean(),
    stopping: z.boolean().describe('The process was asked to stop: send no new requests'),
    checks: z.object({ database: z.boolean(), temporal: z.boolean(), objectStore: z.boolean() }),
  })
  .meta({ id: 'Readiness' });

const root = z
  .object({ name: z.string(), version: z.string(), docs: z.string(), openapi: z.string(), ready: z.string() })
  .meta({ id: 'Root' });

const ROOT = { name: 'Malote', version: VERSION, docs: '/docs', openapi: '/openapi.json', ready: '/readyz' };

/** For machines: health, metrics, and the description of the API itself. None of them asks for a key. */
export function healthRoutes(app: Api, deps: ApiDependencies): void {
  app.get(
    '/',
    {
      schema: {
        operationId: 'getRoot',
        tags: ['operations'],
        summary: 'Where everything else is',
        response: { 200: root },
      },
    },
    async () => ROOT,
  );

  app.get(
    '/healthz',
    {
      schema: {
        operationId: 'getHealth',
        tags: ['operations'],
        summary: 'The process lives',
        response: { 200: z.object({ alive: z.literal(true) }) },
      },
    },
    async () => ({ alive: true as const }),
  );

  app.get(
    '/readyz',
    {
      schema: {
        operationId: 'getReadiness',
        tags: ['operations'],
        summary: 'Database, Temporal and object store answer, and the process is not stopping',
        response: { 200: health, 503: health },
      },
    },
    async (_, reply) => {
      const [database, temporal, objectStore] = await Promise.all([
        answersInTime(() => deps.database.query('select 1')),
        answersInTime(() => deps.temporal.check()),
        answersInTime(() => deps.objectStore.check()),
      ]);
      const stopping = deps.isStopping();
      const ready = database && temporal && objectStore && !stopping;
      return reply.code(ready ? 200 : 503).send({ ready, stopping, checks: { database, temporal, objectStore } });
    },
  );

  app.get(
    '/metrics',
    {
      schema: {
        operationId: 'getMetrics',
        tags: ['operations'],
        summary: 'Metrics of this process for Prometheus',
        response: { 200: { description: 'Prometheus text format', content: { 'text/plain': { schema: z.string() } } } },
      },
    },
    async (_, reply) => reply.type(deps.metrics.contentType).send(await deps.metrics.metrics()),
  );

  app.get(
    '/openapi.json',
    {
      schema: {
        operationId: 'getOpenApi',
        tags: ['operations'],
        summary: 'This description',
        response: { 200: z.looseObject({}) },
      },
    },
    async () => ({ ...app.swagger() }),
  );
}

async function answersInTime(check: () => Promise<unknown>): Promise<boolean> {
  const limit = new AbortController();
  try {
    return await Promise.race([
      check().then(() => true),
      delay(CHECK_LIMIT_MS, false, { signal: limit.signal, ref: false }),
    ]);
  } catch {
    return false;
  } finally {
    limit.abort();
  }
}
