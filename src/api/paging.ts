import { z } from 'zod';

const DEFAULT_LIMIT = 50;
/** Most rows of one page of a list. */
export const MAX_LIMIT = 200;

/** Query parameters of every list. */
export const pageQuery = {
  limit: z.coerce
    .number({ error: `expected a whole number from 1 to ${MAX_LIMIT}` })
    .int(`expected a whole number from 1 to ${MAX_LIMIT}`)
    .min(1, `expected a whole number from 1 to ${MAX_LIMIT}`)
    .max(MAX_LIMIT, `expected a whole number from 1 to ${MAX_LIMIT}`)
    .default(DEFAULT_LIMIT)
    .describe(`Most entries of one answer, 1 to ${MAX_LIMIT}`),
  cursor: z.string().max(500).optional().describe('`nextCursor` of the answer before; absent: from the beginning'),
};

/** The shape of every list. */
export function pageOf<T extends z.ZodType>(item: T) {
  return z.object({
    data: z.array(item),
    nextCursor: z.string().nullable().describe('Pass as `cursor` for the next entries; null: these were the last'),
  });
}
