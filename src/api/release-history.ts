import { z } from 'zod';
import { captureTarget, recordAudit } from '../storage/audit.js';
import { releaseHistory } from '../storage/held-documents.js';
import { type Api, answers, POST_PROBLEMS } from './api.js';
import { callerOf } from './authorization.js';
import { captureOf } from './captures.js';
import type { ApiDependencies } from './dependencies.js';
import { companyParams, environment, noBody } from './schemas/common.js';

const released = z
  .object({ count: z.int().describe('Documents that are listed and told of from now on') })
  .meta({ id: 'ReleasedHistory' });

/** `POST …/captures/nfse/release-history`: what `cutoffDate` kept back. */
export function releaseHistoryRoutes(app: Api, deps: ApiDependencies): void {
  app.post(
    '/v1/companies/:companyId/captures/nfse/release-history',
    {
      config: { scope: 'manage' },
      schema: {
        operationId: 'releaseHistory',
        tags: ['captures'],
        summary: 'List the NFS-e that `cutoffDate` kept back, and send their webhooks',
        description:
          'The oldest first, within minutes, a few thousand a minute. Later documents from before `cutoffDate` are kept back like before; ' +
          'what `captureIssued` leaves out is not released.',
        params: companyParams,
        querystring: z.strictObject({
          environment: environment.optional().describe('Default: the running one, else the last'),
        }),
        body: noBody,
        response: answers({ 202: released }, ...POST_PROBLEMS),
      },
    },
    async (request, reply) => {
      const { params, query } = request;
      const capture = await captureOf(deps, request, { ...params, ...query, documentType: 'nfse' });
      const now = await deps.clock.now();
      const count = await deps.database.transaction(async (tx) => {
        const target = captureTarget(capture);
        await recordAudit(tx, { actor: callerOf(request).actor, action: 'capture.release_history', target });
        return releaseHistory(tx, capture, now);
      });
      return reply.code(202).send({ count });
    },
  );
}
