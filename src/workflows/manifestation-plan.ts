import { jitter } from '../cadence/index.js';
import type { SendResult } from '../model/manifestation-contract.js';

/** Least wait when something is said to be due and nothing was sent: Temporal's clock runs ahead of the database's. */
const CLOCK_SKEW_MS = 1_000;

/**
 * How long to wait before what is due next, milliseconds; null: nothing is. Late by up to a tenth, never early.
 *
 * @param random in [0, 1), from the workflow's deterministic source
 */
export function waitOf({ nextDueAt, sent }: SendResult, now: number, random: number): number | null {
  if (nextDueAt === null) return null;
  const wait = Math.max(nextDueAt - now, 0);
  return Math.max(wait + jitter(wait, random), sent > 0 ? 0 : CLOCK_SKEW_MS);
}

/** One Markdown paragraph for the Temporal UI: what was sent last, and what is left. */
export function describeSending(last: SendResult, total: Totals, until: number | null): string {
  const lines = [
    last.obstacle ? `**${last.obstacle.replaceAll('_', ' ')}**: nothing can be sent until one is stored.` : '',
    last.sent > 0
      ? `Last request: ${counted(last.sent, 'event')}, ${last.registered} registered, ${last.rejected} rejected (${last.statusCode ?? 'no answer'}).`
      : '',
    last.pending > 0 ? `${counted(last.pending, 'event')} pending.` : 'Nothing is pending.',
    until === null ? '' : `Next: ${new Date(until).toISOString()}, or when woken.`,
    `This run: ${total.registered} registered, ${total.rejected} rejected in ${counted(total.requests, 'request')}.`,
  ];
  return lines.filter((line) => line !== '').join(' ');
}

/** Since the run began. */
export interface Totals {
  readonly requests: number;
  readonly registered: number;
  readonly rejected: number;
}

/** The totals with one more request. */
export function added(total: Totals, { sent, registered, rejected }: SendResult): Totals {
  return {
    requests: total.requests + (sent > 0 ? 1 : 0),
    registered: total.registered + registered,
    rejected: total.rejected + rejected,
  };
}

const counted = (count: number, thing: string) => `${count} ${thing}${count === 1 ? '' : 's'}`;
