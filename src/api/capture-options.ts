import { z } from 'zod';
import type { CaptureOptions, DocumentType } from '../model/words.js';
import type { FieldFault } from './problem.js';
import { environment, instant, nsuInput, oneOf, text } from './schemas/common.js';

/** The longest extra wait: far below the 60 days after which the government stops numbering. */
const MAX_INTERVAL_MINUTES = 30 * 24 * 60;

/** Awareness is registered within 10 days of the authorization. */
const MAX_AWARENESS_MINUTES = 9 * 24 * 60;

const handler = z
  .strictObject({
    taskQueue: text(200).describe('Task queue of your own worker'),
    activity: text(200).describe('Name of the activity that takes a page'),
  })
  .describe('Your own Temporal activity: every page is handed to it, in order, before any further query. null: none');

const eventType = z.string().regex(/^[0-9]{6}$/, 'expected six digits, such as 110111');
/** Roles in a CT-e that a company can be told of. */
const PARTIES = ['taker', 'sender', 'dispatcher', 'receiver', 'recipient'] as const;

/** Body of `PUT …/captures/{documentType}`; what is for one type only: {@link foreignOptions}. */
export const captureOrder = z.strictObject({
  environment: environment
    .default('homologation')
    .describe("The government's production or test environment; one at a time"),
  handler: handler.nullable().optional(),
  startNsu: nsuInput
    .optional()
    .describe('NSU to start after, when moving from other software. Without effect once the government was asked'),
  notBefore: instant
    .nullable()
    .optional()
    .describe('Nothing is asked before this instant (when moving from other software: one hour after its last query)'),
  minIntervalMinutes: z
    .int('expected a whole number of minutes')
    .min(1, 'expected at least 1 minute')
    .max(MAX_INTERVAL_MINUTES, `expected at most ${MAX_INTERVAL_MINUTES} minutes`)
    .nullable()
    .optional()
    .describe('Least wait after an empty queue. It can only lengthen the wait that the rules ask for'),
  autoAwareness: z
    .strictObject({
      enabled: z.boolean({ error: 'expected true or false' }),
      minutesToWait: z
        .int('expected a whole number of minutes')
        .min(5, 'expected at least 5 minutes')
        .max(MAX_AWARENESS_MINUTES, `expected at most ${MAX_AWARENESS_MINUTES} minutes: Awareness has its deadline`)
        .default(30)
        .describe('How long the full document may come by itself'),
    })
    .nullable()
    .optional()
    .describe('NF-e: registers Awareness (210210) for summaries whose full document does not come. Off unless enabled'),
  eventTypes: z
    .array(eventType)
    .max(200)
    .nullable()
    .optional()
    .describe(
      'CT-e: webhooks for events of these types only; none of them for an empty list. The others are stored. null: all',
    ),
  interestedParties: z
    .array(oneOf(PARTIES))
    .min(1, 'expected at least one role; null means all documents')
    .nullable()
    .optional()
    .describe(
      'CT-e: webhooks only for documents in which the company has one of these roles, and for their events. The others are stored. null: all',
    ),
  captureIssued: z
    .boolean({ error: 'expected true or false' })
    .optional()
    .describe(
      'NFS-e: notes that the company itself issued are listed and told of too. Default false; switched on, it counts for later documents',
    ),
  cutoffDate: z.iso
    .date({ error: 'expected a date, such as 2026-01-01' })
    .nullable()
    .optional()
    .describe(
      'NFS-e: notes issued before this day, and their events, are stored but neither listed nor told of until `release-history`. ' +
        'The day is the one that the note says, in its own offset',
    ),
  webhookUrl: z
    .string({ error: 'expected a URL' })
    .nullable()
    .optional()
    .describe('Makes, moves or (null) deletes one webhook endpoint that is limited to this company and document type'),
});

/** The body of a start or a change, checked. */
export type CaptureOrder = z.output<typeof captureOrder>;

/** Options in an answer: as they stand, those never set are absent. */
export const captureOptionsView = z
  .object({
    handler: z.object({ taskQueue: z.string(), activity: z.string() }).nullable().optional(),
    startNsu: z.string().optional(),
    notBefore: z.string().optional(),
    minIntervalMinutes: z.number().optional(),
    eventTypes: z.array(z.string()).readonly().nullable().optional(),
    interestedParties: z.array(z.string()).readonly().nullable().optional(),
    captureIssued: z.boolean().optional(),
    cutoffDate: z.string().nullable().optional(),
    autoAwareness: z.object({ enabled: z.boolean(), minutesToWait: z.number() }).optional(),
    webhookUrl: z.string().optional(),
  })
  .meta({ id: 'CaptureOptions' });

/** Options that one document type alone has. */
const ONLY: { readonly [option in keyof CaptureOrder]?: DocumentType } = {
  autoAwareness: 'nfe',
  eventTypes: 'cte',
  interestedParties: 'cte',
  captureIssued: 'nfse',
  cutoffDate: 'nfse',
};

/** What is wrong with options of another document type; taking away what cannot be there is no fault. */
export function foreignOptions(documentType: DocumentType, order: CaptureOrder): FieldFault[] {
  return (Object.keys(ONLY) as (keyof CaptureOrder)[]).flatMap((field) => {
    const only = ONLY[field];
    const given = order[field] !== undefined && order[field] !== null;
    return given && only !== documentType ? [{ field, message: `is an option of ${only} captures` }] : [];
  });
}

/** The options in force with the given ones over them: absent ones stay, null takes one away. */
export function mergedOptions(current: CaptureOptions, order: CaptureOrder): CaptureOptions {
  const { environment: _, ...given } = order;
  const merged = { ...current, ...given };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null && value !== undefined));
}
