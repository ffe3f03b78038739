import { z } from 'zod';
import { accessKeyParts, cteEventFaults, InvalidAccessKey, parseAccessKey, parseNfseKey } from '../documents/index.js';
import { nfeEventFaults } from '../documents/nfe-event-fields.js';
import {
  DISAGREEMENT_CANCELLATION,
  justificationFault,
  MANIFESTATION_RULES,
  type ManifestationRule,
  REASON_CODE,
} from '../model/manifestation.js';
import type { DocumentType } from '../model/words.js';
import type { FieldFault } from './problem.js';
import { environment } from './schemas/common.js';

const TYPES = [...MANIFESTATION_RULES.keys()];

/** What is asked to be said. Which fields belong to which type is checked by {@link checkedOrder}, so that a batch can answer for each. */
export const manifestationOrder = z
  .strictObject({
    key: z
      .string({ error: 'expected an access key of 44 characters (NFS-e: 50) in a string' })
      .max(100)
      .describe('Access key of the document'),
    type: z
      .string({ error: 'expected an event type of six digits in a string' })
      .max(20)
      .describe(
        `tpEvento: ${[...MANIFESTATION_RULES.values()].map(({ type, description }) => `${type} ${description}`).join('; ')}`,
      ),
    justification: z
      .string({ error: 'expected text' })
      .max(2_000)
      .optional()
      .describe(
        'xJust of 210240 and xObs of 610110, 15 to 255 characters: required there, forbidden elsewhere. 610111 may have one for the ' +
          'record: its layout has no place for it, so it is not sent. xMotivo of 203206: required with reasonCode 9, allowed with the others',
      ),
    reasonCode: z
      .string({ error: 'expected a code in a string' })
      .max(10)
      .optional()
      .describe(
        'cMotivo of 203206: 1 issued twice, 2 issued by the taker, 3 no taxable event, 4 another is liable, 5 wrong amount, deduction, ' +
          'service or date, 9 other',
      ),
    confirm: z
      .boolean({ error: 'expected true or false' })
      .optional()
      .describe('true is required for NFS-e (203202, 203206): what is registered cannot be taken back'),
    fields: z
      .record(z.string(), z.unknown(), { error: 'expected an object' })
      .optional()
      .describe(
        'Elements of a Tax Reform event by their XSD names; lists of groups as arrays. 610111: `nProtEvPrestDes`, only where the 610110 was ' +
          'made by another program. See docs/manifestation.md',
      ),
    environment: environment.optional().describe('Default: that of the running capture'),
  })
  .meta({ id: 'ManifestationOrder' });
/** The body of a statement, of the right form. */
export type ManifestationOrder = z.output<typeof manifestationOrder>;

/** A statement that may be written, or its faults by field. */
export type CheckedOrder =
  | {
      readonly ok: true;
      readonly key: string;
      readonly rule: ManifestationRule;
      readonly justification: string | null;
      readonly fields: Readonly<Record<string, unknown>> | null;
    }
  | { readonly ok: false; readonly errors: readonly FieldFault[] };

/** Everything that can be said about an order without asking anybody. */
export function checkedOrder(order: ManifestationOrder): CheckedOrder {
  const rule = MANIFESTATION_RULES.get(order.type);
  const key = readKey(order.key, rule);
  const { reasonCode } = order;
  const justification = order.justification?.trim();
  const errors = [
    ...(typeof key === 'string' ? [] : [key]),
    ...(rule ? [] : [{ field: 'type', message: `expected one of ${TYPES.join(', ')}` }]),
    ...(rule ? faultsOfJustification(rule, justification) : []),
    ...(rule ? faultsOfReason(rule, reasonCode, justification) : []),
    ...(rule ? faultsOfFields(rule, order.fields) : []),
  ];
  if (!rule || typeof key !== 'string' || errors.length > 0) return { ok: false, errors };
  const fields = reasonCode === undefined ? (order.fields ?? null) : { [REASON_CODE]: reasonCode };
  return { ok: true, key, rule, justification: justification ?? null, fields };
}

/** Models that a document type's keys name (positions 21 and 22). */
const MODELS: { readonly [type in DocumentType]?: { readonly models: readonly string[]; readonly what: string } } = {
  nfe: { models: ['55'], what: 'NF-e, model 55' },
  cte: { models: ['57', '64', '67'], what: 'CT-e, models 57, 64 and 67' },
};

function readKey(given: string, rule: ManifestationRule | undefined): string | FieldFault {
  try {
    if (rule?.documentType === 'nfse') return parseNfseKey(given);
    const key = parseAccessKey(given);
    const { model } = accessKeyParts(key);
    const expected = rule && MODELS[rule.documentType];
    if (!expected || expected.models.includes(model)) return key;
    return {
      field: 'key',
      message: `names a document of model ${model}: ${rule.type} is about ${expected.what}`,
    };
  } catch (error) {
    if (error instanceof InvalidAccessKey) return { field: 'key', message: error.message };
    throw error;
  }
}

function faultsOfJustification(
  { justified, reasons, type }: ManifestationRule,
  text: string | undefined,
): FieldFault[] {
  if (text === undefined) {
    return justified ? [{ field: 'justification', message: 'is missing: 15 to 255 characters that say why' }] : [];
  }
  // Of a cancelled disagreement it is kept with the request.
  if (!justified && !reasons && type !== DISAGREEMENT_CANCELLATION) {
    return [{ field: 'justification', message: `is for 210240, 610110 and 203206 only: ${type} must have none` }];
  }
  const fault = justificationFault(text);
  return fault === null ? [] : [{ field: 'justification', message: fault }];
}

function faultsOfReason(
  { reasons, type }: ManifestationRule,
  code: string | undefined,
  text: string | undefined,
): FieldFault[] {
  if (!reasons) {
    return code === undefined ? [] : [{ field: 'reasonCode', message: `is for 203206 only: ${type} must have none` }];
  }
  if (code === undefined || !reasons.codes.includes(code)) {
    const said = code === undefined ? 'is missing' : 'is no reason';
    return [{ field: 'reasonCode', message: `${said}: expected one of ${reasons.codes.join(', ')}` }];
  }
  if (code !== reasons.explained || text !== undefined) return [];
  return [
    { field: 'justification', message: `is missing: reason ${code} needs 15 to 255 characters that say why (E1949)` },
  ];
}

function faultsOfFields(rule: ManifestationRule, fields: ManifestationOrder['fields']): FieldFault[] {
  return faultsByLayout(rule, fields).map(({ field, message }) => ({
    field: field === '' ? 'fields' : `fields.${field}`,
    message,
  }));
}

function faultsByLayout(rule: ManifestationRule, fields: ManifestationOrder['fields']): FieldFault[] {
  if (rule.class === 'tax_reform') return nfeEventFaults(rule.type, fields ?? {});
  if (fields === undefined) return [];
  if (rule.class === 'disagreement') return cteEventFaults(rule.type, fields);
  return [{ field: '', message: `belong to Tax Reform events: ${rule.type} has none` }];
}
