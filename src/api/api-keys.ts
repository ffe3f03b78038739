import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { type ApiKeyRow, createApiKey, listApiKeys, revokeApiKey } from '../storage/api-keys.js';
import { recordAudit } from '../storage/audit.js';
import { type Api, answers, POST_PROBLEMS, SCOPES } from './api.js';
import { callerOf, hashApiKey, newApiKey, requireUnlimited } from './authorization.js';
import { companyIdsInput, requireCompanies } from './company-lists.js';
import type { ApiDependencies } from './dependencies.js';
import { pageOf, pageQuery } from './paging.js';
import { notFound } from './problem.js';
import { answeredInstant, idParams, isoInstant, oneOf, openValue, text, uuid } from './schemas/common.js';

const newKey = z.strictObject({
  name: text(200).describe('Who or what uses it'),
  scopes: z
    .array(oneOf(SCOPES), { error: `expected a list of ${SCOPES.join(', ')}` })
    .min(1, 'expected at least one scope')
    .max(SCOPES.length, 'expected each scope once')
    .describe('`admin` includes `manage`, `manage` includes `read`'),
  companyIds: companyIdsInput.nullable().optional().describe('Limits the key to these companies; null: all'),
});

const apiKey = z
  .object({
    id: uuid,
    name: z.string(),
    scopes: z.array(openValue(SCOPES)),
    companyIds: z.array(uuid).nullable(),
    createdAt: answeredInstant,
    lastUsedAt: answeredInstant.nullable().describe('To the minute'),
    revokedAt: answeredInstant.nullable(),
  })
  .meta({ id: 'ApiKey' });
const createdKey = apiKey
  .extend({ key: z.string().describe('Shown only here: only a hash of it is kept') })
  .meta({ id: 'CreatedApiKey' });

/** API keys: `/v1/api-keys`. The bootstrap key of the configuration is none of them. */
export function apiKeyRoutes(app: Api, deps: ApiDependencies): void {
  const { database, clock } = deps;

  app.post(
    '/v1/api-keys',
    {
      config: { scope: 'admin' },
      schema: {
        operationId: 'createApiKey',
        tags: ['operations'],
        summary: 'Make an API key',
        body: newKey,
        response: answers({ 201: createdKey }, 'key_limited', ...POST_PROBLEMS),
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      requireUnlimited(caller);
      const { name, scopes, companyIds } = request.body;
      if (companyIds) await requireCompanies(deps, caller, companyIds);
      const key = newApiKey();
      const now = await clock.now();
      const row = await database.transaction(async (tx) => {
        const made = await createApiKey(tx, {
          id: uuidv7(),
          name,
          hash: hashApiKey(key),
          scopes,
          companyIds: companyIds ?? null,
          now,
        });
        const detail = { scopes, companies: companyIds?.length ?? 'all' };
        await recordAudit(tx, { actor: caller.actor, action: 'api_key.create', target: made.id, detail });
        return made;
      });
      return reply.code(201).send({ ...keyView(row), key });
    },
  );

  app.get(
    '/v1/api-keys',
    {
      config: { scope: 'admin' },
      schema: {
        operationId: 'listApiKeys',
        tags: ['operations'],
        summary: 'List API keys, revoked ones included, newest first',
        querystring: z.strictObject(pageQuery),
        response: answers({ 200: pageOf(apiKey) }, 'key_limited'),
      },
    },
    async (request) => {
      requireUnlimited(callerOf(request));
      const { limit, cursor } = request.query;
      const page = await listApiKeys(database, { limit, cursor: cursor ?? null });
      return { data: page.rows.map(keyView), nextCursor: page.nextCursor };
    },
  );

  app.delete(
    '/v1/api-keys/:id',
    {
      config: { scope: 'admin' },
      schema: {
        operationId: 'revokeApiKey',
        tags: ['operations'],
        summary: 'Revoke an API key, from the next request on',
        params: idParams,
        response: answers({ 204: z.undefined().describe('Revoked') }, 'key_limited'),
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      requireUnlimited(caller);
      const { id } = request.params;
      const now = await clock.now();
      await database.transaction(async (tx) => {
        if (!(await revokeApiKey(tx, id, now))) throw notFound('API key');
        await recordAudit(tx, { actor: caller.actor, action: 'api_key.revoke', target: id });
      });
      return reply.code(204).send();
    },
  );
}

function keyView(row: ApiKeyRow): z.output<typeof apiKey> {
  return {
    id: row.id,
    name: row.name,
    scopes: row.scopes,
    companyIds: row.companyIds,
    createdAt: isoInstant(row.createdAt),
    lastUsedAt: isoInstant(row.lastUsedAt),
    revokedAt: isoInstant(row.revokedAt),
  };
}
