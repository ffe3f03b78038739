import type { PointAnswer, PointAsk } from '../../src/model/point-query.js';
import type { CaptureKey } from '../../src/model/words.js';
import type { Companies } from '../../src/simulator/companies.js';
import type { EventMemory } from '../../src/simulator/events/memory.js';
import type { Journal } from '../../src/simulator/journal.js';
import type { ScriptedAnswerInput } from '../../src/simulator/scripts/scripted-answer.js';
import type { CallKind } from '../../src/simulator/scripts/scripts.js';
import type { Outage } from '../../src/simulator/server/outage.js';
import type { Database } from '../../src/storage/database.js';
import type { OrderAnswer } from '../../src/storage/manifestation-orders.js';
import type { Death } from './capture-driver.js';

/** The government as the model sees and breaks it. */
export interface SceneGovernment {
  readonly journal: Journal;
  readonly companies: Companies;
  /** What it has registered. */
  readonly events: EventMemory;
  /** The next call of the tax ID (of this kind, if one is named) is answered so. */
  script(answer: ScriptedAnswerInput, taxId: string, kind?: CallKind): void;
  clearScripts(): void;
  setOutage(mode: Outage | null): void;
  /** Every request of events that left, with the events to the letter. */
  readonly requests: readonly (readonly string[])[];
}

/** One company under the model's commands: over activities and a clock that jumps, or over workflows on Temporal's skipped time. */
export interface Scene {
  readonly taxId: string;
  readonly capture: CaptureKey;
  readonly database: Database;
  readonly government: SceneGovernment;
  /** Milliseconds. */
  now(): Promise<number>;
  /** Time passes, and whatever is due is done. */
  pass(ms: number): Promise<void>;
  /** Time passes until this instant, the capture rests if it can. */
  await(instant: number): Promise<void>;
  /** A question of a person. */
  ask(question: PointAsk): Promise<PointAnswer>;
  /** A manifestation that a person asks for. */
  request(key: string, type: string): Promise<OrderAnswer>;
  /** Automatic Awareness from now on, after so many minutes; null: no more. */
  setAwareness(minutes: number | null): Promise<void>;
  /** The next call dies there. */
  die(death: Death): void;
  /** The nightly routine, and the look at whole notes that are awaited. */
  night(): Promise<void>;
}
