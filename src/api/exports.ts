import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { v7 as uuid } from 'uuid';
import { z } from 'zod';
import { EXPORT_STATUSES } from '../model/words.js';
import { recordAudit } from '../storage/audit.js';
import { listCompanyCaptures } from '../storage/captures.js';
import { type ExportRow, endExport, exportPrefix, getExport, insertExport, listExports } from '../storage/exports.js';
import { readBlocks } from '../storage/object-store/index.js';
import { type Api, answers, openAnswers, POST_PROBLEMS } from './api.js';
import { callerOf, requireStaying, seesCompany, visibleCompany } from './authorization.js';
import type { ApiDependencies } from './dependencies.js';
import { exportContent, exportSchema, shownExport } from './export-view.js';
import { pageOf, pageQuery } from './paging.js';
import { invalidInput, notFound, Problem } from './problem.js';
import { documentType, environment, idParams, oneOf, uuid as uuidInput } from './schemas/common.js';
import { fileAnswers } from './schemas/files.js';
import { periodFrom, periodTo } from './schemas/period.js';
import { sendFile } from './send-file.js';
import { requireSigned } from './signed-url.js';
import { tellWorkflow, warnings } from './workflow-notice.js';

const order = z.strictObject({
  companyId: uuidInput,
  documentType,
  environment: environment.optional().describe('Default: that of the capture which runs, else of the last'),
  from: periodFrom,
  to: periodTo,
  pdf: z.boolean().default(false).describe('With a PDF beside each XML that has a printed form'),
});

const made = exportSchema.extend({ warnings });

/** A period of documents in one ZIP: `/v1/exports`. */
export function exportRoutes(app: Api, deps: ApiDependencies): void {
  const { database, objectStore, temporal, clock } = deps;

  async function visibleExport(
    request: FastifyRequest & { readonly params: { readonly id: string } },
  ): Promise<ExportRow> {
    const row = await getExport(database, request.params.id);
    if (row === null || !seesCompany(callerOf(request), row.companyId)) throw notFound('export');
    return row;
  }

  function sendExport(request: FastifyRequest, reply: FastifyReply, row: ExportRow): Promise<FastifyReply> {
    const { objectKey, sha256, size } = row;
    if (objectKey === null || sha256 === null) throw new Problem('export_has_no_file', `The export is ${row.status}`);
    const stream = (start: number, end: number) => Readable.from(readBlocks(objectStore, objectKey, start, end));
    return sendFile(request, reply, {
      sha256,
      type: 'application/zip',
      name: `${row.documentType}-${row.id}.zip`,
      disposition: 'attachment',
      read: async () => ({ length: Number(size), stream }),
    });
  }

  app.post(
    '/v1/exports',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'startExport',
        tags: ['exports'],
        summary: 'Put the documents of a period into one ZIP',
        description:
          'The documents of a company and type that were issued in the period (those that do not say when: captured in it), byte for byte, in folders by year, month and type, with an index as CSV ' +
          'for spreadsheets. Those captured later are not in it. Follow it at `GET /v1/exports/{id}`; the file is kept for 7 days.',
        body: order,
        response: answers({ 202: made }, 'capture_missing', 'company_being_deleted', ...POST_PROBLEMS),
      },
    },
    async (request, reply) => {
      const { companyId, documentType: type, from, to, pdf } = request.body;
      if (to <= from) throw invalidInput({ field: 'to', message: 'expected a time after from' });
      const company = await visibleCompany(deps, request, companyId);
      requireStaying(company);
      const where = request.body.environment ?? (await listCompanyCaptures(database, company.id, type))[0]?.environment;
      if (where === undefined) {
        throw new Problem('capture_missing', 'The company has no capture of this type: say which environment is meant');
      }
      const createdAt = await clock.now();
      const row = await database.transaction(async (tx) => {
        const period = { fromAt: from, toAt: to, pdf };
        const written = await insertExport(tx, {
          ...{ id: uuid(), companyId: company.id, documentType: type, environment: where, createdAt },
          ...period,
        });
        await recordAudit(tx, {
          actor: callerOf(request).actor,
          action: 'export.start',
          target: written.id,
          detail: period,
        });
        return written;
      });
      const told = await tellWorkflow(
        () => temporal.startExport({ exportId: row.id, companyId: row.companyId }),
        request.log,
      );
      return reply.code(202).send({ ...(await shownExport(deps, request, row)), warnings: told });
    },
  );

  app.get(
    '/v1/exports',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'listExports',
        tags: ['exports'],
        summary: 'List exports, newest first',
        querystring: z.strictObject({
          ...pageQuery,
          companyId: uuidInput.optional(),
          documentType: documentType.optional(),
          environment: environment.optional(),
          status: oneOf(EXPORT_STATUSES).optional(),
        }),
        response: answers({ 200: pageOf(exportSchema) }),
      },
    },
    async (request) => {
      const { limit, cursor, ...filter } = request.query;
      const { visible } = callerOf(request);
      const page = await listExports(database, { ...filter, visible }, { limit, cursor: cursor ?? null });
      const data = await Promise.all(page.rows.map((row) => shownExport(deps, request, row)));
      return { data, nextCursor: page.nextCursor };
    },
  );

  app.get(
    '/v1/exports/:id',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'getExport',
        tags: ['exports'],
        summary: 'How far an export is, and a link to its file',
        params: idParams,
        response: answers({ 200: exportSchema }),
      },
    },
    async (request) => shownExport(deps, request, await visibleExport(request)),
  );

  app.delete(
    '/v1/exports/:id',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'cancelExport',
        tags: ['exports'],
        summary: 'Cancel an export, and delete its file',
        description: 'Also one that is done: then its file goes before its time.',
        params: idParams,
        response: answers({ 202: made }),
      },
    },
    async (request, reply) => {
      const row = await visibleExport(request);
      const now = await clock.now();
      const ended = await database.transaction(async (tx) => {
        const cancelled = await endExport(tx, row.id, { status: 'cancelled' }, now);
        if (cancelled)
          await recordAudit(tx, { actor: callerOf(request).actor, action: 'export.cancel', target: row.id });
        return cancelled;
      });
      const told = ended === null ? [] : await tellWorkflow(() => temporal.cancelExport(row.id), request.log);
      // What a step in hand still writes, its workflow deletes.
      if (ended !== null) await objectStore.deletePrefix(exportPrefix(row));
      return reply.code(202).send({ ...(await shownExport(deps, request, ended ?? row)), warnings: told });
    },
  );

  app.get(
    '/v1/exports/:id/file',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'getExportFile',
        tags: ['exports'],
        summary: 'The ZIP of an export that is done',
        description:
          'Single ranges, `If-None-Match` and `If-Range` are honoured, so a download that broke off goes on.',
        params: idParams,
        response: answers(fileAnswers('application/zip'), 'range_not_satisfiable', 'export_has_no_file'),
      },
    },
    async (request, reply) => sendExport(request, reply, await visibleExport(request)),
  );

  app.get(
    '/links/exports/:id',
    {
      schema: {
        operationId: 'openExportLink',
        tags: ['exports'],
        summary: 'The ZIP that a link opens',
        description: 'Made by `GET /v1/exports/{id}`; answers like `/file` of the export.',
        params: idParams,
        querystring: z.looseObject({ expires: z.unknown().optional(), signature: z.unknown().optional() }),
        response: openAnswers(
          fileAnswers('application/zip'),
          'range_not_satisfiable',
          'export_has_no_file',
          'link_invalid',
          'link_expired',
        ),
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      await requireSigned(deps, exportContent(id), request.query);
      const row = await getExport(database, id);
      if (row === null) throw new Problem('not_found', 'The export was deleted');
      reply.header('referrer-policy', 'no-referrer');
      return sendExport(request, reply, row);
    },
  );
}
