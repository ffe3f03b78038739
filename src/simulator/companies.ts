import type { z } from 'zod';
import { addNsu, type Nsu } from '../model/nsu.js';
import type { Environment } from '../model/words.js';
import type { SimulatorClock } from './clock.js';
import { CTE, type Dialect, NFE, type SimulatedType } from './distribution/dialect.js';
import type { NfeSequence } from './documents/nfe-sequence.js';
import type { Stretch } from './documents/stretches.js';
import type { NumberedDocument, Queue, TruthEntry } from './queues/queue.js';
import type { QueueRegistry } from './queues/registry.js';
import {
  arrivalsSchema,
  companySchema,
  documentSchema,
  givenSchema,
  noteSchema,
  stealSchema,
  truthSchema,
  USUAL_KINDS,
  wholeSchema,
  whoSchema,
} from './requests.js';
import { afterOther } from './rules/judge.js';
import type { RulePolicy, Timing, UsageState } from './rules/state.js';

/** A request that makes no sense now, e.g. for a company that does not exist. The message says what to do. */
export class NotPossible extends Error {
  override readonly name = 'NotPossible';
}

const DIALECTS: Readonly<Record<SimulatedType, Dialect>> = { nfe: NFE, cte: CTE };

/** A company as the control API shows it. */
export interface CompanyView {
  readonly documentType: SimulatedType;
  readonly taxId: string;
  readonly environment: string;
  readonly name: string;
  readonly uf: string;
  readonly startNsu: Nsu;
  readonly maxNsu: Nsu;
  readonly state: UsageState;
}

type Generated = Pick<
  z.output<typeof arrivalsSchema>,
  'documentType' | 'kinds' | 'items' | 'eventType' | 'arrivedAt' | 'spreadDays'
>;

/** Companies with their queues: how tests and the demo fill them, and what the truth about them is. */
export class Companies {
  constructor(
    private readonly registry: QueueRegistry,
    private readonly clock: SimulatorClock,
    private readonly rules: { seed: string; timing: Timing; policy: () => RulePolicy },
  ) {}

  /** Makes a company with a backlog. Replaces one that exists, with all that the government remembers of it. */
  add(input: z.input<typeof companySchema>): CompanyView {
    const request = companySchema.parse(input);
    const { documentType, taxId, environment, name, uf, startNsu } = request;
    const queue = this.registry.define({
      documentType,
      taxId,
      environment,
      name,
      uf,
      worldSeed: request.seed ?? this.rules.seed,
      startNsu,
      stretches: request.backlog > 0 ? [this.stretch(request, request.backlog, 60)] : [],
      withheld: [],
      missing: [],
    });
    this.registry.changed(queue, 'state');
    if (request.gaps !== undefined) this.addGaps(queue, startNsu, request.gaps);
    return view(queue);
  }

  /**
   * New documents at the end of the queue. With the 60-day rule on they get no number (and are lost, as in life) when the root has not
   * asked for so long; `numbered` says how many got one.
   */
  arrive(input: z.input<typeof arrivalsSchema>): CompanyView & { numbered: number } {
    const request = arrivalsSchema.parse(input);
    const queue = this.existing(request);
    if (this.isLapsed(queue)) return { ...view(queue), numbered: 0 };
    const before = queue.maxNsu;
    this.append(queue, this.stretch(request, request.count, 0));
    if (request.gaps !== undefined) this.addGaps(queue, before, request.gaps);
    return { ...view(queue), numbered: request.count };
  }

  /** Documents with exactly these bytes, well-formed or not. */
  give(input: z.input<typeof givenSchema>): CompanyView {
    const { documents, ...who } = givenSchema.parse(input);
    const queue = this.existing(who);
    this.append(queue, { type: 'given', documents, arrivedAt: this.clock.now() });
    return view(queue);
  }

  /** The whole notes of these keys, of which summaries came before, as if the company had said that it knows of them. */
  giveWhole(input: z.input<typeof wholeSchema>): CompanyView {
    const { keys, ...who } = wholeSchema.parse(input);
    const queue = this.existing({ ...who, documentType: 'nfe' });
    const notes = keys.map((key) => {
      const found = queue.notes?.findNote(key) ?? null;
      if (found === null) throw new NotPossible(`No note with key …${key.slice(-4)} in the queue of this company`);
      return found.index;
    });
    this.append(queue, { type: 'full', notes, arrivedAt: this.clock.now() });
    return view(queue);
  }

  /** The whole note to a recipient that has just said that it knows of it, unless it has it or the note is none of its own. */
  releaseNote(taxId: string, environment: Environment, key: string): void {
    const found = this.registry.find('nfe', taxId, environment)?.notes?.findNote(key) ?? null;
    if (found !== null && !found.manifested) this.giveWhole({ taxId, environment, keys: [key] });
  }

  /** Another program of the same tax ID fetches the next `count` numbers. */
  steal(input: z.input<typeof stealSchema>): CompanyView {
    const { count, ...who } = stealSchema.parse(input);
    const queue = this.existing(who);
    const from = queue.state.pointer ?? queue.definition.startNsu;
    const ultNsu = queue.clamp(addNsu(from, count));
    const { manners } = DIALECTS[queue.documentType];
    const now = { at: this.clock.now(), timing: this.rules.timing, policy: this.rules.policy(), manners };
    queue.state = afterOther(queue.state, { ultNsu, maxNsu: queue.maxNsu }, now);
    this.registry.noteUse(queue, now.at);
    this.registry.changed(queue, 'state');
    return view(queue);
  }

  /** What the government knows of a note of this company; null: nothing. */
  note(input: z.input<typeof noteSchema>): ReturnType<NfeSequence['findNote']> {
    const { key, ...who } = noteSchema.parse(input);
    return this.existing({ ...who, documentType: 'nfe' }).notes?.findNote(key) ?? null;
  }

  list(): CompanyView[] {
    return this.registry.all().map(view);
  }

  get(who: z.input<typeof whoSchema>): CompanyView {
    return view(this.existing(whoSchema.parse(who)));
  }

  remove(who: z.input<typeof whoSchema>): void {
    this.registry.remove(this.existing(whoSchema.parse(who)));
  }

  removeAll(): void {
    for (const queue of this.registry.all()) this.registry.remove(queue);
  }

  /** Every number that exists, with the SHA-256 of its XML: what a client must have when nothing was lost. */
  truth(input: z.input<typeof truthSchema>): TruthEntry[] {
    const { after, limit, ...who } = truthSchema.parse(input);
    return this.existing(who).truth(after, limit, this.clock.now());
  }

  /** One document. */
  document(input: z.input<typeof documentSchema>): NumberedDocument {
    const { nsu, ...who } = documentSchema.parse(input);
    const found = this.existing(who).byNsu(nsu, this.clock.now());
    if (found === null) throw new NotPossible(`No document has NSU ${nsu}, or it is older than 90 days`);
    return found;
  }

  private existing(who: z.output<typeof whoSchema>): Queue {
    const queue = this.registry.find(who.documentType, who.taxId, who.environment);
    if (queue !== null) return queue;
    throw new NotPossible(`No company …${who.taxId.slice(-4)} in ${who.environment}: add it with POST /companies`);
  }

  private append(queue: Queue, stretch: Stretch): void {
    queue.append(stretch);
    this.registry.changed(queue, 'definition');
  }

  private stretch(request: Generated, count: number, usualSpreadDays: number): Stretch {
    return {
      type: 'generated',
      count,
      kinds: request.kinds ?? USUAL_KINDS[request.documentType],
      ...(request.items === undefined ? {} : { items: request.items }),
      ...(request.eventType === undefined ? {} : { eventType: request.eventType }),
      arrivedAt: request.arrivedAt ?? this.clock.now(),
      spreadMs: (request.spreadDays ?? usualSpreadDays) * 86_400_000,
    };
  }

  private addGaps(queue: Queue, after: Nsu, gaps: NonNullable<z.output<typeof arrivalsSchema>['gaps']>): void {
    const numbers = [...gaps.nsus];
    if (gaps.every !== undefined) {
      for (let nsu = addNsu(after, gaps.every); nsu <= queue.maxNsu; nsu = addNsu(nsu, gaps.every)) numbers.push(nsu);
    }
    queue.addGaps(gaps.exist ? 'withheld' : 'missing', numbers);
    this.registry.changed(queue, 'definition');
  }

  private isLapsed(queue: Queue): boolean {
    if (!this.rules.policy().sixtyDays) return false;
    const last = this.registry.lastUseOfRoot(queue);
    return last === null || this.clock.now() - last > this.rules.timing.sixtyDays;
  }
}

function view(queue: Queue): CompanyView {
  const { documentType, taxId, environment, name, uf, startNsu } = queue.definition;
  return { documentType, taxId, environment, name, uf, startNsu, maxNsu: queue.maxNsu, state: queue.state };
}
