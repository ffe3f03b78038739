import { z } from 'zod';
import { isTaxId, normalizeTaxId } from '../documents/tax-id.js';
import { UFS } from '../documents/uf.js';
import { parseNsu } from '../model/nsu.js';
import { ENVIRONMENTS } from '../model/words.js';
import { STRING_TYPES } from './authority/alt-names.js';
import { PFX_FORMATS } from './authority/pfx.js';
import { SIMULATED_TYPES, type SimulatedType } from './distribution/dialect.js';
import { CTE_KINDS, type GeneratedKind, NFE_KINDS } from './documents/kinds.js';
import { answersType, scriptedAnswerSchema } from './scripts/scripted-answer.js';
import { CALL_KINDS } from './scripts/scripts.js';
import { OUTAGES } from './server/outage.js';

/** What the control API and its typed twin take. Every default stands here. */

export const taxId = z
  .string()
  .transform(normalizeTaxId)
  .refine(isTaxId, { error: 'is no CNPJ (14 characters) or CPF (11 digits) with right check digits' });

export const environment = z.enum(ENVIRONMENTS).default('homologation');
const documentType = z.enum(SIMULATED_TYPES).default('nfe');

const KINDS: Readonly<Record<SimulatedType, readonly GeneratedKind[]>> = { nfe: NFE_KINDS, cte: CTE_KINDS };

/** What comes when nobody says. NF-e: two fifths summaries, two fifths whole notes, the rest events. CT-e: of everything. */
export const USUAL_KINDS: Readonly<Record<SimulatedType, Partial<Record<GeneratedKind, number>>>> = {
  nfe: { resNFe: 40, procNFe: 40, procEventoNFe: 12, resEvento: 8 },
  cte: { procCTe: 60, procCTeOS: 6, procCTeSimp: 6, procGTVe: 4, procEventoCTe: 20, procCTe300: 4 },
};

function fitTheType({ documentType, kinds }: { documentType: SimulatedType; kinds?: object | undefined }): boolean {
  return Object.keys(kinds ?? {}).every((kind) => (KINDS[documentType] as readonly string[]).includes(kind));
}
const MISFIT = { error: 'has kinds of another document type', path: ['kinds'] };

export const nsu = z.union([z.string(), z.number()]).transform((value, context) => {
  try {
    return parseNsu(value);
  } catch (error) {
    context.addIssue(error instanceof Error ? error.message : String(error));
    return z.NEVER;
  }
});

/** An instant: RFC 3339, or milliseconds since 1970. */
export const instantSchema = z.union([
  z.number().int().nonnegative(),
  z.iso.datetime({ offset: true }).transform((text) => Date.parse(text)),
]);

const generated = {
  /** Weights, e.g. `{ "resNFe": 3, "procNFe": 1 }`. Default: {@link USUAL_KINDS}. */
  kinds: z
    .partialRecord(z.enum([...NFE_KINDS, ...CTE_KINDS]), z.number().nonnegative())
    .refine((kinds) => Object.values(kinds).some((weight) => weight > 0), { error: 'needs a weight above 0' })
    .optional(),
  /** Items per note: 2 give about 7 KB, 6 about 12 KB, 60 about 70 KB. Default: mostly few. */
  items: z.object({ min: z.number().int().min(1).max(990), max: z.number().int().min(1).max(990) }).optional(),
  /** tpEvento of all events, known or not. */
  eventType: z
    .string()
    .regex(/^[0-9]{6}$/)
    .optional(),
  /** Reception of the newest document. Default: now. */
  arrivedAt: instantSchema.optional(),
  /** Days before that over which the others are spread. */
  spreadDays: z.number().min(0).max(3650).optional(),
};

/** Numbers that pages leave out: named, or every n-th of those that exist when it is asked. */
const gaps = z.object({
  nsus: z.array(nsu).default([]),
  every: z.number().int().min(2).optional(),
  /** true: consNSU brings them (the page lost them). false: no document ever had them. */
  exist: z.boolean().default(true),
});

export const companySchema = z
  .object({
    documentType,
    taxId,
    environment,
    name: z.string().min(2).max(60).default('Comprador Fictício S.A.'),
    uf: z.enum(UFS).default('SP'),
    /** Documents that wait. */
    backlog: z.number().int().min(0).max(100_000_000).default(0),
    ...generated,
    gaps: gaps.optional(),
    /** Default: the simulator's seed. */
    seed: z.string().min(1).optional(),
    /** The NSU before the first one. */
    startNsu: nsu.default('000000000000000' as never),
  })
  .refine(fitTheType, MISFIT);

export const arrivalsSchema = z
  .object({
    documentType,
    taxId,
    environment,
    count: z.number().int().min(1).max(1_000_000).default(1),
    ...generated,
    gaps: gaps.optional(),
  })
  .refine(fitTheType, MISFIT);

/** Documents with exactly these bytes. */
export const givenSchema = z.object({
  documentType,
  taxId,
  environment,
  documents: z.array(z.object({ schema: z.string().min(1), xml: z.string() })).min(1),
});

/** The whole documents of notes of which only the summary came: what a manifestation brings. */
export const wholeSchema = z.object({ taxId, environment, keys: z.array(z.string().length(44)).min(1) });

export const noteSchema = z.object({ taxId, environment, key: z.string().length(44) });

export const stealSchema = z.object({ documentType, taxId, environment, count: z.number().int().min(1) });

export const scriptSchema = z
  .object({
    /** NFS-e only where it is said; absent: whatever else is asked. */
    documentType: z.enum([...SIMULATED_TYPES, 'nfse']).optional(),
    taxId: taxId.optional(),
    environment: z.enum(ENVIRONMENTS).optional(),
    kind: z.enum(CALL_KINDS).optional(),
    /** How many calls; null: all until it is taken away. */
    count: z.number().int().min(1).nullable().default(1),
    answer: scriptedAnswerSchema,
  })
  .refine(({ documentType, answer }) => answersType(answer.type, documentType === 'nfse'), {
    error: 'is no answer of this document type',
    path: ['answer', 'type'],
  });

export const outageSchema = z.object({ mode: z.enum(OUTAGES).nullable() });

export const clockSchema = z
  .object({
    now: instantSchema.optional(),
    advanceMs: z.number().int().nonnegative().optional(),
    /** Stands still until the next push. */
    stopped: z.boolean().optional(),
  })
  .refine(({ now, advanceMs }) => (now === undefined) !== (advanceMs === undefined), {
    error: 'needs either now or advanceMs',
  });

export const certificateSchema = z.object({
  taxId: z.string().regex(/^([0-9A-Z]{14}|[0-9]{11})$/, { error: 'needs 14 characters (CNPJ) or 11 digits (CPF)' }),
  name: z.string().min(1).default('Empresa Fictícia Ltda'),
  password: z.string().default('malote'),
  format: z.enum(PFX_FORMATS).default('modern'),
  stringType: z.enum(STRING_TYPES).default('octet'),
  validity: z.enum(['valid', 'expired', 'not_yet_valid']).default('valid'),
  order: z.enum(['leaf_first', 'root_first']).default('leaf_first'),
});

export const policySchema = z.object({
  pointQueriesCounted: z.enum(['returned', 'all']).optional(),
  tolerateRepeat: z.boolean().optional(),
  sixtyDays: z.boolean().optional(),
  releasesWhole: z.boolean().optional(),
  adnRepeatsStart: z.boolean().optional(),
});

export const whoSchema = z.object({ documentType, taxId, environment });

export const journalSchema = z.object({
  taxId: taxId.optional(),
  environment: z.enum(ENVIRONMENTS).optional(),
  after: z.coerce.number().int().min(0).optional(),
  limit: z.coerce.number().int().min(1).optional(),
});

export const truthSchema = whoSchema.extend({
  after: nsu.default('000000000000000' as never),
  limit: z.coerce.number().int().min(1).max(1_000_000).default(1_000_000),
});

export const documentSchema = whoSchema.extend({ nsu });
