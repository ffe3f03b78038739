import { z } from 'zod';
import { InvalidTaxId, parseTaxId } from '../../documents/tax-id.js';
import { UFS } from '../../documents/uf.js';
import { parseNsu } from '../../model/nsu.js';
import { DOCUMENT_TYPES, ENVIRONMENTS } from '../../model/words.js';

/** Free text of the caller: no control characters (PostgreSQL refuses NUL, and the rest only does harm in lists and logs). */
export const text = (max: number, min = 1) =>
  z
    .string({ error: `expected text of ${min} to ${max} characters` })
    .trim()
    .min(min, `expected text of ${min} to ${max} characters`)
    .max(max, `expected text of ${min} to ${max} characters`)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it keeps out; \p{Cc} is not understood by every reader of OpenAPI
    .regex(/^[^\u0000-\u001f\u007f-\u009f]*$/, 'control characters are not allowed');

/** In lower case, as all of ours are compared. */
export const uuid = z.uuid({ error: 'expected an id (UUID)' }).toLowerCase();

/** An instant in a request. */
export const instant = z.iso.datetime({
  offset: true,
  error: 'expected an RFC 3339 instant with offset, such as 2026-11-02T10:15:00-03:00',
});

/** As {@link instant}, in milliseconds. */
export const instantInput = instant.transform((value) => Date.parse(value));

/** An instant in an answer. */
export const answeredInstant = z.iso.datetime({ offset: true });

/** A value in an answer that is one of these today: later versions may know more, so clients must accept others. */
export function openValue(known: readonly string[]) {
  return z.string().describe(`One of ${known.join(', ')}; further values may be added`);
}

/** Milliseconds as they stand in an answer. */
export function isoInstant(ms: number): string;
export function isoInstant(ms: number | null): string | null;
export function isoInstant(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** A CNPJ or CPF in a request; punctuation is removed, check digits are verified. */
export const taxId = z.string({ error: 'expected a CNPJ or CPF in a string' }).transform((value, context) => {
  try {
    return parseTaxId(value) as string;
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof InvalidTaxId ? error.message : 'not a tax ID' });
    return z.NEVER;
  }
});

/** One of a closed set, in a request. */
export const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, { error: `expected one of ${values.join(', ')}` });

export const documentType = oneOf(DOCUMENT_TYPES);
export const environment = oneOf(ENVIRONMENTS);

/** An access key in a request: 44 characters for NF-e and CT-e, 50 for NFS-e. Whether its check digit is right says nothing of what is stored. */
export const keyInput = z
  .string()
  .regex(/^([0-9A-Z]{44}|[0-9A-Z]{50})$/, 'expected an access key: 44 characters (NF-e, CT-e) or 50 (NFS-e)');

/** An NSU in a request: 1 to 15 digits in a string, kept as 15. */
export const nsuInput = z
  .string({ error: 'expected 1 to 15 digits in a string' })
  .regex(/^[0-9]{1,15}$/, 'expected 1 to 15 digits in a string')
  .transform((value) => parseNsu(value));

/** An NSU in an answer. */
export const nsu = z
  .string()
  .regex(/^[0-9]{15}$/)
  .describe('15 digits');

/** `true` or `false` in a query string. */
export const flag = z
  .enum(['true', 'false'], { error: 'expected true or false' })
  .transform((value) => value === 'true');

export const uf = z.enum(UFS, { error: 'expected the two letters of a Brazilian state, such as SP' });

/** Path parameters of a resource under a company. */
export const companyParams = z.object({ companyId: uuid });
export const idParams = z.object({ id: uuid });

/** Body of a POST that needs none: nothing, or an empty object. */
export const noBody = z.strictObject({}).nullish();

/** Body of a PATCH: any of these fields, but at least one. */
export function patchOf<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z
    .strictObject(shape)
    .partial()
    .refine((patch) => Object.keys(patch).length > 0, {
      error: `expected at least one of ${Object.keys(shape).join(', ')}`,
      // A misspelt field is one fault, not two.
      when: ({ issues }) => issues.length === 0,
    });
}
