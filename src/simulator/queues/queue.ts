import { createHash } from 'node:crypto';
import type { Uf } from '../../documents/uf.js';
import { addNsu, compareNsu, type Nsu, nsuDistance } from '../../model/nsu.js';
import type { Environment } from '../../model/words.js';
import type { SimulatedType } from '../distribution/dialect.js';
import { CteSequence } from '../documents/cte/sequence.js';
import { NfeSequence } from '../documents/nfe-sequence.js';
import type { SequenceDocument, Stretch, Stretches } from '../documents/stretches.js';
import { UNUSED, type UsageState } from '../rules/state.js';

/** What a queue is made of; together with the state all that has to be kept to go on after a restart. */
export interface QueueDefinition {
  readonly documentType: SimulatedType;
  readonly taxId: string;
  readonly environment: Environment;
  readonly name: string;
  readonly uf: Uf;
  readonly worldSeed: string;
  /** The NSU before the first one that exists (what older ones held was purged). */
  readonly startNsu: Nsu;
  readonly stretches: readonly Stretch[];
  /** Numbers that no page brings but consNSU does. */
  readonly withheld: readonly Nsu[];
  /** Numbers that no document ever got. */
  readonly missing: readonly Nsu[];
}

/** A document with its place in the queue. */
export interface NumberedDocument extends SequenceDocument {
  readonly nsu: Nsu;
}

/** One line of the truth: what a client must have in the end. */
export interface TruthEntry {
  readonly nsu: Nsu;
  readonly kind: SequenceDocument['kind'];
  readonly schema: string;
  readonly sha256: string;
  readonly length: number;
  /** `page`: comes by distNSU. `point`: only by consNSU. `purged`: too old for either. */
  readonly reach: 'page' | 'point' | 'purged';
}

/** The national environment keeps documents for 90 days from reception. */
export const RETENTION = 90 * 86_400_000;

/** The numbered documents of one tax ID in one environment and service, and what the government remembers of its calls. */
export class Queue {
  state: UsageState = UNUSED;
  /** Calls being answered right now. */
  inFlight = 0;
  readonly sequence: Stretches;
  /** The same, where it is of NF-e, or of CT-e. */
  readonly notes: NfeSequence | null;
  readonly freights: CteSequence | null;
  private readonly withheld: Set<Nsu>;
  private readonly missing: Set<Nsu>;
  private readonly stretches: Stretch[] = [];

  constructor(private readonly made: QueueDefinition) {
    const profile = { ...made, environmentCode: made.environment === 'production' ? '1' : '2' } as const;
    const sequence = made.documentType === 'nfe' ? new NfeSequence(profile) : new CteSequence(profile);
    this.sequence = sequence;
    this.notes = sequence instanceof NfeSequence ? sequence : null;
    this.freights = sequence instanceof CteSequence ? sequence : null;
    this.withheld = new Set(made.withheld);
    this.missing = new Set(made.missing);
    for (const stretch of made.stretches) this.append(stretch);
  }

  get definition(): QueueDefinition {
    return { ...this.made, stretches: this.stretches, withheld: [...this.withheld], missing: [...this.missing] };
  }

  get documentType(): SimulatedType {
    return this.made.documentType;
  }

  get taxId(): string {
    return this.made.taxId;
  }

  get environment(): Environment {
    return this.made.environment;
  }

  /** Highest number given. */
  get maxNsu(): Nsu {
    return addNsu(this.made.startNsu, this.sequence.length);
  }

  /** The number itself, or the highest given if it lies above. */
  clamp(nsu: Nsu): Nsu {
    return compareNsu(nsu, this.maxNsu) > 0 ? this.maxNsu : nsu;
  }

  append(stretch: Stretch): void {
    this.stretches.push(stretch);
    this.sequence.append(stretch);
  }

  /** `withheld`: pages leave the number out, consNSU has it. `missing`: nobody has it. */
  addGaps(kind: 'withheld' | 'missing', numbers: readonly Nsu[]): void {
    for (const nsu of numbers) this[kind].add(nsu);
  }

  /**
   * Up to `limit` documents after `after` that are still kept at `at`, and how far the search got: to the last document, or to the end
   * of the queue.
   */
  page(after: Nsu, limit: number, at: number): { documents: NumberedDocument[]; ultNsu: Nsu } {
    const documents: NumberedDocument[] = [];
    for (let index = Math.max(0, this.indexAfter(after)); index < this.sequence.length; index++) {
      const nsu = this.nsuAt(index);
      if (this.withheld.has(nsu) || this.missing.has(nsu) || this.isPurged(index, at)) continue;
      documents.push({ nsu, ...this.sequence.documentAt(index) });
      if (documents.length === limit) return { documents, ultNsu: nsu };
    }
    return { documents, ultNsu: this.maxNsu };
  }

  /** The document with exactly this number; null when no document has it, or it is no longer kept at `at`. */
  byNsu(nsu: Nsu, at: number): NumberedDocument | null {
    const index = this.indexAfter(nsu) - 1;
    if (index < 0 || index >= this.sequence.length || this.missing.has(nsu) || this.isPurged(index, at)) return null;
    return { nsu, ...this.sequence.documentAt(index) };
  }

  /** What exists, after `after` and up to `limit` numbers; computed when asked for. */
  truth(after: Nsu, limit: number, at: number): TruthEntry[] {
    const first = Math.max(0, this.indexAfter(after));
    const entries: TruthEntry[] = [];
    for (let index = first; index < this.sequence.length && entries.length < limit; index++) {
      const nsu = this.nsuAt(index);
      if (this.missing.has(nsu)) continue;
      const { kind, schema, xml } = this.sequence.documentAt(index);
      const bytes = Buffer.from(xml, 'utf8');
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const reach = this.isPurged(index, at) ? 'purged' : this.withheld.has(nsu) ? 'point' : 'page';
      entries.push({ nsu, kind, schema, sha256, length: bytes.length, reach });
    }
    return entries;
  }

  private isPurged(index: number, at: number): boolean {
    return this.sequence.receivedAt(index) < at - RETENTION;
  }

  private nsuAt(index: number): Nsu {
    return addNsu(this.made.startNsu, index + 1);
  }

  /** Position of the first number after `nsu`; negative when that was purged. 15 digits fit into a safe integer. */
  private indexAfter(nsu: Nsu): number {
    return Number(nsuDistance(this.made.startNsu, nsu));
  }
}
