import { z } from 'zod';
import { feedEvents } from '../storage/events.js';
import { type Api, answers } from './api.js';
import { visibleCompany } from './authorization.js';
import type { ApiDependencies } from './dependencies.js';
import { pageOf, pageQuery } from './paging.js';
import { companyParams } from './schemas/common.js';

const sequence = z
  .string()
  .regex(/^[0-9]{1,15}$/, 'expected a sequence number: digits only')
  .transform(Number);

const feedEntry = z
  .looseObject({
    id: z.string().describe('The `webhook-id`'),
    type: z.string(),
    action: z.string(),
    sequence: z.int().describe('Grows by one with every event of the company'),
  })
  .meta({ id: 'FeedEvent', description: 'The body of a webhook, as every delivery of the event carries it' });

/** The pull feed: `/v1/companies/{companyId}/events`. */
export function eventFeedRoutes(app: Api, deps: ApiDependencies): void {
  app.get(
    '/v1/companies/:companyId/events',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'listEvents',
        tags: ['webhooks'],
        summary: 'What webhooks would tell, in order, for customers without a public endpoint',
        description:
          'Keep the `sequence` of the last event that you worked off and pass it as `after`. Whoever has seen a sequence was shown everything before it. ' +
          'Events are kept for 90 days: a reader who was away for longer sees the sequence jump, and finds the documents in `/v1/documents`.',
        params: companyParams,
        querystring: z.strictObject({
          limit: pageQuery.limit,
          after: sequence.optional().describe('Only events after this sequence; absent: from the beginning'),
          cursor: sequence.optional().describe('The same, as in other lists'),
        }),
        response: answers({ 200: pageOf(feedEntry) }),
      },
    },
    async (request) => {
      const { limit, after, cursor } = request.query;
      const company = await visibleCompany(deps, request, request.params.companyId);
      const events = await feedEvents(deps.database, company.id, cursor ?? after ?? 0, limit);
      const last = events.at(-1);
      return {
        data: events.map(({ body }) => JSON.parse(body) as z.output<typeof feedEntry>),
        nextCursor: last !== undefined && events.length === limit ? String(last.sequence) : null,
      };
    },
  );
}
