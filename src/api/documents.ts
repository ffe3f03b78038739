import { z } from 'zod';
import { DOCUMENT_KINDS, DOCUMENT_STATES, FULL_XML } from '../model/document.js';
import { listDocuments, listEventsOfKey } from '../storage/documents.js';
import { type Api, answers } from './api.js';
import { callerOf } from './authorization.js';
import type { ApiDependencies } from './dependencies.js';
import { visibleDocument } from './document-access.js';
import { documentSchema, shownDocument } from './document-view.js';
import { pageOf, pageQuery } from './paging.js';
import {
  documentType,
  environment,
  idParams,
  instantInput,
  keyInput,
  nsuInput,
  oneOf,
  taxId,
  text,
  uuid,
} from './schemas/common.js';

const listQuery = z.strictObject({
  ...pageQuery,
  companyId: uuid.optional(),
  documentType: documentType.optional(),
  environment: environment.optional(),
  kind: oneOf(DOCUMENT_KINDS).optional(),
  direction: oneOf(['received', 'issued']).optional(),
  key: keyInput.optional(),
  nsu: nsuInput.optional(),
  issuerTaxId: taxId.optional(),
  recipientTaxId: taxId.optional(),
  issuedFrom: instantInput.optional().describe('Inclusive'),
  issuedTo: instantInput.optional().describe('Exclusive'),
  capturedFrom: instantInput.optional().describe('Inclusive'),
  capturedTo: instantInput.optional().describe('Exclusive'),
  state: oneOf(DOCUMENT_STATES).optional(),
  fullXml: oneOf(FULL_XML).optional(),
  manifestation: z
    .string()
    .regex(/^(none|[0-9]{6})$/, 'expected none, or an event type of six digits')
    .optional()
    .describe('`none`: no manifestation of the recipient is known; an event type: that one is'),
  deadlineBefore: instantInput
    .optional()
    .describe(
      'The work list: NF-e of which the company is the recipient, without a conclusive manifestation of it, whose time for one ' +
        '(90 days after the authorization) ends before this instant. Neither cancelled ones, nor summaries whose whole note is here',
    ),
  q: text(200)
    .optional()
    .describe("Words of the parties' names, numbers and keys; each must begin one of the document's"),
});

/** Captured documents: `/v1/documents`. */
export function documentRoutes(app: Api, deps: ApiDependencies): void {
  app.get(
    '/v1/documents',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'listDocuments',
        tags: ['documents'],
        summary: 'Find documents, newest first',
        querystring: listQuery,
        response: answers({ 200: pageOf(documentSchema) }),
      },
    },
    async (request) => {
      const { limit, cursor, ...filter } = request.query;
      const { visible } = callerOf(request);
      const page = await listDocuments(deps.database, { ...filter, visible }, { limit, cursor: cursor ?? null });
      return { data: page.rows.map(shownDocument), nextCursor: page.nextCursor };
    },
  );

  app.get(
    '/v1/documents/:id',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'getDocument',
        tags: ['documents'],
        summary: 'Get one document',
        params: idParams,
        response: answers({ 200: documentSchema }),
      },
    },
    async (request) => shownDocument(await visibleDocument(deps.database, request, request.params.id)),
  );

  app.get(
    '/v1/documents/:id/events',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'listDocumentEvents',
        tags: ['documents'],
        summary: "The events of the document's key that this company holds, in the order in which they happened",
        params: idParams,
        response: answers({ 200: pageOf(documentSchema) }),
      },
    },
    async (request) => {
      const { key, companyId, environment } = await visibleDocument(deps.database, request, request.params.id);
      const rows = key === null ? [] : await listEventsOfKey(deps.database, { companyId, environment, key });
      return { data: rows.map(shownDocument), nextCursor: null };
    },
  );
}
