import { z } from 'zod';
import { type GapRow, listGaps } from '../storage/gap-list.js';
import { type Api, answers } from './api.js';
import { captureParams, namedCapture } from './captures.js';
import type { ApiDependencies } from './dependencies.js';
import { pageOf, pageQuery } from './paging.js';
import { answeredInstant, environment, isoInstant, nsu, oneOf, openValue, uuid } from './schemas/common.js';

const STATUSES = [
  'pending',
  'recovered',
  'nonexistent',
  'exhausted',
  'expired',
  'before_onboarding',
  'awaiting_confirmation',
] as const;

const gap = z
  .object({
    id: uuid,
    fromNsu: nsu,
    toNsu: nsu.describe('Included; equal to `fromNsu` for a single number'),
    status: openValue(STATUSES),
    cause: openValue(['page', 'jump', 'lost_page', 'failed_item', 'first_page']),
    attempts: z.int(),
    nextAttemptAt: answeredInstant.nullable(),
    lastStatusCode: z.string().nullable(),
    createdAt: answeredInstant,
    resolvedAt: answeredInstant.nullable(),
  })
  .meta({ id: 'Gap', description: 'Numbers that should exist and did not come' });

/** Recovery items and ranges of a capture: `…/captures/{documentType}/gaps`. */
export function gapRoutes(app: Api, deps: ApiDependencies): void {
  app.get(
    '/v1/companies/:companyId/captures/:documentType/gaps',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'listGaps',
        tags: ['captures'],
        summary: 'Numbers that should exist and did not come, in their order',
        params: captureParams,
        querystring: z.strictObject({
          ...pageQuery,
          environment: environment.optional().describe('Default: the running one, else the last'),
          status: oneOf(STATUSES).optional(),
        }),
        response: answers({ 200: pageOf(gap) }),
      },
    },
    async (request) => {
      const capture = await namedCapture(deps, request);
      const { limit, cursor, status } = request.query;
      const page = await listGaps(deps.database, capture, { status }, { limit, cursor: cursor ?? null });
      return { data: page.rows.map(gapView), nextCursor: page.nextCursor };
    },
  );
}

function gapView(row: GapRow): z.output<typeof gap> {
  return {
    id: row.id,
    fromNsu: row.fromNsu,
    toNsu: row.toNsu,
    status: row.status,
    cause: row.cause,
    attempts: row.attempts,
    nextAttemptAt: isoInstant(row.nextAttemptAt),
    lastStatusCode: row.lastStatusCode,
    createdAt: isoInstant(row.createdAt),
    resolvedAt: isoInstant(row.resolvedAt),
  };
}
