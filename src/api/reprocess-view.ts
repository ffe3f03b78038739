import { z } from 'zod';
import { explainAnswer } from '../model/point-answers.js';
import { documentsById } from '../storage/local-documents.js';
import { REPROCESS_STATUSES, type ReprocessRow } from '../storage/reprocess-requests.js';
import type { ApiDependencies } from './dependencies.js';
import { documentSchema, shownDocument } from './document-view.js';
import { answeredInstant, documentType, environment, isoInstant, nsu, openValue, uuid } from './schemas/common.js';

/** A request to have something again, in JSON. */
export const reprocessRequest = z
  .object({
    id: uuid.describe('Follow it at `/v1/reprocess-requests/{id}`'),
    companyId: uuid,
    documentType,
    environment,
    nsu: nsu.nullable(),
    key: z.string().nullable(),
    archiveId: uuid.nullable(),
    status: openValue(REPROCESS_STATUSES).describe(
      '`pending` · `done` · `not_available`: the government has no such document for this company, for good · `refused`: it was not asked, see ' +
        '`reason` and `retryAt` · `failed`: it was asked in vain, or the archive cannot be read. Further values may be added',
    ),
    reason: z.string().nullable().describe('Of `refused` and `failed`, in one word'),
    statusCode: z.string().nullable().describe("The government's answer (cStat)"),
    statusText: z.string().nullable().describe("The government's words"),
    message: z.string().nullable().describe('What that means, where no document came'),
    retryAt: answeredInstant.nullable().describe('From then on the same request can succeed'),
    document: documentSchema.nullable().describe('The first of `documents`'),
    documents: z
      .array(documentSchema)
      .describe('What the request brought, or found here; of an archive all that it holds'),
    createdAt: answeredInstant,
    settledAt: answeredInstant.nullable(),
  })
  .meta({ id: 'ReprocessRequest', description: 'A request to have one document, or one archive, again' });

/** A question is answered within an hour: ten wait at most, each for as long as a call may take. What is pending then was lost with its run. */
const LOST_AFTER = 3_600_000;

export async function reprocessView(
  { database, clock }: Pick<ApiDependencies, 'database' | 'clock'>,
  row: ReprocessRow,
): Promise<z.output<typeof reprocessRequest>> {
  const documents = (await documentsById(database, row.documentIds)).map(shownDocument);
  const lost = row.status === 'pending' && row.createdAt + LOST_AFTER < (await clock.now());
  const { statusCode } = row;
  return {
    id: row.id,
    companyId: row.companyId,
    documentType: row.documentType,
    environment: row.environment,
    nsu: row.nsu,
    key: row.key,
    archiveId: row.archiveId,
    status: lost ? 'failed' : row.status,
    reason: lost ? 'lost' : row.reason,
    statusCode,
    statusText: row.statusText,
    message: statusCode !== null && documents.length === 0 ? explainAnswer(statusCode) : null,
    retryAt: isoInstant(row.retryAt),
    document: documents[0] ?? null,
    documents,
    createdAt: isoInstant(row.createdAt),
    settledAt: isoInstant(row.settledAt),
  };
}
