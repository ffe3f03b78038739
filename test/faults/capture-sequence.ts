import assert from 'node:assert/strict';
import fc from 'fast-check';
import { MANIFESTATION_RULES } from '../../src/model/manifestation.js';
import { ZERO_NSU } from '../../src/model/nsu.js';
import type { PointAnswer, PointAsk } from '../../src/model/point-query.js';
import type { CaptureKey } from '../../src/model/words.js';
import { enableCapture } from '../../src/storage/capture-orders.js';
import { getCapture } from '../../src/storage/captures.js';
import type { Database } from '../../src/storage/database.js';
import { recoverGap } from '../../src/storage/gap-list.js';
import { type OrderAnswer, requestManifestation } from '../../src/storage/manifestation-orders.js';
import { outlookOf } from '../../src/storage/manifestation-queue.js';
import type { Death } from './capture-driver.js';
import type { SceneGovernment } from './capture-scene.js';
import { type Judged, type Sequences, sequencesOf } from './capture-steps.js';
import { assertComplete, assertRulesKept, storedOf, truthOf } from './capture-truth.js';
import { assertEventsInOrder, assertSettled, type Span } from './manifestation-truth.js';

const HOUR = 3_600_000;

/** One sequence of commands: a company, its government, and what must be so after every command and in the end. */
export abstract class Sequence implements Judged {
  #cursor = ZERO_NSU;
  readonly #awarenessOn: Span[] = [];

  constructor(
    readonly taxId: string,
    readonly capture: CaptureKey,
    readonly database: Database,
    readonly government: SceneGovernment,
  ) {}

  abstract now(): Promise<number>;
  abstract pass(ms: number): Promise<void>;
  abstract await(instant: number): Promise<void>;
  abstract ask(question: PointAsk): Promise<PointAnswer>;
  abstract die(death: Death): void;
  abstract night(): Promise<void>;
  /** Manifestations were written down. */
  protected abstract wakeManifestations(): Promise<void>;

  async request(key: string, type: string): Promise<OrderAnswer> {
    const rule = MANIFESTATION_RULES.get(type);
    assert.ok(rule);
    const { capture, taxId } = this;
    const justification = rule.justified ? 'Mercadoria recusada no recebimento' : null;
    const now = await this.now();
    const answer = await this.database.transaction((tx) =>
      requestManifestation(tx, { capture, taxId, key, rule, justification, now }),
    );
    if (answer.ok) await this.wakeManifestations();
    return answer;
  }

  async setAwareness(minutes: number | null): Promise<void> {
    const now = await this.now();
    const autoAwareness = { enabled: minutes !== null, minutesToWait: minutes ?? 5 };
    await this.database.transaction((tx) =>
      enableCapture(tx, { capture: this.capture, options: (current) => ({ ...current, autoAwareness }), now }),
    );
    const last = this.#awarenessOn.at(-1);
    if (last) last.to = Math.min(last.to, now);
    // From the commit on, which is a little later.
    if (minutes !== null) this.#awarenessOn.push({ from: await this.now(), to: Number.POSITIVE_INFINITY });
  }

  /** What holds after every step. */
  async check(): Promise<void> {
    assertRulesKept(this);
    await assertEventsInOrder(this);
    const ultNsu = (await getCapture(this.database, this.capture))?.state.ultNsu ?? ZERO_NSU;
    assert.ok(ultNsu >= this.#cursor, `the cursor went back from ${this.#cursor} to ${ultNsu}`);
    this.#cursor = ultNsu;
  }

  /** Everything works again: in the end everything must be here, and be settled. */
  async end(): Promise<void> {
    this.government.clearScripts();
    this.government.setOutage(null);
    await this.#confirm();
    for (let day = 0; day < 14 && !(await this.#isComplete()); day++) {
      for (let hours = 0; hours < 24 && !(await this.#isComplete()); hours += 2) await this.pass(2 * HOUR);
      await this.night();
      await this.#confirm();
    }
    await this.check();
    await assertComplete(this);
    await assertSettled(this, this.#awarenessOn);
  }

  async #isComplete(): Promise<boolean> {
    const { pending } = await outlookOf(this.database, this.capture);
    return pending === 0 && (await storedOf(this)).length === truthOf(this).length;
  }

  /** A person's word for what waits for it. */
  async #confirm(): Promise<void> {
    const { rows } = await this.database.query<{ id: string }>(
      `select id from gaps where company_id = $1 and status in ('before_onboarding', 'awaiting_confirmation')`,
      [this.capture.companyId],
    );
    const now = await this.now();
    for (const { id } of rows) await recoverGap(this.database, id, now);
  }
}

/** The sequences of every run of the tests, so that nobody is held up by what somebody else changed. */
const USUAL_SEED = 20_261_201;

/**
 * `MALOTE_MODEL_SEED=random` with `MALOTE_MODEL_RUNS` goes looking for new ones; the seed and `MALOTE_MODEL_PATH` of a failure's report run
 * that one again.
 */
function chosen(): { seed?: number; path?: string } {
  const { MALOTE_MODEL_SEED: seed = USUAL_SEED, MALOTE_MODEL_PATH: path } = process.env;
  return { ...(seed !== 'random' && { seed: Number(seed) }), ...(path !== undefined && { path }) };
}

/** Runs so many sequences. @param begin a company with so many documents waiting for it */
export async function assertSequences(
  numRuns: number,
  begin: (backlog: number) => Promise<Sequence>,
  kind: Sequences,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 130 }), sequencesOf(kind), async (backlog, steps) => {
      const sequence = await begin(backlog);
      await fc.asyncModelRun(() => ({ model: {}, real: sequence }), steps);
      await sequence.end();
    }),
    { numRuns, endOnFailure: true, includeErrorInReport: true, ...chosen() },
  );
}
