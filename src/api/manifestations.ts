import { z } from 'zod';
import { MANIFESTATION_STATUSES } from '../model/manifestation.js';
import { getManifestation, listManifestations } from '../storage/manifestations.js';
import { type Api, answers, POST_PROBLEMS } from './api.js';
import { callerOf, seesCompany, visibleCompany } from './authorization.js';
import type { ApiDependencies } from './dependencies.js';
import type { ProblemCode } from './error-catalogue.js';
import { manifestationOrder } from './manifestation-order.js';
import { type TakenRequest, takeRequest, wakeFor } from './manifestation-requests.js';
import { manifestation, manifestationView } from './manifestation-view.js';
import { pageOf, pageQuery } from './paging.js';
import { notFound, Problem } from './problem.js';
import { companyParams, environment, idParams, keyInput, oneOf, uuid } from './schemas/common.js';
import { warnings } from './workflow-notice.js';

const MOST_IN_BATCH = 200;
/** Bytes of a request: a Tax Reform event may name 990 items. */
const BODY_LIMIT = 1024 * 1024;

const requested = manifestation.extend({ warnings }).meta({
  id: 'RequestedManifestation',
  description: 'As it stands right after the request. `deadline_over` among the warnings: it may come too late',
});

const batchAnswer = z
  .object({
    data: z.array(
      z.object({
        key: z.string(),
        type: z.string(),
        manifestation: manifestation.nullable().describe('Null: this one was not taken'),
        error: z
          .object({
            code: z.string(),
            detail: z.string(),
            errors: z.array(z.object({ field: z.string(), message: z.string() })).readonly(),
          })
          .nullable(),
      }),
    ),
    warnings,
  })
  .meta({ id: 'ManifestationBatch', description: 'One answer per item, in their order' });

const PROBLEMS: readonly ProblemCode[] = [
  'confirmation_required',
  'capture_missing',
  'manifestation_not_possible',
  'manifestation_pending',
  'company_being_deleted',
  'certificate_missing',
  'certificate_expired',
  'certificate_not_yet_valid',
];

/** What companies say about documents that they received. */
export function manifestationRoutes(app: Api, deps: ApiDependencies): void {
  app.post(
    '/v1/companies/:companyId/manifestations',
    {
      config: { scope: 'manage' },
      bodyLimit: BODY_LIMIT,
      schema: {
        operationId: 'requestManifestation',
        tags: ['manifestations'],
        summary: 'Say something about a received document',
        description:
          'Signed, sent and followed until the government has answered; see its `status`. While a statement of the same type about ' +
          'the same key is pending or registered, its id is answered with 200; only a conclusive one that another has replaced may be made again, once.',
        params: companyParams,
        body: manifestationOrder,
        response: answers({ 200: requested, 202: requested }, ...PROBLEMS, ...POST_PROBLEMS),
      },
    },
    async (request, reply) => {
      const company = await visibleCompany(deps, request, request.params.companyId);
      const taken = await takeRequest(deps, company, request.body, callerOf(request));
      const told = await wakeFor(deps, [taken], request.log);
      const body = { ...manifestationView(taken.row), warnings: [...taken.warnings, ...told] };
      return taken.made
        ? reply.code(202).header('location', `/v1/manifestations/${taken.row.id}`).send(body)
        : reply.code(200).send(body);
    },
  );

  app.post(
    '/v1/companies/:companyId/manifestations/batch',
    {
      config: { scope: 'manage' },
      bodyLimit: BODY_LIMIT,
      schema: {
        operationId: 'requestManifestations',
        tags: ['manifestations'],
        summary: 'Say something about many received documents',
        description: 'Each item is taken or refused by itself.',
        params: companyParams,
        body: z.strictObject({ items: z.array(manifestationOrder).min(1).max(MOST_IN_BATCH) }),
        response: answers({ 202: batchAnswer }, ...POST_PROBLEMS),
      },
    },
    async (request, reply) => {
      const company = await visibleCompany(deps, request, request.params.companyId);
      const caller = callerOf(request);
      const taken: TakenRequest[] = [];
      const data: z.output<typeof batchAnswer>['data'] = [];
      for (const order of request.body.items) {
        const { key, type } = order;
        try {
          const one = await takeRequest(deps, company, order, caller);
          taken.push(one);
          data.push({ key, type, manifestation: manifestationView(one.row), error: null });
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
          const { code, detail, extras } = error;
          data.push({ key, type, manifestation: null, error: { code, detail, errors: extras.errors ?? [] } });
        }
      }
      return reply.code(202).send({ data, warnings: await wakeFor(deps, taken, request.log) });
    },
  );

  app.get(
    '/v1/manifestations',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'listManifestations',
        tags: ['manifestations'],
        summary: 'List manifestations, newest first',
        querystring: z.strictObject({
          ...pageQuery,
          companyId: uuid.optional(),
          environment: environment.optional(),
          key: keyInput.optional(),
          type: z
            .string()
            .regex(/^[0-9]{6}$/, 'expected an event type of six digits')
            .optional(),
          status: oneOf(MANIFESTATION_STATUSES).optional(),
        }),
        response: answers({ 200: pageOf(manifestation) }),
      },
    },
    async (request) => {
      const { limit, cursor, ...filter } = request.query;
      const { visible } = callerOf(request);
      const page = await listManifestations(deps.database, { ...filter, visible }, { limit, cursor: cursor ?? null });
      return { data: page.rows.map(manifestationView), nextCursor: page.nextCursor };
    },
  );

  app.get(
    '/v1/manifestations/:id',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'getManifestation',
        tags: ['manifestations'],
        summary: 'What became of a manifestation',
        params: idParams,
        response: answers({ 200: manifestation }),
      },
    },
    async (request) => {
      const row = await getManifestation(deps.database, request.params.id);
      if (row === null || !seesCompany(callerOf(request), row.companyId)) throw notFound('manifestation');
      return manifestationView(row);
    },
  );
}
