import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Histogram, type Registry } from 'prom-client';
import type { Api } from './api.js';

const OWN_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** The caller's own `X-Request-Id` when it is harmless in a log, else a new one. */
export function requestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && OWN_ID.test(given) ? given : randomUUID();
}

/**
 * Puts `X-Request-Id` on every answer, logs each request in one line and measures it. Only the route's pattern is logged:
 * the real path and query can hold tax IDs and access keys, and signatures that open a document.
 */
export function traceRequests(app: Api, metrics: Registry): void {
  const duration = new Histogram({
    name: 'malote_http_request_seconds',
    help: 'Time from request to answer, by route',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [metrics],
  });
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    reply.header('x-content-type-options', 'nosniff');
    if (/^\/(v1|links)\//.test(request.url)) reply.header('cache-control', 'private, no-store');
  });
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'unknown';
    duration.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1000);
    const line = {
      method: request.method,
      route,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
      actor: request.caller?.actor,
    };
    if (PROBES.has(route)) request.log.debug(line, 'request');
    else request.log.info(line, 'request');
  });
}

/** Asked every few seconds by machines. */
const PROBES = new Set(['/healthz', '/readyz', '/metrics']);
