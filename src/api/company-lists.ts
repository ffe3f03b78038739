import { z } from 'zod';
import { listCompanies } from '../storage/companies.js';
import { type Caller, seesCompany } from './authorization.js';
import type { ApiDependencies } from './dependencies.js';
import { invalidInput } from './problem.js';
import { uuid } from './schemas/common.js';

const MAX_COMPANIES = 1000;

/** A list of companies in a request, each once. */
export const companyIdsInput = z
  .array(uuid, { error: 'expected a list of company ids' })
  .min(1, 'expected at least one company; leave the field out to mean all')
  .max(MAX_COMPANIES, `expected at most ${MAX_COMPANIES} companies`)
  .transform((ids) => [...new Set(ids)]);

/** @throws {Problem} `invalid_input` that names the first company which is not there, or not theirs */
export async function requireCompanies(
  { database }: Pick<ApiDependencies, 'database'>,
  caller: Caller,
  ids: readonly string[],
): Promise<void> {
  const { rows } = await listCompanies(database, { visible: ids }, { limit: ids.length });
  const found = new Set(rows.map(({ id }) => id));
  const missing = ids.findIndex((id) => !found.has(id) || !seesCompany(caller, id));
  if (missing >= 0) {
    throw invalidInput({
      field: `companyIds.${missing}`,
      message: 'no company with this id is visible to this key',
    });
  }
}
