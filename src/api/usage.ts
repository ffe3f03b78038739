import { z } from 'zod';
import { monthlyUsage } from '../storage/usage.js';
import { type Api, answers } from './api.js';
import { callerOf } from './authorization.js';
import type { ApiDependencies } from './dependencies.js';
import { documentType, uuid } from './schemas/common.js';

const month = z.string().regex(/^[0-9]{4}-(0[1-9]|1[0-2])$/, 'expected a month such as 2026-11');

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
        querystring: z.strictObject({
          month: month.optional().describe('Calendar month in UTC; default: the current one'),
        }),
        response: answers({
          200: z.object({
            month,
            data: z.array(z.object({ companyId: uuid, documentType, documents: z.int() })),
          }),
        }),
      },
    },
    async (request) => {
      const wanted = request.query.month ?? new Date(await clock.now()).toISOString().slice(0, 7);
      return { month: wanted, data: await monthlyUsage(database, wanted, callerOf(request).visible) };
    },
  );
}
