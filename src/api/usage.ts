import { z } from 'zod';
import { monthlyUsage, monthOfUse } from '../storage/usage.js';
import { type Api, answers } from './api.js';
import { callerOf } from './authorization.js';
import type { ApiDependencies } from './dependencies.js';
import { pageOf, pageQuery } from './paging.js';
import { documentType, uuid } from './schemas/common.js';

// No calendar here has a year 0, and the database refuses it.
const month = z.string().regex(/^(?!0000)[0-9]{4}-(0[1-9]|1[0-2])$/, 'expected a month such as 2026-11');

const usage = z
  .object({
    companyId: uuid,
    documentType,
    documents: z.int(),
    kinds: z.record(z.string(), z.int()).describe('The same by kind of document'),
  })
  .meta({ id: 'Usage' });

/** Documents per company and type: `/v1/usage`. */
export function usageRoutes(app: Api, { database, clock }: ApiDependencies): void {
  app.get(
    '/v1/usage',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'getUsage',
        tags: ['operations'],
        summary: 'Documents whose webhook became due, per company and type',
        description:
          'A document counts once, in the month in which its webhook became due, whether or not anybody receives webhooks. One that is ' +
          'stored without a word (`suppressed`) counts when it is released, if ever; sending again counts nothing.',
        querystring: z.strictObject({
          ...pageQuery,
          companyId: uuid.optional(),
          month: month
            .optional()
            .describe('Calendar month by the clock of Brasília (America/Sao_Paulo); default: the current one'),
        }),
        response: answers({ 200: pageOf(usage).extend({ month }) }),
      },
    },
    async (request) => {
      const { month = monthOfUse(await clock.now()), companyId, limit, cursor } = request.query;
      const { visible } = callerOf(request);
      const page = await monthlyUsage(database, { month, companyId, visible }, { limit, cursor: cursor ?? null });
      return { month, data: page.rows, nextCursor: page.nextCursor };
    },
  );
}
