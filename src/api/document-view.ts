import { z } from 'zod';
import { DOCUMENT_KINDS, DOCUMENT_STATES, FULL_XML } from '../model/document.js';
import type { DocumentRow } from '../storage/documents.js';
import { documentView } from '../webhooks/document-view.js';
import { documentType, environment, nsu, openValue, uuid } from './schemas/common.js';

const party = z.looseObject({
  taxId: z.string().optional(),
  name: z.string().optional(),
  uf: z.string().optional(),
  stateRegistration: z.string().optional(),
  foreign: z.boolean().optional().describe('A party abroad: it has no CNPJ or CPF'),
});

const metadata = z
  .looseObject({
    uf: z.string().optional(),
    model: z.string().optional(),
    number: z.string().optional(),
    series: z.string().optional(),
    layout: z.string().optional(),
    issuedAt: z.string().optional().describe('As written; a calendar date where the layout had no time'),
    total: z.string().optional().describe('Decimal, as written'),
    operationType: z.string().optional(),
    environment: z.string().optional(),
    statusCode: z.string().optional(),
    protocol: z.string().optional(),
    authorizedAt: z.string().optional(),
    issuer: party.optional(),
    recipient: party.optional(),
    carrier: party.optional(),
    authorizedThirdParties: z.array(z.string()).readonly().optional(),
  })
  .describe('What the XML says; what it does not say is absent. Further fields depend on the kind');

const event = z.looseObject({
  type: z.string().describe('tpEvento, six digits'),
  description: z.string().optional(),
  sequence: z.int().optional(),
  occurredAt: z.string().optional(),
  registeredAt: z.string().optional(),
  author: z.string().optional(),
  protocol: z.string().optional(),
  statusCode: z.string().optional(),
});

/** A document in answers; the same as `data` of webhooks (src/webhooks/document-view.ts makes it). */
export const documentSchema = z
  .object({
    id: uuid,
    companyId: uuid,
    documentType,
    kind: openValue(DOCUMENT_KINDS),
    root: z.string().optional().describe('Root element; only where the kind is `unknown`'),
    schema: z.string().optional(),
    nsu: nsu.optional().describe('Absent when the document came without one'),
    environment,
    key: z.string().optional().describe('Access key; for an event, of the document that it speaks of'),
    direction: openValue(['received', 'issued']),
    state: openValue(DOCUMENT_STATES),
    fullXml: openValue(FULL_XML),
    capturedAt: z.iso.datetime({ offset: true }),
    origin: openValue(['distribution', 'recovery', 'reprocess', 'on_demand', 'manifestation', 'import']),
    metadata,
    event: event.nullable(),
    warnings: z.array(z.string()).readonly().optional().describe('Oddities found when decoding'),
    xmlSha256: z.string().describe('Hex, of the bytes that `links.xml` gives'),
    suppressed: z.string().nullable().describe('Why no webhook was sent'),
    awarenessSkipped: z
      .string()
      .optional()
      .describe('Of a summary: why no automatic Awareness is sent for it, as a code, a colon and a text'),
    manifestationDeadlines: z
      .object({ awareness: z.iso.datetime({ offset: true }), conclusive: z.iso.datetime({ offset: true }) })
      .optional()
      .describe(
        "Of a received NF-e: until when its recipient's statements count as made in time (Awareness 10 days, conclusive ones 90 days after the authorization)",
      ),
    links: z.object({
      self: z.string(),
      xml: z.string(),
      pdf: z.string().optional().describe('Only where there is a printed form'),
      events: z.string(),
    }),
  })
  .meta({ id: 'Document' });

/** A row as the API shows it. The cast says nothing new: interfaces lack the index signature that a loose schema has. */
export function shownDocument(row: DocumentRow): z.output<typeof documentSchema> {
  return documentView(row) as z.output<typeof documentSchema>;
}
