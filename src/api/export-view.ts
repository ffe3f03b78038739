import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { EXPORT_STATUSES } from '../model/words.js';
import type { ExportRow } from '../storage/exports.js';
import type { ApiDependencies } from './dependencies.js';
import { answeredInstant, documentType, environment, isoInstant, openValue, uuid } from './schemas/common.js';
import { linkEnd, signedUrl } from './signed-url.js';

/** An export in JSON. */
export const exportSchema = z
  .object({
    id: uuid,
    companyId: uuid,
    documentType,
    environment,
    from: answeredInstant.describe('Inclusive'),
    to: answeredInstant.describe('Exclusive'),
    pdf: z.boolean(),
    status: openValue(EXPORT_STATUSES),
    error: z.string().nullable().describe('Of a failed one: `internal`, a fault of ours; the log says more'),
    progress: z.object({
      documents: z.int().describe('Written so far'),
      total: z.int().nullable().describe('Null: not counted yet'),
    }),
    counts: z
      .object({
        xmlFiles: z.int(),
        pdfFiles: z.int(),
        problems: z
          .int()
          .describe('Documents that could not be read or not be printed; `problemas.csv` in the ZIP names each'),
      })
      .describe('Of what is written so far'),
    file: z
      .object({
        url: z.url().describe('Needs no key'),
        urlExpiresAt: answeredInstant.describe('A new one is in each answer'),
        size: z.int().describe('Bytes'),
        sha256: z.string(),
        expiresAt: answeredInstant.describe('When it is deleted'),
      })
      .nullable()
      .describe('Of one that is done'),
    createdAt: answeredInstant,
    finishedAt: answeredInstant.nullable(),
    workflowId: z.string(),
  })
  .meta({ id: 'Export' });

/** What the signature of a link to an export's file is about. */
export const exportContent = (id: string): string => `export ${id}`;

/** An export as the API shows it, with the progress of one that is made and a link to one that is done. */
export async function shownExport(
  deps: ApiDependencies,
  request: FastifyRequest,
  row: ExportRow,
): Promise<z.output<typeof exportSchema>> {
  const { id, companyId, documentType: type, environment: where, pdf, status, error, documents, total } = row;
  const { xmlFiles, pdfFiles, problems } = row;
  return {
    ...{ id, companyId, documentType: type, environment: where, pdf, status, error },
    from: isoInstant(row.fromAt),
    to: isoInstant(row.toAt),
    progress: { documents, total },
    counts: { xmlFiles, pdfFiles, problems },
    file: await fileOf(deps, request, row),
    createdAt: isoInstant(row.createdAt),
    finishedAt: isoInstant(row.finishedAt),
    workflowId: `export/${id}`,
  };
}

async function fileOf(
  deps: ApiDependencies,
  request: FastifyRequest,
  { id, objectKey, size, sha256, expiresAt }: ExportRow,
): Promise<z.output<typeof exportSchema>['file']> {
  if (objectKey === null || sha256 === null || expiresAt === null) return null;
  const expires = await linkEnd(deps);
  return {
    url: signedUrl(deps, request, { path: `/links/exports/${id}`, content: exportContent(id), expires }),
    urlExpiresAt: isoInstant(expires * 1000),
    size: Number(size),
    sha256,
    expiresAt: isoInstant(expiresAt),
  };
}
