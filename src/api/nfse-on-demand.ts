import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { InvalidAccessKey } from '../documents/access-key.js';
import { parseNfseKey } from '../documents/nfse-key.js';
import type { OnDemandResult } from '../model/on-demand.js';
import type { PointRefusal } from '../model/point-query.js';
import { getDocument } from '../storage/documents.js';
import { type Api, answers, POST_PROBLEMS } from './api.js';
import { captureOf } from './captures.js';
import type { ApiDependencies } from './dependencies.js';
import { documentSchema, shownDocument } from './document-view.js';
import { invalidInput, Problem } from './problem.js';
import { companyParams, environment, isoInstant, noBody } from './schemas/common.js';

/** Seconds until a caller whose question was not answered in time asks again. */
const AGAIN_S = 10;

/** `POST …/nfse/{key}/capture`: one note, now. */
export function nfseOnDemandRoutes(app: Api, deps: ApiDependencies): void {
  app.post(
    '/v1/companies/:companyId/nfse/:key/capture',
    {
      config: { scope: 'manage' },
      schema: {
        operationId: 'captureNfse',
        tags: ['documents'],
        summary: 'Get one NFS-e by its key',
        description:
          'From here if the company has it, else from the government, with its events. No webhook is sent; when it comes by distribution later it is recognized, ' +
          'and told of then. Needs a started NFS-e capture. Takes some seconds; what is not answered within 25 is answered by the same request later.',
        params: companyParams.extend({ key: z.string().describe('50 characters') }),
        querystring: z.strictObject({
          environment: environment.optional().describe('Default: the running one, else the last'),
        }),
        body: noBody,
        response: answers(
          { 200: documentSchema },
          'capture_stopped',
          'certificate_missing',
          'certificate_expired',
          'certificate_not_yet_valid',
          'temporarily_unavailable',
          ...POST_PROBLEMS,
        ),
      },
    },
    async (request) => {
      const { params, query } = request;
      const capture = await captureOf(deps, request, { companyId: params.companyId, documentType: 'nfse', ...query });
      const key = readKey(params.key);
      if (!capture.enabled) throw new Problem('capture_stopped', 'The NFS-e capture is stopped');
      const { companyId, documentType, environment: where } = capture;
      const row = await getDocument(
        deps.database,
        documentOf(await asked(deps, request, { companyId, documentType, environment: where }, key)),
      );
      if (row === null) throw new Problem('not_found', 'The document was deleted meanwhile');
      return shownDocument(row);
    },
  );
}

/** Not part of the route's schema: a key that is mistyped deserves more than "no such resource". */
function readKey(written: string): string {
  try {
    return parseNfseKey(written);
  } catch (error) {
    if (!(error instanceof InvalidAccessKey)) throw error;
    throw invalidInput({ field: 'key', message: error.message });
  }
}

async function asked(
  deps: ApiDependencies,
  request: FastifyRequest,
  capture: Parameters<ApiDependencies['temporal']['captureOnDemand']>[0],
  key: string,
): Promise<OnDemandResult> {
  try {
    return await deps.temporal.captureOnDemand(capture, key);
  } catch (error) {
    request.log.warn({ err: error }, 'capture on demand was not answered in time');
    throw new Problem('temporarily_unavailable', 'There is no answer yet: ask again', { retryAfter: AGAIN_S });
  }
}

/** @throws {Problem} for everything but a document */
function documentOf(result: OnDemandResult): string {
  switch (result.kind) {
    case 'document':
      return result.documentId;
    case 'none':
      throw new Problem('not_found', 'The government has no NFS-e with this key for this company');
    case 'refused':
      throw refusedAs(result.refusal);
    case 'failed':
      throw new Problem(
        'temporarily_unavailable',
        `The government was asked in vain (${result.statusCode ?? result.outcome})`,
        {
          retryAfter: 60,
        },
      );
  }
}

function refusedAs(refusal: PointRefusal): Problem {
  switch (refusal.reason) {
    case 'disabled':
      return new Problem('capture_stopped', 'The capture is stopped, or disabled until it is resumed');
    case 'certificate': {
      const { problem, until } = refusal;
      const detail = `The certificate is ${problem.replaceAll('_', ' ')}`;
      return new Problem(
        `certificate_${problem}`,
        until === null ? detail : `${detail}; valid from ${isoInstant(until)}`,
      );
    }
    default: {
      const until = 'until' in refusal ? refusal.until : null;
      const retryAfter = until === null ? 60 : Math.max(Math.ceil((until - Date.now()) / 1_000), 1);
      const detail = `Nothing is asked now (${refusal.reason.replaceAll('_', ' ')})`;
      return new Problem('temporarily_unavailable', detail, { retryAfter });
    }
  }
}
