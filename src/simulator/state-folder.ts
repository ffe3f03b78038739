import {
  appendFileSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Journal, JournalEntry, JournalObserver } from './journal.js';
import type { BoxChange, Boxes, BoxName, BoxObserver } from './nfse/boxes.js';
import { Queue, type QueueDefinition } from './queues/queue.js';
import { nameOf, type QueueObserver, type QueueRegistry } from './queues/registry.js';
import type { UsageState } from './rules/state.js';

type Line =
  | { readonly queue: QueueDefinition }
  | { readonly of: string; readonly state: UsageState }
  | { readonly of: string; readonly removed: true }
  | { readonly clockOffset: number };

interface BoxLine {
  readonly of: BoxName;
  readonly change: BoxChange;
}

/**
 * Keeps queues and journal in a folder, as lines that are appended before an answer leaves: a simulator that is killed remembers
 * every answer that anybody saw. Written anew, without what is outdated, at each start.
 */
export class StateFolder implements QueueObserver, JournalObserver, BoxObserver {
  private readonly queuesFile: string;
  private readonly boxesFile: string;
  private readonly journalFile: string;
  /** Milliseconds that the clock was ahead of the machine's. */
  clockOffset = 0;

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    this.queuesFile = join(folder, 'queues.ndjson');
    this.boxesFile = join(folder, 'boxes.ndjson');
    this.journalFile = join(folder, 'journal.ndjson');
  }

  /** Puts back what earlier runs left. */
  restore(registry: QueueRegistry, boxes: Boxes, journal: Journal): void {
    this.restoreBoxes(boxes);
    const definitions = new Map<string, QueueDefinition>();
    const states = new Map<string, UsageState>();
    for (const line of read<Line>(this.queuesFile)) {
      if ('queue' in line) {
        definitions.set(nameOf(line.queue), line.queue);
      } else if ('removed' in line) {
        definitions.delete(line.of);
        states.delete(line.of);
      } else if ('clockOffset' in line) {
        this.clockOffset = line.clockOffset;
      } else {
        states.set(line.of, line.state);
      }
    }
    for (const [name, definition] of definitions) {
      const queue = new Queue(definition);
      queue.state = states.get(name) ?? queue.state;
      registry.restore(queue);
    }
    for (const entry of read<JournalEntry>(this.journalFile)) journal.restore(entry);
    this.rewriteQueues(registry);
  }

  queueDefined(queue: Queue): void {
    append(this.queuesFile, { queue: queue.definition } satisfies Line);
  }

  stateChanged(queue: Queue): void {
    append(this.queuesFile, { of: nameOf(queue), state: queue.state } satisfies Line);
  }

  queueRemoved(queue: Queue): void {
    append(this.queuesFile, { of: nameOf(queue), removed: true } satisfies Line);
  }

  boxChanged(of: BoxName, change: BoxChange): void {
    append(this.boxesFile, { of, change } satisfies BoxLine);
  }

  called(entry: JournalEntry): void {
    append(this.journalFile, entry);
  }

  journalCleared(): void {
    rmSync(this.journalFile, { force: true });
  }

  clockMoved(offset: number): void {
    append(this.queuesFile, { clockOffset: offset } satisfies Line);
  }

  private rewriteQueues(registry: QueueRegistry): void {
    const queues = registry
      .all()
      .flatMap((queue) => [{ queue: queue.definition }, { of: nameOf(queue), state: queue.state }]);
    rewrite(this.queuesFile, [{ clockOffset: this.clockOffset }, ...queues]);
  }

  /** Arrivals are done again; of what was remembered only the last counts. */
  private restoreBoxes(boxes: Boxes): void {
    const changes = new Map<string, BoxLine[]>();
    for (const line of read<BoxLine>(this.boxesFile)) {
      const name = `${line.of.environment}/${line.of.taxId}`;
      const before = 'removed' in line.change ? [] : (changes.get(name) ?? []);
      const kept = 'state' in line.change ? before.filter(({ change }) => !('state' in change)) : before;
      changes.set(name, 'removed' in line.change ? [] : [...kept, line]);
    }
    const lines = [...changes.values()].flat();
    for (const { of, change } of lines) boxes.apply(of, change);
    rewrite(this.boxesFile, lines);
  }
}

/** As one step: a process that dies leaves the old lines or the new ones. */
function rewrite(path: string, lines: readonly object[]): void {
  const next = `${path}.next`;
  const file = openSync(next, 'w');
  for (const line of lines) writeSync(file, `${JSON.stringify(line)}\n`);
  fsyncSync(file);
  closeSync(file);
  renameSync(next, path);
}

function append(file: string, line: object): void {
  appendFileSync(file, `${JSON.stringify(line)}\n`);
}

/** The complete lines of a file; what follows the last one was cut when the process died, and is removed. */
function read<T>(file: string): T[] {
  if (!existsSync(file)) return [];
  const bytes = readFileSync(file);
  const end = bytes.lastIndexOf('\n') + 1;
  if (end < bytes.length) truncateSync(file, end);
  const lines = bytes.subarray(0, end).toString('utf8').split('\n');
  return lines.slice(0, -1).map((line) => JSON.parse(line) as T);
}
