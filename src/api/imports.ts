import type { FastifyRequest } from 'fastify';
import { v7 as uuid } from 'uuid';
import { z } from 'zod';
import type { Environment } from '../model/words.js';
import { recordAudit } from '../storage/audit.js';
import { listCompanyCaptures } from '../storage/captures.js';
import {
  countFiles,
  FILE_RESULTS,
  getImport,
  IMPORT_ERRORS,
  IMPORT_STATUSES,
  type ImportRow,
  importPrefix,
  insertImport,
  listFiles,
  listImports,
} from '../storage/imports.js';
import { type Api, answers, POST_PROBLEMS } from './api.js';
import { callerOf, requireStaying, seesCompany, visibleCompany } from './authorization.js';
import type { ApiDependencies } from './dependencies.js';
import { wrongMediaType } from './error-handler.js';
import { pageOf, pageQuery } from './paging.js';
import { notFound } from './problem.js';
import {
  answeredInstant,
  environment,
  flag,
  idParams,
  isoInstant,
  oneOf,
  openValue,
  text,
  uuid as uuidInput,
} from './schemas/common.js';
import { acceptUploads, UPLOAD_TYPES, Upload } from './upload.js';
import { tellWorkflow, warnings } from './workflow-notice.js';

const importSchema = z
  .object({
    id: uuidInput,
    companyId: uuidInput,
    environment: environment.describe('Of documents that do not say theirs'),
    notify: z.boolean(),
    fileName: z.string().nullable(),
    size: z.int().describe('Bytes of the upload'),
    sha256: z.string().describe('Of the upload'),
    status: openValue(IMPORT_STATUSES),
    error: openValue(IMPORT_ERRORS)
      .nullable()
      .describe('Why a failed one was not worked off to its end. What was imported until then stays'),
    progress: z.object({ files: z.int(), total: z.int().nullable().describe('Null: not counted yet') }),
    counts: z.object({
      imported: z.int(),
      alreadyThere: z.int(),
      notADocument: z.int(),
      notOfCompany: z.int(),
      unreadable: z.int(),
    }),
    createdAt: answeredInstant,
    finishedAt: answeredInstant.nullable(),
    workflowId: z.string(),
  })
  .meta({ id: 'Import' });

const fileSchema = z
  .object({
    name: z.string(),
    result: openValue(FILE_RESULTS),
    reason: z.string().nullable().describe('A code; docs/exports.md explains each'),
    documentId: uuidInput.nullable().describe('The document that was stored, or was there'),
  })
  .meta({ id: 'ImportedFile' });

const ROUTE = '/v1/imports';

/** Documents from elsewhere: `/v1/imports`. */
export function importRoutes(app: Api, deps: ApiDependencies): void {
  const { database, objectStore, temporal, clock } = deps;
  acceptUploads(app, ({ routeOptions }) => routeOptions.url === ROUTE);

  app.post(
    ROUTE,
    {
      config: { scope: 'manage' },
      schema: {
        operationId: 'startImport',
        tags: ['exports'],
        summary: 'Take in documents from elsewhere, or older than the government keeps them',
        description:
          'The body is a ZIP with any number of files, or one XML. Documents of every type that name the company, and events about documents that it has, are stored as they are; what is here already ' +
          'stays as it is. Each file has its result at `GET /v1/imports/{id}/files`.',
        querystring: z.strictObject({
          companyId: uuidInput,
          environment: environment
            .optional()
            .describe(
              'Of documents that do not say theirs. Default: that of the capture which runs, else of the last, else production',
            ),
          notify: flag.optional().describe('Send webhooks of what is imported. Default: none'),
          fileName: text(300).optional().describe('For the report'),
        }),
        consumes: [...UPLOAD_TYPES],
        body: z.unknown().describe('A ZIP or an XML file'),
        response: answers({ 202: importSchema.extend({ warnings }) }, 'company_being_deleted', ...POST_PROBLEMS),
      },
    },
    async (request, reply) => {
      const { companyId, notify = false, fileName = null } = request.query;
      const upload: unknown = request.body;
      if (!(upload instanceof Upload)) throw wrongMediaType(request);
      const company = await visibleCompany(deps, request, companyId);
      requireStaying(company);
      const where = request.query.environment ?? (await usualEnvironment(company.id));
      const id = uuid();
      const objectKey = `${importPrefix({ id, companyId })}upload`;
      const saved = await upload.save(objectStore, objectKey);
      const row = await database
        .transaction(async (tx) => {
          const createdAt = await clock.now();
          const made = { id, companyId, environment: where, notify, fileName, objectKey, createdAt, ...saved };
          const written = await insertImport(tx, made);
          await recordAudit(tx, {
            actor: callerOf(request).actor,
            action: 'import.start',
            target: id,
            detail: { notify },
          });
          return written;
        })
        .catch(async (error: unknown) => {
          await objectStore.delete(objectKey).catch(() => {});
          throw error;
        });
      const told = await tellWorkflow(() => temporal.startImport({ importId: id, companyId }), request.log);
      const [view] = await shown([row]);
      if (!view) throw new Error('one row has one view');
      return reply.code(202).send({ ...view, warnings: told });
    },
  );

  app.get(
    ROUTE,
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'listImports',
        tags: ['exports'],
        summary: 'List imports, newest first',
        querystring: z.strictObject({
          ...pageQuery,
          companyId: uuidInput.optional(),
          status: oneOf(IMPORT_STATUSES).optional(),
        }),
        response: answers({ 200: pageOf(importSchema) }),
      },
    },
    async (request) => {
      const { limit, cursor, ...filter } = request.query;
      const { visible } = callerOf(request);
      const page = await listImports(database, { ...filter, visible }, { limit, cursor: cursor ?? null });
      return { data: await shown(page.rows), nextCursor: page.nextCursor };
    },
  );

  app.get(
    `${ROUTE}/:id`,
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'getImport',
        tags: ['exports'],
        summary: 'How far an import is, and what became of its files',
        params: idParams,
        response: answers({ 200: importSchema }),
      },
    },
    async (request) => {
      const [one] = await shown([await visibleImport(request)]);
      if (!one) throw new Error('one row has one view');
      return one;
    },
  );

  app.get(
    `${ROUTE}/:id/files`,
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'listImportFiles',
        tags: ['exports'],
        summary: 'What became of each file, in the order of the ZIP',
        params: idParams,
        querystring: z.strictObject({
          ...pageQuery,
          result: oneOf(FILE_RESULTS).optional(),
          reason: text(40).optional(),
        }),
        response: answers({ 200: pageOf(fileSchema) }),
      },
    },
    async (request) => {
      const { limit, cursor, ...filter } = request.query;
      const { id } = await visibleImport(request);
      const page = await listFiles(database, id, filter, { limit, cursor: cursor ?? null });
      return {
        data: page.rows.map(({ name, result: of, reason, documentId }) => ({ name, result: of, reason, documentId })),
        nextCursor: page.nextCursor,
      };
    },
  );

  async function visibleImport(
    request: FastifyRequest & { readonly params: { readonly id: string } },
  ): Promise<ImportRow> {
    const row = await getImport(database, request.params.id);
    if (row === null || !seesCompany(callerOf(request), row.companyId)) throw notFound('import');
    return row;
  }

  async function usualEnvironment(companyId: string): Promise<Environment> {
    return (await listCompanyCaptures(database, companyId))[0]?.environment ?? 'production';
  }

  async function shown(rows: readonly ImportRow[]): Promise<z.output<typeof importSchema>[]> {
    const counts = await countFiles(
      database,
      rows.map(({ id }) => id),
    );
    return rows.map(
      ({ id, companyId, environment: where, notify, fileName, size, sha256, status, error, total, ...row }) => {
        const of = counts.get(id) ?? {};
        return {
          ...{ id, companyId, environment: where, notify, fileName, size: Number(size), sha256, status, error },
          progress: { files: Object.values(of).reduce((sum, count) => sum + count, 0), total },
          counts: {
            imported: of.imported ?? 0,
            alreadyThere: of.already_there ?? 0,
            notADocument: of.not_a_document ?? 0,
            notOfCompany: of.not_of_company ?? 0,
            unreadable: of.unreadable ?? 0,
          },
          createdAt: isoInstant(row.createdAt),
          finishedAt: isoInstant(row.finishedAt),
          workflowId: `import/${id}`,
        };
      },
    );
  }
}
