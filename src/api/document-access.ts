import type { FastifyRequest } from 'fastify';
import type { Queryable } from '../storage/database.js';
import { type DocumentRow, getDocument } from '../storage/documents.js';
import { callerOf, seesCompany } from './authorization.js';
import { notFound } from './problem.js';

/**
 * A document that the caller may see.
 *
 * @throws {Problem} `not_found`, the same for one that is not there and one that is not theirs
 */
export async function visibleDocument(db: Queryable, request: FastifyRequest, id: string): Promise<DocumentRow> {
  const row = await getDocument(db, id);
  if (row === null || !seesCompany(callerOf(request), row.companyId)) throw notFound('document');
  return row;
}
