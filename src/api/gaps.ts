import { z } from 'zod';
import { GAP_CAUSES, GAP_STATUSES } from '../model/recovery.js';
import { captureTarget, recordAudit } from '../storage/audit.js';
import { type GapRow, getGap, listGaps, recoverGap } from '../storage/gap-list.js';
import { type Api, answers, POST_PROBLEMS } from './api.js';
import { callerOf, requireUnlimited } from './authorization.js';
import { captureParams, captureQuery, namedCapture } from './captures.js';
import type { ApiDependencies } from './dependencies.js';
import { pageOf, pageQuery } from './paging.js';
import { notFound, Problem } from './problem.js';
import { answeredInstant, environment, isoInstant, noBody, nsu, oneOf, openValue, uuid } from './schemas/common.js';
import { tellWorkflow, warnings } from './workflow-notice.js';

const gap = z
  .object({
    id: uuid,
    fromNsu: nsu,
    toNsu: nsu.describe('Included; equal to `fromNsu` for a single number'),
    status: openValue(GAP_STATUSES),
    cause: openValue(GAP_CAUSES),
    attempts: z.int(),
    nextAttemptAt: answeredInstant.nullable(),
    lastStatusCode: z.string().nullable(),
    createdAt: answeredInstant,
    resolvedAt: answeredInstant.nullable(),
  })
  .meta({ id: 'Gap', description: 'Numbers that should exist and did not come' });

/** The government keeps documents for 90 days. */
const KEPT_MS = 90 * 86_400_000;
const RECOVER_PROBLEMS = ['capture_stopped', 'gap_closed', 'gap_expired', ...POST_PROBLEMS] as const;

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
          status: oneOf(GAP_STATUSES).optional(),
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

  app.post(
    '/v1/companies/:companyId/captures/:documentType/gaps/:id/recover',
    {
      config: { scope: 'manage' },
      schema: {
        operationId: 'recoverGap',
        tags: ['captures'],
        summary: 'Ask for a missing number, or for every number of a range, from now on',
        description:
          'What is `pending` is asked for without this. It is your word for ranges above 2,000 numbers (`awaiting_confirmation`), for what lies before ' +
          'the first page (`before_onboarding`), and for what was given up. 20 documents an hour at most come so.',
        params: captureParams.extend({ id: uuid }),
        querystring: captureQuery,
        body: noBody,
        response: answers({ 202: gap.extend({ warnings }).meta({ id: 'RecoveredGap' }) }, ...RECOVER_PROBLEMS),
      },
    },
    async (request, reply) => {
      const capture = await namedCapture(deps, request);
      if (!capture.enabled) throw new Problem('capture_stopped', 'This capture is stopped');
      const now = await deps.clock.now();
      const row = await deps.database.transaction(async (tx) => {
        const found = await getGap(tx, capture, request.params.id);
        if (found === null) throw notFound('missing number');
        if (found.createdAt + KEPT_MS < now) throw new Problem('gap_expired', 'It is missing for more than 90 days');
        const recovered = await recoverGap(tx, found.id, now);
        if (recovered === null) throw new Problem('gap_closed', 'Its document is here');
        await recordAudit(tx, {
          actor: callerOf(request).actor,
          action: 'gap.recover',
          target: captureTarget(capture),
          detail: { from: found.fromNsu, to: found.toNsu },
        });
        return recovered;
      });
      const told = await tellWorkflow(() => deps.temporal.wakeCapture(capture), request.log);
      return reply.code(202).send({ ...gapView(row), warnings: told });
    },
  );

  app.post(
    '/v1/gaps/run',
    {
      config: { scope: 'manage' },
      schema: {
        operationId: 'runNightlyGaps',
        tags: ['operations'],
        summary: 'Look for missing numbers of all captures now, as every night at 23:00 in São Paulo',
        body: noBody,
        response: answers(
          { 202: z.object({ started: z.literal(true) }).meta({ id: 'GapRun' }) },
          'key_limited',
          ...POST_PROBLEMS,
        ),
      },
    },
    async (request, reply) => {
      requireUnlimited(callerOf(request));
      await deps.temporal.runNightlyGaps().catch((error: unknown) => {
        request.log.warn({ err: error }, 'Temporal was not reached');
        throw new Problem('temporarily_unavailable', 'Temporal does not answer right now', { retryAfter: 5 });
      });
      return reply.code(202).send({ started: true as const });
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
