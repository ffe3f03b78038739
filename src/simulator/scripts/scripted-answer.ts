import { z } from 'zod';
import { OMITTABLE } from '../distribution/answer.js';

/** Ways to break one docZip of an otherwise real page. The true bytes can still be had by consNSU. */
const CORRUPTIONS = ['cut_gzip', 'not_gzip', 'not_base64', 'truncated_xml', 'doctype', 'empty'] as const;
export type Corruption = (typeof CORRUPTIONS)[number];

/** Ways to write a real answer differently. */
const DRESSES = ['latin1', 'latin1_undeclared', 'bom', 'prefixes', 'header'] as const;
export type Dress = (typeof DRESSES)[number];

const item = z.number().int().min(0).default(0);

/**
 * What a call gets instead of, or done to, its real answer.
 *
 * Replaced answers change nothing that the government remembers; the call is still judged and journalled. Answers that are damaged on
 * the way, or altered, count like any other.
 */
export const scriptedAnswerSchema = z.discriminatedUnion('type', [
  // Replaced.
  z.object({ type: z.literal('status'), cStat: z.string().regex(/^[0-9]{3}$/), text: z.string().optional() }),
  /**
   * 656. Above 0: another consumer has just taken so many numbers, and the pointer says so. Below 0: the answer names an older pointer
   * than it keeps. The tax ID is blocked.
   */
  z.object({ type: z.literal('misuse'), pointer: z.number().int() }),
  /**
   * Requests of events: what is answered about each event, or about the one of this key. One that is registered by it (135, 136, 155) is
   * remembered. Null: the answer leaves the event out.
   */
  z.object({
    type: z.literal('event_status'),
    cStat: z
      .string()
      .regex(/^[0-9]{3,4}$/)
      .nullable(),
    text: z.string().optional(),
    key: z.string().length(44).optional(),
  }),
  /** NFS-e only: a rejection by the service, as the ADN or Sefin says it. `httpStatus` is Sefin's. */
  z.object({
    type: z.literal('rejection'),
    code: z.string().min(1),
    httpStatus: z.number().int().default(400),
  }),
  /** NFS-e only: 429, with Retry-After (seconds or a date) or, as mostly, without. */
  z.object({ type: z.literal('throttle'), retryAfter: z.string().optional() }),
  z.object({ type: z.literal('soap_fault'), httpStatus: z.number().int().default(500) }),
  z.object({ type: z.literal('html'), httpStatus: z.number().int().default(200) }),
  z.object({ type: z.literal('empty'), httpStatus: z.number().int().default(200) }),
  /** `body`: base64. */
  z.object({
    type: z.literal('raw'),
    httpStatus: z.number().int().default(200),
    contentType: z.string().default('application/soap+xml; charset=utf-8'),
    body: z.base64(),
  }),
  // Damaged on the way. `counted`: the government did its work and only the answer was lost; false: it never saw the call.
  z.object({ type: z.literal('reset'), counted: z.boolean().default(true) }),
  z.object({ type: z.literal('hang'), counted: z.boolean().default(true), ms: z.number().int().positive().optional() }),
  z.object({ type: z.literal('cut'), afterBytes: z.number().int().positive().optional() }),
  z.object({ type: z.literal('slow'), ms: z.number().int().positive() }),
  // Altered.
  z.object({ type: z.literal('corrupt'), how: z.enum(CORRUPTIONS), item }),
  z.object({ type: z.literal('schema'), schema: z.string(), item }),
  z.object({ type: z.literal('omit'), fields: z.array(z.enum(OMITTABLE)).min(1) }),
  z.object({ type: z.literal('dress'), as: z.enum(DRESSES) }),
  z.object({ type: z.literal('page'), size: z.number().int().min(1).max(50) }),
  z.object({ type: z.literal('ult_above_max'), by: z.number().int().positive().default(1) }),
  z.object({ type: z.literal('duplicate_nsu') }),
  z.object({ type: z.literal('reorder') }),
  /** 138 with the ultNSU that was asked from: the cursor does not move, and the same documents come again. `empty`: with none. */
  z.object({ type: z.literal('standstill'), empty: z.boolean().default(false) }),
  z.object({ type: z.literal('skew'), ms: z.number().int() }),
]);

export type ScriptedAnswer = z.output<typeof scriptedAnswerSchema>;
/** As written by a caller: fields with a default may be absent. */
export type ScriptedAnswerInput = z.input<typeof scriptedAnswerSchema>;

type AnswerType = ScriptedAnswer['type'];
const OF_NFSE_ONLY: readonly AnswerType[] = ['rejection', 'throttle'];
const OF_ALL: readonly AnswerType[] = ['html', 'empty', 'raw', 'reset', 'hang', 'cut', 'slow', 'corrupt', 'page'];

/** Whether the services of NFS-e, or the SOAP services, can give such an answer. */
export function answersType(type: AnswerType, nfse: boolean): boolean {
  return nfse ? OF_ALL.includes(type) || OF_NFSE_ONLY.includes(type) : !OF_NFSE_ONLY.includes(type);
}
