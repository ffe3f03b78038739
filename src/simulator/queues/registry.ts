import { taxIdRoot } from '../../documents/tax-id.js';
import type { Uf } from '../../documents/uf.js';
import { ZERO_NSU } from '../../model/nsu.js';
import type { Environment } from '../../model/words.js';
import type { SimulatedType } from '../distribution/dialect.js';
import type { FreightFacts } from '../documents/cte/given.js';
import type { Note } from '../documents/note.js';
import { Queue, type QueueDefinition } from './queue.js';

/** Told about what has to outlive a restart. */
export interface QueueObserver {
  queueDefined(queue: Queue): void;
  stateChanged(queue: Queue): void;
  queueRemoved(queue: Queue): void;
}

/** All queues. A tax ID that was never set up has an empty one: the government knows everybody. */
export class QueueRegistry {
  private readonly queues = new Map<string, Queue>();
  private readonly roots = new Map<string, number>();

  constructor(
    private readonly worldSeed: string,
    private readonly observer: QueueObserver,
  ) {}

  /** The queue of a tax ID, made empty if need be. */
  of(documentType: SimulatedType, taxId: string, environment: Environment): Queue {
    return (
      this.find(documentType, taxId, environment) ??
      this.define({
        documentType,
        taxId,
        environment,
        name: 'Empresa Sem Cadastro Ltda',
        uf: 'SP' as Uf,
        worldSeed: this.worldSeed,
        startNsu: ZERO_NSU,
        stretches: [],
        withheld: [],
        missing: [],
      })
    );
  }

  find(documentType: SimulatedType, taxId: string, environment: Environment): Queue | null {
    return this.queues.get(nameOf({ documentType, taxId, environment })) ?? null;
  }

  all(): Queue[] {
    return [...this.queues.values()];
  }

  define(definition: QueueDefinition): Queue {
    const queue = new Queue(definition);
    this.add(queue);
    this.observer.queueDefined(queue);
    return queue;
  }

  /** Puts back what a folder kept; tells nobody. */
  restore(queue: Queue): void {
    this.add(queue);
    if (queue.state.lastDistributionAt !== null) this.noteUse(queue, queue.state.lastDistributionAt);
  }

  remove(queue: Queue): void {
    this.queues.delete(nameOf(queue));
    this.observer.queueRemoved(queue);
  }

  changed(queue: Queue, what: 'definition' | 'state'): void {
    if (what === 'definition') this.observer.queueDefined(queue);
    else this.observer.stateChanged(queue);
  }

  /** The 60 days count for all branches of a root together, in each service. */
  noteUse(queue: Queue, at: number): void {
    this.roots.set(nameOf({ ...whoOf(queue), taxId: taxIdRoot(queue.taxId) }), at);
  }

  lastUseOfRoot(queue: Queue): number | null {
    return this.roots.get(nameOf({ ...whoOf(queue), taxId: taxIdRoot(queue.taxId) })) ?? null;
  }

  /** The note with this key, whoever it concerns. */
  findNoteAnywhere(key: string, environment: Environment): Note | null {
    for (const queue of this.queues.values()) {
      const found = queue.environment === environment ? (queue.notes?.findNote(key) ?? null) : null;
      if (found !== null) return found.note;
    }
    return null;
  }

  /** What is known of the CT-e with this key, whoever takes part in it. */
  findFreightAnywhere(key: string, environment: Environment, at: number): FreightFacts | null {
    for (const queue of this.queues.values()) {
      const found = queue.environment === environment ? (queue.freights?.findFreight(key, at) ?? null) : null;
      if (found !== null) return found;
    }
    return null;
  }

  private add(queue: Queue): void {
    this.queues.set(nameOf(queue), queue);
  }
}

/** What names a queue. */
type Who = Pick<QueueDefinition, 'documentType' | 'taxId' | 'environment'>;

function whoOf({ documentType, taxId, environment }: Queue): Who {
  return { documentType, taxId, environment };
}

/** One text for one queue. */
export function nameOf({ documentType, taxId, environment }: Who): string {
  return `${documentType}/${environment}/${taxId}`;
}
