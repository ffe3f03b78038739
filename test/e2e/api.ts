import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type { InjectOptions } from 'fastify';
import { Registry } from 'prom-client';
import { buildServer } from '../../src/api/server.js';
import { temporalGateway } from '../../src/api/temporal-client-gateway.js';
import { webhookSecretBox } from '../../src/certificates/secret-box.js';
import { createLogger } from '../../src/platform/log.js';
import { WebhookSender } from '../../src/webhooks/sender.js';
import type { System } from './system.js';

const KEY = `mlt_${'k'.repeat(40)}`;

/** The HTTP API of a system on skipped time. */
export interface SystemApi {
  /** One request with the bootstrap key. */
  ask(
    method: 'GET' | 'POST',
    url: string,
    body?: object,
    // biome-ignore lint/suspicious/noExplicitAny: answers are looked into as the test needs
  ): Promise<{ readonly status: number; readonly retryAfter: number; readonly json: any }>;
  stop(): Promise<void>;
}

export async function startApi(system: System, env: TestWorkflowEnvironment): Promise<SystemApi> {
  const sender = new WebhookSender({ version: 'test', allowPrivate: true });
  const api = await buildServer({
    database: system.database,
    objectStore: system.objectStore,
    temporal: temporalGateway(env.connection, env.namespace ?? 'default'),
    clock: { now: () => env.currentTimeMs() },
    keyring: system.keyring,
    secretBox: webhookSecretBox(system.keyring),
    sender,
    bootstrapKey: KEY,
    timeScale: 1,
    publicUrl: null,
    allowPrivateWebhooks: true,
    logger: createLogger({ level: 'silent', role: 'api' }),
    metrics: new Registry(),
    checkCertificate: null,
    isStopping: () => false,
  });
  return {
    async ask(method, url, body) {
      const request: InjectOptions = { method, url, headers: { authorization: `Bearer ${KEY}` } };
      const answer = await api.inject(body === undefined ? request : { ...request, payload: body });
      return { status: answer.statusCode, retryAfter: Number(answer.headers['retry-after']), json: answer.json() };
    },
    stop: async () => {
      await api.close();
      await sender.close();
    },
  };
}
