import type { Environment } from '../../model/words.js';
import type { Journal } from '../journal.js';
import type { CallKind } from '../scripts/scripts.js';

/** An event that the government registered. */
export interface RegisteredEvent {
  readonly id: string;
  readonly environment: Environment;
  readonly author: string;
  readonly key: string;
  readonly type: string;
  readonly sequence: number;
  readonly cStat: string;
  readonly protocol: string;
  /** Milliseconds. */
  readonly at: number;
}

/** Calls that register events, in the journal. */
const EVENT_CALLS: ReadonlySet<string> = new Set<CallKind>(['nfeRecepcaoEvento', 'cteRecepcaoEvento']);
/** How a registered event stands in the journal, so that a restart finds it there. */
export const registeredDetail = (protocol: string) => `protocol ${protocol}`;

/** What is remembered of events: those that were registered, and rejections of the last hour. */
export class EventMemory {
  private readonly registered = new Map<string, RegisteredEvent>();
  private readonly rejections = new Map<string, number[]>();
  private count = 0;

  /** Finds in the journal what was registered before a restart. */
  restore(journal: Journal): void {
    for (const { kind, asked, environment, taxId, cStat, detail, time } of journal.list()) {
      const protocol = /^protocol (\d+)$/.exec(detail ?? '')?.[1];
      if (!EVENT_CALLS.has(kind) || asked === null || taxId === null || cStat === null || protocol === undefined)
        continue;
      this.add({ ...partsOf(asked), environment, author: taxId, cStat, protocol, at: Date.parse(time) });
    }
  }

  add(event: RegisteredEvent): void {
    this.count += 1;
    this.registered.set(`${event.environment}/${event.id}`, event);
  }

  find(environment: Environment, id: string): RegisteredEvent | null {
    return this.registered.get(`${environment}/${id}`) ?? null;
  }

  /** What this author has said about a note. */
  about(environment: Environment, author: string, key: string): RegisteredEvent[] {
    return [...this.registered.values()].filter(
      (event) => event.environment === environment && event.author === author && event.key === key,
    );
  }

  list(): RegisteredEvent[] {
    return [...this.registered.values()];
  }

  /** 15 digits, the first of them the authority's own. */
  nextProtocol(prefix: string, at: number): string {
    const year = new Date(at).toISOString().slice(2, 4);
    return `${prefix}${year}${String(this.count + 1).padStart(10, '0')}`;
  }

  /** How often this event was rejected so within the hour before, this time included. */
  rejectedAgain(event: string, cStat: string, at: number, hour: number): number {
    const name = `${event}/${cStat}`;
    const recent = [...(this.rejections.get(name) ?? []).filter((time) => time > at - hour), at];
    this.rejections.set(name, recent);
    return recent.length;
  }

  clear(): void {
    this.registered.clear();
    this.rejections.clear();
  }
}

/** What an event's Id is made of. */
function partsOf(id: string): Pick<RegisteredEvent, 'id' | 'type' | 'key' | 'sequence'> {
  return { id, type: id.slice(2, 8), key: id.slice(8, 52), sequence: Number(id.slice(52)) };
}
