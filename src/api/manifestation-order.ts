import { z } from 'zod';
import { accessKeyParts, InvalidAccessKey, parseAccessKey } from '../documents/index.js';
import { nfeEventFaults } from '../documents/nfe-event-fields.js';
import { justificationFault, MANIFESTATION_RULES, type ManifestationRule } from '../model/manifestation.js';
import type { FieldFault } from './problem.js';
import { environment } from './schemas/common.js';

const TYPES = [...MANIFESTATION_RULES.keys()];

/** What is asked to be said. Which fields belong to which type is checked by {@link checkedOrder}, so that a batch can answer for each. */
export const manifestationOrder = z
  .strictObject({
    key: z
      .string({ error: 'expected an access key of 44 characters in a string' })
      .max(100)
      .describe('Access key of the note'),
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
      .describe('xJust, 15 to 255 characters: required for 210240, forbidden for every other type'),
    fields: z
      .record(z.string(), z.unknown(), { error: 'expected an object' })
      .optional()
      .describe(
        'Elements of a Tax Reform event by their XSD names; lists of groups as arrays. See docs/manifestation.md',
      ),
    environment: environment.optional().describe('Default: that of the running capture'),
  })
  .meta({ id: 'ManifestationOrder' });
export type ManifestationOrder = z.output<typeof manifestationOrder>;

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
  const key = readKey(order.key);
  const justification = order.justification?.trim();
  const errors = [
    ...(typeof key === 'string' ? [] : [key]),
    ...(rule ? [] : [{ field: 'type', message: `expected one of ${TYPES.join(', ')}` }]),
    ...(rule ? faultsOfJustification(rule, justification) : []),
    ...(rule ? faultsOfFields(rule, order.fields) : []),
  ];
  if (!rule || typeof key !== 'string' || errors.length > 0) return { ok: false, errors };
  return { ok: true, key, rule, justification: justification ?? null, fields: order.fields ?? null };
}

function readKey(given: string): string | FieldFault {
  try {
    const key = parseAccessKey(given);
    const { model } = accessKeyParts(key);
    if (model === '55') return key;
    return { field: 'key', message: `names a document of model ${model}: these events are about NF-e, model 55` };
  } catch (error) {
    if (error instanceof InvalidAccessKey) return { field: 'key', message: error.message };
    throw error;
  }
}

function faultsOfJustification({ justified, type }: ManifestationRule, text: string | undefined): FieldFault[] {
  if (!justified) {
    return text === undefined
      ? []
      : [{ field: 'justification', message: `is for 210240 only: ${type} must have none` }];
  }
  const fault = text === undefined ? 'is missing: 15 to 255 characters that say why' : justificationFault(text);
  return fault === null ? [] : [{ field: 'justification', message: fault }];
}

function faultsOfFields(rule: ManifestationRule, fields: ManifestationOrder['fields']): FieldFault[] {
  if (rule.class !== 'tax_reform') {
    return fields === undefined
      ? []
      : [{ field: 'fields', message: `belong to Tax Reform events: ${rule.type} has none` }];
  }
  return nfeEventFaults(rule.type, fields ?? {}).map(({ field, message }) => ({
    field: field === '' ? 'fields' : `fields.${field}`,
    message,
  }));
}
