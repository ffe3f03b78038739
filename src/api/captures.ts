import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type CaptureKey, type DocumentType, type Environment, PHASES } from '../model/words.js';
import { captureTarget, recordAudit } from '../storage/audit.js';
import { disableCapture, holdCapture, resumeCapture } from '../storage/capture-orders.js';
import type { CaptureRow } from '../storage/capture-rows.js';
import { listCaptures, listCompanyCaptures } from '../storage/captures.js';
import type { Transaction } from '../storage/database.js';
import { type Api, answers, BODY_PROBLEMS, POST_PROBLEMS } from './api.js';
import { callerOf, visibleCompany } from './authorization.js';
import { captureOrder } from './capture-options.js';
import { startCapture } from './capture-start.js';
import { captureState, captureViews } from './capture-view.js';
import type { ApiDependencies } from './dependencies.js';
import { pageOf, pageQuery } from './paging.js';
import { invalidInput, Problem } from './problem.js';
import { companyParams, documentType, environment, flag, instant, noBody, uf } from './schemas/common.js';
import { tellWorkflow, type Warnings, warnings } from './workflow-notice.js';

/** Company and document type, in the path. */
export const captureParams = companyParams.extend({ documentType });
/** Which of a company's environments is meant. */
export const captureQuery = z.strictObject({
  environment: environment.optional().describe('Default: the running one, else the last'),
});

const orderedCapture = captureState.extend({ warnings }).meta({
  id: 'OrderedCapture',
  description: 'The state right after the request, and what did not work along the way',
});
const startedCapture = orderedCapture
  .extend({
    webhookEndpoint: z
      .object({ id: z.uuid(), secret: z.string().nullable().describe('Only in the answer that made the endpoint') })
      .nullable()
      .describe('Of `webhookUrl`; null when the request named none'),
  })
  .meta({ id: 'StartedCapture' });

const pauseOrder = z
  .strictObject({ until: instant.optional().describe('Default: until it is resumed') })
  .nullish()
  .transform((body) => body ?? {});

const PATH = '/v1/companies/:companyId/captures/:documentType';

/** Captures: what runs for a company. */
export function captureRoutes(app: Api, deps: ApiDependencies): void {
  app.put(
    PATH,
    {
      config: { scope: 'manage' },
      schema: {
        operationId: 'startCapture',
        tags: ['captures'],
        summary: 'Start a capture, or change its options',
        description:
          'Idempotent. Options that are not given stay as they are; null takes one away. Answered from the database: ' +
          'while Temporal does not answer, the start is stored, the answer has a warning, and the capture begins once it does.',
        params: captureParams,
        body: captureOrder,
        response: answers(
          { 200: startedCapture },
          'certificate_missing',
          'certificate_expired',
          'certificate_not_yet_valid',
          'environment_in_use',
          'company_being_deleted',
          ...BODY_PROBLEMS,
        ),
      },
    },
    async (request) => {
      const company = await visibleCompany(deps, request, request.params.companyId);
      const capture: CaptureKey = {
        companyId: company.id,
        documentType: request.params.documentType,
        environment: request.body.environment,
      };
      const by = { caller: callerOf(request), log: request.log };
      const { row, warnings, webhookEndpoint } = await startCapture(deps, company, capture, request.body, by);
      return { ...(await viewOf(deps, row)), warnings, webhookEndpoint };
    },
  );

  app.get(
    '/v1/companies/:companyId/captures',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'listCompanyCaptures',
        tags: ['captures'],
        summary: 'The captures of one company, stopped ones included',
        params: companyParams,
        response: answers({ 200: pageOf(captureState) }),
      },
    },
    async (request) => {
      const company = await visibleCompany(deps, request, request.params.companyId);
      const rows = await listCompanyCaptures(deps.database, company.id);
      return { data: await captureViews(deps, rows), nextCursor: null };
    },
  );

  app.get(
    PATH,
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'getCapture',
        tags: ['captures'],
        summary: 'Where a capture stands',
        params: captureParams,
        querystring: captureQuery,
        response: answers({ 200: captureState }),
      },
    },
    async (request) => viewOf(deps, await namedCapture(deps, request)),
  );

  app.get(
    '/v1/captures',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'listCaptures',
        tags: ['captures'],
        summary: 'List captures of all companies',
        querystring: z.strictObject({
          ...pageQuery,
          phase: z.enum(PHASES, { error: `expected one of ${PHASES.join(', ')}` }).optional(),
          documentType: documentType.optional(),
          environment: environment.optional(),
          uf: uf.optional(),
          enabled: flag.optional(),
        }),
        response: answers({ 200: pageOf(captureState) }),
      },
    },
    async (request) => {
      const { limit, cursor, ...filter } = request.query;
      const { visible } = callerOf(request);
      const page = await listCaptures(deps.database, { ...filter, visible }, { limit, cursor: cursor ?? null });
      return { data: await captureViews(deps, page.rows), nextCursor: page.nextCursor };
    },
  );

  app.delete(
    PATH,
    {
      config: { scope: 'manage' },
      schema: {
        operationId: 'stopCapture',
        tags: ['captures'],
        summary: 'Stop a capture',
        description:
          'From now on no further query is made; one in hand is still finished and stored. A later start goes on where it stopped. ' +
          'The government stops numbering documents for a tax ID that nobody queries for 60 days, and never makes that up.',
        params: captureParams,
        querystring: captureQuery,
        response: answers({ 202: orderedCapture }),
      },
    },
    async (request, reply) => {
      const found = await namedCapture(deps, request);
      if (!found.enabled) return reply.code(202).send({ ...(await viewOf(deps, found)), warnings: [] });
      const answer = await order(deps, request, found, 'capture.stop', {
        write: disableCapture,
        tell: () => deps.temporal.stopCapture(found),
      });
      return reply.code(202).send(answer);
    },
  );

  app.post(
    `${PATH}/resume`,
    {
      config: { scope: 'manage' },
      schema: {
        operationId: 'resumeCapture',
        tags: ['captures'],
        summary: 'Leave `attention`, `disabled` or a pause',
        description: "Counters go to zero. A wait that the government's rules ask for is never shortened.",
        params: captureParams,
        querystring: captureQuery,
        body: noBody,
        response: answers({ 202: orderedCapture }, 'capture_stopped', ...POST_PROBLEMS),
      },
    },
    async (request, reply) => {
      const found = started(await namedCapture(deps, request));
      const answer = await order(deps, request, found, 'capture.resume', {
        write: resumeCapture,
        tell: () => deps.temporal.resumeCapture(found),
      });
      return reply.code(202).send(answer);
    },
  );

  app.post(
    `${PATH}/pause`,
    {
      config: { scope: 'manage' },
      schema: {
        operationId: 'pauseCapture',
        tags: ['captures'],
        summary: 'Hold a capture for a while',
        description:
          'Holds from now on, also while Temporal does not answer. Do not hold longer than 60 days: the government then stops numbering documents for the tax ID.',
        params: captureParams,
        querystring: captureQuery,
        body: pauseOrder,
        response: answers({ 202: orderedCapture }, 'capture_stopped', ...POST_PROBLEMS),
      },
    },
    async (request, reply) => {
      const found = started(await namedCapture(deps, request));
      const { until } = request.body;
      const heldUntil = until === undefined ? Number.POSITIVE_INFINITY : Date.parse(until);
      if (heldUntil <= (await deps.clock.now())) {
        throw invalidInput({ field: 'until', message: 'expected an instant in the future' });
      }
      const answer = await order(deps, request, found, 'capture.pause', {
        write: (tx, capture, now) => holdCapture(tx, capture, heldUntil, now),
        // The row holds the pause; the workflow only needs to look at it.
        tell: () => deps.temporal.wakeCapture(found),
      });
      return reply.code(202).send(answer);
    },
  );
}

interface NamesCapture {
  readonly params: { readonly companyId: string; readonly documentType: DocumentType };
  readonly query: { readonly environment?: Environment | undefined };
}

/**
 * The capture that path and query name. Of two environments the running one, since only one can run.
 *
 * @throws {Problem} `not_found`
 */
export function namedCapture(deps: ApiDependencies, request: FastifyRequest & NamesCapture): Promise<CaptureRow> {
  return captureOf(deps, request, { ...request.params, ...request.query });
}

/** As {@link namedCapture}, where the path names no document type. */
export async function captureOf(
  deps: ApiDependencies,
  request: FastifyRequest,
  wanted: Pick<CaptureKey, 'companyId' | 'documentType'> & { readonly environment?: Environment | undefined },
): Promise<CaptureRow> {
  const company = await visibleCompany(deps, request, wanted.companyId);
  const rows = await listCompanyCaptures(deps.database, company.id, wanted.documentType);
  const found = rows.find(({ environment }) => wanted.environment === undefined || environment === wanted.environment);
  if (found === undefined) throw new Problem('not_found', 'This capture was never started');
  return found;
}

function started(row: CaptureRow): CaptureRow {
  if (!row.enabled) throw new Problem('capture_stopped', 'This capture is stopped');
  return row;
}

interface Order {
  readonly write: (tx: Transaction, capture: CaptureKey, now: number) => Promise<CaptureRow | null>;
  readonly tell: () => Promise<void>;
}

/** What a person orders: written down, with the audit, in one transaction; then the workflow is told. */
async function order(
  deps: ApiDependencies,
  request: FastifyRequest & { readonly log: FastifyBaseLogger },
  capture: CaptureKey,
  action: string,
  { write, tell }: Order,
) {
  const now = await deps.clock.now();
  const row = await deps.database.transaction(async (tx) => {
    const written = await write(tx, capture, now);
    if (written === null) throw new Problem('not_found', 'This capture was never started');
    const { actor } = callerOf(request);
    const target = captureTarget(capture);
    await recordAudit(tx, { actor, action, target });
    return written;
  });
  const told: Warnings = await tellWorkflow(tell, request.log);
  return { ...(await viewOf(deps, row)), warnings: told };
}

async function viewOf(deps: ApiDependencies, row: CaptureRow) {
  const [view] = await captureViews(deps, [row]);
  if (view === undefined) throw new Error('one row has one view');
  return view;
}
