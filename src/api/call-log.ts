import { z } from 'zod';
import { type CallLogRow, listCalls } from '../storage/call-log.js';
import { type Api, answers } from './api.js';
import { captureParams, namedCapture } from './captures.js';
import type { ApiDependencies } from './dependencies.js';
import { pageOf, pageQuery } from './paging.js';
import { answeredInstant, environment, isoInstant, nsu, openValue, text, uuid } from './schemas/common.js';

const call = z
  .object({
    id: z.string(),
    time: answeredInstant,
    kind: openValue(['distNSU', 'consNSU', 'consChNFe']),
    fromNsu: nsu.nullable(),
    status: openValue(['open', 'answered', 'not_sent', 'unknown']).describe(
      'open: in the air. not_sent: nothing left this machine. unknown: sent, and no answer came',
    ),
    outcome: z.string().nullable(),
    statusCode: z.string().nullable().describe('cStat'),
    statusText: z.string().nullable(),
    ultNsu: nsu.nullable(),
    maxNsu: nsu.nullable(),
    documents: z.int(),
    durationMs: z.int().nullable(),
    answeredAt: answeredInstant.nullable(),
    archiveId: uuid.nullable().describe('The exact bytes: `/v1/archives/{id}`'),
  })
  .meta({ id: 'GovernmentCall' });

/** The call log of a capture: `…/captures/{documentType}/queries`. */
export function callLogRoutes(app: Api, deps: ApiDependencies): void {
  app.get(
    '/v1/companies/:companyId/captures/:documentType/queries',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'listQueries',
        tags: ['captures'],
        summary: 'Every question asked of the government, newest first',
        params: captureParams,
        querystring: z.strictObject({
          ...pageQuery,
          environment: environment.optional().describe('Default: the running one, else the last'),
          kind: text(40).optional(),
          statusCode: text(10).optional(),
        }),
        response: answers({ 200: pageOf(call) }),
      },
    },
    async (request) => {
      const { companyId, documentType, environment } = await namedCapture(deps, request);
      const { limit, cursor, kind, statusCode } = request.query;
      const page = await listCalls(
        deps.database,
        { companyId, documentType, environment, kind, statusCode },
        { limit, cursor: cursor ?? null },
      );
      return { data: page.rows.map(callView), nextCursor: page.nextCursor };
    },
  );
}

function callView(row: CallLogRow): z.output<typeof call> {
  return {
    id: row.id,
    time: isoInstant(row.startedAt),
    kind: row.kind,
    fromNsu: row.fromNsu,
    status: row.status,
    outcome: row.outcome,
    statusCode: row.statusCode,
    statusText: row.statusText,
    ultNsu: row.ultNsu,
    maxNsu: row.maxNsu,
    documents: row.documents,
    durationMs: row.durationMs,
    answeredAt: isoInstant(row.answeredAt),
    archiveId: row.archiveId,
  };
}
