import type { Uf } from '../../documents/uf.js';
import type { GeneratedKind } from './kinds.js';

/** A run of positions that came by the same way. The sequence of a company is a list of them. */
export type Stretch =
  | {
      readonly type: 'generated';
      readonly count: number;
      /** How often each kind, as weights. */
      readonly kinds: Readonly<Partial<Record<GeneratedKind, number>>>;
      readonly items?: { readonly min: number; readonly max: number };
      /** One tpEvento for all events, known or not. */
      readonly eventType?: string;
      /** Reception of the last one, milliseconds; the others lie before it, evenly over `spreadMs`. */
      readonly arrivedAt: number;
      readonly spreadMs: number;
    }
  /** The whole documents of notes of which only summaries came before: what a manifestation brings. */
  | { readonly type: 'full'; readonly notes: readonly number[]; readonly arrivedAt: number }
  /** Exactly these bytes. */
  | {
      readonly type: 'given';
      readonly documents: readonly { readonly schema: string; readonly xml: string }[];
      readonly arrivedAt: number;
    };

type Generated = Extract<Stretch, { type: 'generated' }>;

/** A document of a sequence. */
export interface SequenceDocument {
  /** What it was made as; `given` documents say nothing. */
  readonly kind: GeneratedKind | 'given';
  /** The `schema` attribute of its docZip. */
  readonly schema: string;
  readonly xml: string;
}

/** Whose sequence it is; everything made up follows from it. */
export interface SequenceProfile {
  readonly worldSeed: string;
  readonly taxId: string;
  readonly name: string;
  readonly uf: Uf;
  /** tpAmb. */
  readonly environmentCode: '1' | '2';
}

function stretchLength(stretch: Stretch): number {
  if (stretch.type === 'generated') return stretch.count;
  return stretch.type === 'full' ? stretch.notes.length : stretch.documents.length;
}

/** The documents of one tax ID in one environment and service, by position. Nothing is stored: each is made when asked for. */
export abstract class Stretches {
  private readonly runs: { from: number; stretch: Stretch }[] = [];
  private total = 0;

  constructor(readonly profile: SequenceProfile) {}

  get length(): number {
    return this.total;
  }

  append(stretch: Stretch): void {
    this.runs.push({ from: this.total, stretch });
    this.total += stretchLength(stretch);
  }

  /** @throws {RangeError} outside of the sequence */
  documentAt(index: number): SequenceDocument {
    const { stretch, from } = this.runAt(index);
    if (stretch.type === 'given') {
      const given = stretch.documents[index - from];
      if (given === undefined) throw new RangeError(`No document at position ${index}`);
      return { kind: 'given', ...given };
    }
    return stretch.type === 'full' ? this.wholeAt(stretch.notes[index - from] ?? 0) : this.makeAt(index, stretch);
  }

  /** When the national environment received the document, milliseconds. */
  receivedAt(index: number): number {
    const { stretch, from } = this.runAt(index);
    if (stretch.type !== 'generated') return stretch.arrivedAt;
    return Math.round(stretch.arrivedAt - stretch.spreadMs * (1 - (index - from + 1) / stretch.count));
  }

  protected abstract makeAt(index: number, stretch: Generated): SequenceDocument;

  /** The whole document of a summary that came at this position; only of document types with summaries. */
  protected abstract wholeAt(index: number): SequenceDocument;

  protected generatedAt(index: number): Generated | null {
    if (index < 0 || index >= this.total) return null;
    const { stretch } = this.runAt(index);
    return stretch.type === 'generated' ? stretch : null;
  }

  /** Those that somebody gave. */
  protected givenDocuments(): { readonly schema: string; readonly xml: string }[] {
    return this.runs.flatMap(({ stretch }) => (stretch.type === 'given' ? stretch.documents : []));
  }

  protected hasWhole(index: number): boolean {
    return this.runs.some(({ stretch }) => stretch.type === 'full' && stretch.notes.includes(index));
  }

  private runAt(index: number): { from: number; stretch: Stretch } {
    const run = index < this.total ? this.runs.findLast(({ from }) => from <= index) : undefined;
    if (index < 0 || run === undefined) throw new RangeError(`No document at position ${index}`);
    return run;
  }
}
