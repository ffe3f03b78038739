import type { Failpoint } from '../../src/activities/index.js';

/** The table of deaths in docs/architecture.md, which holds for a page and for a point query alike. */
interface Death {
  readonly at: Failpoint;
  /** Requests that left before the death. */
  readonly sent: number;
  /** What the next attempt makes of it. */
  readonly outcome: 'documents' | 'unknown';
  readonly callsInAll: number;
}

export const DEATHS: readonly Death[] = [
  { at: 'before_record', sent: 0, outcome: 'documents', callsInAll: 1 },
  { at: 'after_record', sent: 0, outcome: 'unknown', callsInAll: 0 },
  { at: 'before_send', sent: 0, outcome: 'unknown', callsInAll: 0 },
  { at: 'after_send', sent: 1, outcome: 'unknown', callsInAll: 1 },
  { at: 'after_archive', sent: 1, outcome: 'documents', callsInAll: 1 },
  { at: 'inside_transaction', sent: 1, outcome: 'documents', callsInAll: 1 },
  { at: 'after_commit', sent: 1, outcome: 'documents', callsInAll: 1 },
];
