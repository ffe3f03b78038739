import type { Environment } from '../model/words.js';
import type { Rule } from './rules/state.js';

/** One call, as the government saw it. */
export interface JournalEntry {
  readonly sequence: number;
  /** RFC 3339, by the simulator's clock. */
  readonly time: string;
  readonly service: string;
  readonly environment: Environment;
  /** Null when the request did not say. */
  readonly taxId: string | null;
  readonly kind: string;
  /** ultNSU, NSU or key that was asked with. */
  readonly asked: string | null;
  readonly httpStatus: number;
  /** Null when the answer had none. */
  readonly cStat: string | null;
  /** ultNSU and maxNSU of the answer. */
  readonly ultNsu: string | null;
  readonly maxNsu: string | null;
  readonly documents: number;
  /** The rule that the call broke. */
  readonly rule: Rule | null;
  readonly detail: string | null;
  /** Type of the scripted answer or outage that decided it. */
  readonly scripted: string | null;
  /** Tax ID in the certificate. */
  readonly certificate: string | null;
}

/** Which calls are listed. */
export interface JournalFilter {
  readonly taxId?: string;
  readonly environment?: Environment;
  /** Only entries after this sequence number. */
  readonly after?: number;
  readonly limit?: number;
}

/** Told about what has to outlive a restart. */
export interface JournalObserver {
  called(entry: JournalEntry): void;
  journalCleared(): void;
}

/** All calls in order. Old ones are dropped above a limit; those that broke a rule are all kept. */
export class Journal {
  private entries: JournalEntry[] = [];
  private broken: JournalEntry[] = [];
  private last = 0;

  constructor(
    private readonly observer: JournalObserver,
    private readonly keep = 200_000,
  ) {}

  add(entry: Omit<JournalEntry, 'sequence'>): JournalEntry {
    const added = { sequence: this.last + 1, ...entry };
    this.restore(added);
    this.observer.called(added);
    return added;
  }

  /** Puts back what a folder kept. */
  restore(entry: JournalEntry): void {
    this.last = Math.max(this.last, entry.sequence);
    this.entries.push(entry);
    if (entry.rule !== null) this.broken.push(entry);
    if (this.entries.length > this.keep * 1.1) this.entries = this.entries.slice(-this.keep);
  }

  list(filter: JournalFilter = {}): JournalEntry[] {
    return select(this.entries, filter);
  }

  /** Calls that broke a rule. */
  violations(filter: JournalFilter = {}): JournalEntry[] {
    return select(this.broken, filter);
  }

  clear(): void {
    this.entries = [];
    this.broken = [];
    this.observer.journalCleared();
  }
}

function select(entries: readonly JournalEntry[], filter: JournalFilter): JournalEntry[] {
  const found = entries.filter(
    (entry) =>
      (filter.taxId ?? entry.taxId) === entry.taxId &&
      (filter.environment ?? entry.environment) === entry.environment &&
      entry.sequence > (filter.after ?? 0),
  );
  return filter.limit === undefined ? found : found.slice(0, filter.limit);
}
