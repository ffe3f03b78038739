import { z } from 'zod';
import { MANIFESTATION_RULES, MANIFESTATION_STATUSES, REASON_CODE } from '../model/manifestation.js';
import type { ManifestationRow } from '../storage/manifestations.js';
import { answeredInstant, documentType, environment, isoInstant, openValue, uuid } from './schemas/common.js';

/** A statement about a document, in JSON. */
export const manifestation = z
  .object({
    id: uuid,
    companyId: uuid,
    documentType,
    environment,
    key: z.string().describe('Access key of the document that it is about'),
    type: z.string().describe('tpEvento'),
    description: z.string().describe('descEvento, as the government names it'),
    sequence: z.int().describe('nSeqEvento'),
    origin: openValue(['request', 'awareness']).describe('awareness: scheduled by the capture option `autoAwareness`'),
    status: openValue(MANIFESTATION_STATUSES),
    justification: z.string().nullable(),
    reasonCode: z.string().nullable().describe('cMotivo of 203206'),
    fields: z.record(z.string(), z.unknown()).nullable(),
    requestedAt: answeredInstant,
    nextAttemptAt: answeredInstant.nullable().describe('When it is sent, or sent again; null once it is settled'),
    attempts: z.int().describe('Times sent. Every attempt sends the same signed event, so it is registered once'),
    deadline: answeredInstant
      .nullable()
      .describe(
        'Until when it counts as made in time; null: there is no such limit, or the authorization is not known',
      ),
    late: z.boolean().describe('Registered after its deadline (155)'),
    statusCode: z.string().nullable().describe('cStat of the last answer about it; 573: it was registered before'),
    statusText: z.string().nullable().describe('xMotivo, or in our words why there is no answer yet'),
    protocol: z
      .string()
      .nullable()
      .describe(
        'nProt; null also where no answer told it: its answer got lost, or another program registered it (573)',
      ),
    registeredAt: answeredInstant.nullable(),
    settledAt: answeredInstant.nullable(),
    documentId: uuid
      .nullable()
      .describe('The registered event as a document; null also where another program registered it (573)'),
  })
  .meta({ id: 'Manifestation' });

function reasonOf({ fields }: ManifestationRow): string | null {
  const code = fields?.[REASON_CODE];
  return typeof code === 'string' ? code : null;
}

export function manifestationView(row: ManifestationRow): z.output<typeof manifestation> {
  return {
    id: row.id,
    companyId: row.companyId,
    documentType: row.documentType,
    environment: row.environment,
    key: row.key,
    type: row.type,
    description: MANIFESTATION_RULES.get(row.type)?.description ?? '',
    sequence: row.sequence,
    origin: row.origin,
    status: row.status,
    justification: row.justification,
    reasonCode: reasonOf(row),
    fields: row.fields,
    requestedAt: isoInstant(row.requestedAt),
    nextAttemptAt: isoInstant(row.nextAttemptAt),
    attempts: row.attempts,
    deadline: isoInstant(row.deadline),
    late: row.late,
    statusCode: row.statusCode,
    statusText: row.statusText,
    protocol: row.protocol,
    registeredAt: isoInstant(row.registeredAt),
    settledAt: isoInstant(row.settledAt),
    documentId: row.documentId,
  };
}
