import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import { v7 as uuid } from 'uuid';
import { z } from 'zod';
import { isAccessKey } from '../documents/access-key.js';
import { isKeyForm, type PointAsk, type PointRefusal } from '../model/point-query.js';
import type { CaptureKey } from '../model/words.js';
import { getArchive } from '../storage/archives.js';
import { captureTarget, recordAudit } from '../storage/audit.js';
import { getCapture } from '../storage/captures.js';
import { resendDocument } from '../storage/deliveries.js';
import { findLocal } from '../storage/local-documents.js';
import { getReprocess, insertReprocess, type ReprocessRow, settleReprocess } from '../storage/reprocess-requests.js';
import { type Api, answers, POST_PROBLEMS } from './api.js';
import { callerOf, seesCompany } from './authorization.js';
import { captureParams, captureQuery, namedCapture } from './captures.js';
import type { ApiDependencies } from './dependencies.js';
import { POINT_PROBLEMS, refusedAs, secondsUntil } from './point-problems.js';
import { notFound, Problem } from './problem.js';
import { reprocessRequest, reprocessView } from './reprocess-view.js';
import { idParams, nsuInput, uuid as uuidInput } from './schemas/common.js';
import { tellWorkflow } from './workflow-notice.js';

const key = z.string().refine((value) => isKeyForm(value) && isAccessKey(value), {
  error: 'expected the access key of an NF-e: 44 characters, the last one its check digit',
});
const order = z
  .strictObject({ nsu: nsuInput.optional(), key: key.optional(), archiveId: uuidInput.optional() })
  .refine(({ nsu, key: byKey, archiveId }) => [nsu, byKey, archiveId].filter((one) => one !== undefined).length === 1, {
    error: 'expected one of nsu, key, archiveId',
  });

/** So long a caller is kept waiting before he is sent to `/v1/reprocess-requests/{id}`. Real milliseconds. */
const WAIT_MS = 10_000;
const BUSY_RETRY_S = 5;
const FAILED_RETRY_S = 60;

/** Documents again: `POST …/reprocess`, `/v1/reprocess-requests/{id}`. */
export function reprocessRoutes(app: Api, deps: ApiDependencies): void {
  app.post(
    '/v1/companies/:companyId/captures/:documentType/reprocess',
    {
      config: { scope: 'manage' },
      schema: {
        operationId: 'reprocess',
        tags: ['captures'],
        summary: 'Have one document, or the documents of one archive, again',
        description:
          'By NSU or access key: a document that is here is sent again under its webhook-id, and the government is not asked. Else it is asked for ' +
          'by a point query, of which 20 an hour may bring a document; without a slot the answer is 429, and the slot announced by `Retry-After` is ' +
          'kept for this request for a minute. What takes longer than 10 s is answered 202 and followed at `/v1/reprocess-requests/{id}`. ' +
          'An archive is decoded again without asking anybody: documents that are new are told of, those that are here are not.',
        params: captureParams,
        querystring: captureQuery,
        body: order,
        response: answers(
          { 200: reprocessRequest, 202: reprocessRequest },
          'capture_busy',
          ...POINT_PROBLEMS,
          ...POST_PROBLEMS,
        ),
      },
    },
    async (request, reply) => {
      const { companyId, documentType, environment, enabled } = await namedCapture(deps, request);
      const capture: CaptureKey = { companyId, documentType, environment };
      const { nsu, key: byKey, archiveId } = request.body;
      const by = { actor: callerOf(request).actor, log: request.log };
      if (archiveId !== undefined) {
        const { status, row } = await decodeAgain(deps, request, capture, archiveId);
        return reply.code(status).send(await reprocessView(deps, row));
      }
      const ask: PointAsk = nsu !== undefined ? { nsu } : { key: byKey ?? '' };
      if ('key' in ask && documentType !== 'nfe') {
        throw new Problem('not_supported', `${documentType} cannot be asked for by key: use nsu`);
      }
      const id = await written(deps, capture, { ...ask, by: 'nsu' in ask ? 'nsu' : 'key' }, by.actor);
      const local = await findLocal(deps.database, capture, ask);
      if (local.length > 0) {
        await sendAgain(deps, id, local, by.log);
        return reply.code(200).send(await reprocessView(deps, await rowOf(deps, id)));
      }
      if (!enabled) {
        await refuse(deps, id, 'disabled');
        throw new Problem('capture_stopped', 'This capture is stopped, and the document is not here');
      }
      const row = await asked(deps, capture, ask, { id, log: by.log });
      return reply.code(row.status === 'pending' ? 202 : 200).send(await reprocessView(deps, row));
    },
  );

  app.get(
    '/v1/reprocess-requests/:id',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'getReprocessRequest',
        tags: ['captures'],
        summary: 'What became of a request to have a document again',
        params: idParams,
        response: answers({ 200: reprocessRequest }),
      },
    },
    async (request) => {
      const row = await getReprocess(deps.database, request.params.id);
      if (row === null || !seesCompany(callerOf(request), row.companyId)) throw notFound('request');
      return reprocessView(deps, row);
    },
  );
}

/** Writes the request down, with the audit. Gives its id. */
async function written(
  { database, clock }: ApiDependencies,
  capture: CaptureKey,
  { by, ...what }: Partial<Pick<ReprocessRow, 'nsu' | 'key' | 'archiveId'>> & { readonly by: string },
  actor: string,
): Promise<string> {
  const id = uuid();
  const createdAt = await clock.now();
  const target = captureTarget(capture);
  await database.transaction(async (tx) => {
    const { nsu, key: byKey, archiveId } = what;
    await insertReprocess(tx, {
      ...capture,
      id,
      createdAt,
      nsu: nsu ?? undefined,
      key: byKey ?? undefined,
      archiveId: archiveId ?? undefined,
    });
    await recordAudit(tx, { actor, action: 'capture.reprocess', target, detail: { by, requestId: id } });
  });
  return id;
}

async function sendAgain(
  deps: ApiDependencies,
  id: string,
  documentIds: readonly string[],
  log: FastifyBaseLogger,
): Promise<void> {
  const { database, clock, temporal } = deps;
  const now = await clock.now();
  const wake = await database.transaction(async (tx) => {
    const endpoints = new Set<string>();
    for (const documentId of documentIds) {
      for (const endpoint of (await resendDocument(tx, documentId, now)).endpointIds) endpoints.add(endpoint);
    }
    await settleReprocess(tx, { id }, { status: 'done', documentIds }, now);
    return endpoints;
  });
  await tellWorkflow(async () => {
    for (const endpoint of wake) await temporal.wakeDelivery(endpoint);
  }, log);
}

/**
 * Asks the capture's run. Gives the request as it stands: settled with or without a document, or pending.
 *
 * @throws {Problem} for everything that another try can change
 */
async function asked(
  deps: ApiDependencies,
  capture: CaptureKey,
  ask: PointAsk,
  { id, log }: { readonly id: string; readonly log: FastifyBaseLogger },
): Promise<ReprocessRow> {
  const result = await deps.temporal
    .askCapture(capture, { ...ask, requestId: id }, id, WAIT_MS)
    .catch(async (error: unknown) => {
      log.warn({ err: error }, 'Temporal was not reached');
      await refuse(deps, id, 'temporal_unreachable');
      throw new Problem('temporarily_unavailable', 'Temporal does not answer right now', { retryAfter: BUSY_RETRY_S });
    });
  switch (result.kind) {
    case 'taken':
      return rowOf(deps, id);
    case 'answered':
      if (result.answer.kind === 'refused') throw refusedAs(result.answer.refusal, await deps.clock.now());
      return settled(deps, capture, await rowOf(deps, id));
    case 'busy':
      await refuse(deps, id, 'busy');
      throw new Problem('capture_busy', 'Ten questions of this capture wait already', { retryAfter: BUSY_RETRY_S });
    case 'malformed':
      throw new Error(`a checked question was found malformed: ${result.problem}`);
    case 'not_running':
    case 'no_worker':
      await refuse(deps, id, result.kind);
      throw new Problem('temporarily_unavailable', 'No worker takes the question right now', {
        retryAfter: BUSY_RETRY_S,
      });
  }
}

/** @throws {Problem} when the government was asked in vain */
async function settled(deps: ApiDependencies, capture: CaptureKey, row: ReprocessRow): Promise<ReprocessRow> {
  if (row.status !== 'failed') return row;
  if (row.reason === 'throttled') {
    const { suspendedUntil } = (await getCapture(deps.database, capture))?.state.quota ?? {};
    const now = await deps.clock.now();
    const until = suspendedUntil ?? now;
    throw new Problem('point_quota_exhausted', 'The government refused: another program asks for this tax ID, too', {
      retryAfter: secondsUntil(until, now),
    });
  }
  const said =
    row.statusCode === null ? (row.reason ?? 'no answer') : `${row.statusCode} ${row.statusText ?? ''}`.trim();
  throw new Problem('government_unavailable', `The government was asked in vain: ${said.replaceAll('_', ' ')}`, {
    retryAfter: FAILED_RETRY_S,
  });
}

async function decodeAgain(
  deps: ApiDependencies,
  request: FastifyRequest,
  capture: CaptureKey,
  archiveId: string,
): Promise<{ status: 200 | 202; row: ReprocessRow }> {
  const archive = await getArchive(deps.database, archiveId);
  const isOurs =
    archive !== null &&
    archive.companyId === capture.companyId &&
    archive.documentType === capture.documentType &&
    archive.environment === capture.environment;
  if (!isOurs) throw notFound('archive');
  const id = await written(deps, capture, { archiveId, by: 'archive' }, callerOf(request).actor);
  const done = await deps.temporal
    .reprocessArchive({ capture, archiveId, requestId: id }, WAIT_MS)
    .catch(async (error: unknown) => {
      request.log.warn({ err: error }, 'Temporal was not reached');
      await refuse(deps, id, 'temporal_unreachable');
      throw new Problem('temporarily_unavailable', 'Temporal does not answer right now', { retryAfter: BUSY_RETRY_S });
    });
  return { status: done ? 200 : 202, row: await rowOf(deps, id) };
}

async function refuse(
  { database, clock }: ApiDependencies,
  id: string,
  reason: PointRefusal['reason'] | 'busy' | 'not_running' | 'no_worker' | 'temporal_unreachable',
): Promise<void> {
  await settleReprocess(database, { id }, { status: 'refused', reason }, await clock.now());
}

async function rowOf({ database }: ApiDependencies, id: string): Promise<ReprocessRow> {
  const row = await getReprocess(database, id);
  if (row === null) throw new Problem('not_found', 'The company was deleted meanwhile');
  return row;
}
