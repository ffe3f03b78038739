import { z } from 'zod';
import { recordAudit } from '../storage/audit.js';
import { cancelErasure, type ErasureRow, getErasure, requestErasure } from '../storage/erasures.js';
import { type Api, answers, BODY_PROBLEMS, POST_PROBLEMS } from './api.js';
import { callerOf, seesCompany, visibleCompany } from './authorization.js';
import type { ApiDependencies } from './dependencies.js';
import { invalidInput, notFound, Problem } from './problem.js';
import { answeredInstant, companyParams, isoInstant, noBody, uuid } from './schemas/common.js';
import { tellWorkflow, warnings } from './workflow-notice.js';

/** How long a deletion can be taken back. */
const GRACE_MS = 7 * 86_400_000;

const deletion = z
  .object({
    companyId: uuid,
    status: z.enum(['waiting', 'erasing', 'done']).describe('`waiting`: it can still be taken back'),
    requestedAt: answeredInstant,
    dueAt: answeredInstant.describe('Nothing is deleted before'),
    startedAt: answeredInstant.nullable(),
    finishedAt: answeredInstant.nullable(),
    rowsDeleted: z.int().describe('Rows of the database so far'),
    objectsDeleted: z.int().describe('Objects of the object store so far'),
  })
  .meta({ id: 'CompanyDeletion', description: 'The deletion of a company. Kept after the company itself is gone' });

const orderedDeletion = deletion.extend({ warnings }).meta({ id: 'OrderedCompanyDeletion' });

/** Deleting companies: `DELETE /v1/companies/{companyId}`, and how far it is. */
export function companyDeletionRoutes(app: Api, deps: ApiDependencies): void {
  const { database, temporal } = deps;

  app.delete(
    '/v1/companies/:companyId',
    {
      config: { scope: 'admin' },
      schema: {
        operationId: 'deleteCompany',
        tags: ['companies'],
        summary: 'Delete a company with everything that is kept of it',
        description:
          'Its captures stop at once. After 7 days of grace, or right away with `immediately`, its documents, archives, PDFs, events, certificate ' +
          'and webhook bodies are deleted for good. What stays: the audit, counts of usage, and a keyed hash of the tax ID with its cursors, so that ' +
          'the rules of the government are kept if it ever comes back. Export first what the law asks you to keep. A repeat changes nothing, or makes it sooner.',
        params: companyParams,
        querystring: z.strictObject({
          confirm: z
            .string("expected the last 4 characters of this company's tax ID")
            .describe('The last 4 characters of the tax ID, so that it is the right company'),
        }),
        body: z.strictObject({ immediately: z.boolean().optional().describe('Without the 7 days of grace') }).nullish(),
        response: answers({ 202: orderedDeletion }, ...BODY_PROBLEMS),
      },
    },
    async (request, reply) => {
      const { companyId } = request.params;
      const gone = await finished(deps, companyId);
      if (gone && seesCompany(callerOf(request), companyId))
        return reply.code(202).send({ ...view(gone), warnings: [] });
      const company = await visibleCompany(deps, request, companyId);
      if (request.query.confirm.toUpperCase() !== company.taxId.slice(-4)) {
        throw invalidInput({ field: 'confirm', message: "expected the last 4 characters of this company's tax ID" });
      }
      const immediately = request.body?.immediately === true;
      const now = await deps.clock.now();
      const ordered = await database.transaction(async (tx) => {
        const asked = await requestErasure(tx, companyId, { now, dueAt: immediately ? now : now + GRACE_MS });
        if (asked === null) throw notFound('company');
        const { actor } = callerOf(request);
        await recordAudit(tx, { actor, action: 'company.delete', target: companyId, detail: { immediately } });
        return asked;
      });
      const told = await tellWorkflow(async () => {
        for (const capture of ordered.stopped) await temporal.stopCapture(capture);
        await temporal.wakeErasure(companyId);
      }, request.log);
      return reply.code(202).send({ ...view(ordered.erasure), warnings: told });
    },
  );

  app.get(
    '/v1/companies/:companyId/deletion',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'getCompanyDeletion',
        tags: ['companies'],
        summary: 'How far the deletion of a company is',
        params: companyParams,
        response: answers({ 200: deletion }),
      },
    },
    async (request) => {
      const { companyId } = request.params;
      const found = seesCompany(callerOf(request), companyId) ? await getErasure(database, companyId) : null;
      if (found === null) throw new Problem('not_found', 'No deletion of such a company was asked for');
      return view(found);
    },
  );

  app.post(
    '/v1/companies/:companyId/restore',
    {
      config: { scope: 'admin' },
      schema: {
        operationId: 'restoreCompany',
        tags: ['companies'],
        summary: 'Take the deletion of a company back while its grace lasts',
        description: 'Its captures stay stopped: start those that are wanted again.',
        params: companyParams,
        body: noBody,
        response: answers({ 204: z.undefined().describe('Taken back') }, 'deletion_begun', ...POST_PROBLEMS),
      },
    },
    async (request, reply) => {
      const { id } = await visibleCompany(deps, request, request.params.companyId);
      await database.transaction(async (tx) => {
        if (!(await cancelErasure(tx, id))) {
          if (await getErasure(tx, id)) throw new Problem('deletion_begun', 'The deletion of this company has begun');
          throw new Problem('not_found', 'No deletion of this company was asked for');
        }
        await recordAudit(tx, { actor: callerOf(request).actor, action: 'company.restore', target: id });
      });
      await tellWorkflow(() => temporal.wakeErasure(id), request.log);
      return reply.code(204).send();
    },
  );
}

async function finished({ database }: ApiDependencies, companyId: string): Promise<ErasureRow | null> {
  const erasure = await getErasure(database, companyId);
  return erasure?.status === 'done' ? erasure : null;
}

function view(row: ErasureRow): z.output<typeof deletion> {
  return {
    companyId: row.companyId,
    status: row.status,
    requestedAt: isoInstant(row.requestedAt),
    dueAt: isoInstant(row.dueAt),
    startedAt: isoInstant(row.startedAt),
    finishedAt: isoInstant(row.finishedAt),
    rowsDeleted: row.rowsDeleted,
    objectsDeleted: row.objectsDeleted,
  };
}
