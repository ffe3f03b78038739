import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createWatchAwaitedXml } from '../../src/activities/awaited-xml.js';
import { createNightlyGaps } from '../../src/activities/nightly-gaps.js';
import { cnpjCheckDigits } from '../../src/documents/index.js';
import { MANIFESTATION_RULES } from '../../src/model/manifestation.js';
import { ZERO_NSU } from '../../src/model/nsu.js';
import type { PointAnswer, PointAsk } from '../../src/model/point-query.js';
import type { CaptureKey } from '../../src/model/words.js';
import { enableCapture } from '../../src/storage/capture-orders.js';
import { recoverGap } from '../../src/storage/gap-list.js';
import { type OrderAnswer, requestManifestation } from '../../src/storage/manifestation-orders.js';
import { outlookOf } from '../../src/storage/manifestation-queue.js';
import { giveCertificate, HOUR, rowOf, run, world } from '../activities/support.js';
import { newCompany } from '../storage/support.js';
import { CaptureDriver, type Death } from './capture-driver.js';
import { type Judged, sequencesOf } from './capture-steps.js';
import { assertComplete, assertRulesKept, storedOf, truthOf } from './capture-truth.js';
import { InProcessGovernment } from './in-process-government.js';
import { assertEventsInOrder, assertSettled, type Span } from './manifestation-truth.js';

/**
 * A capture and its manifestations under everything that can happen to them, in any order: arrivals, missing numbers, questions and
 * statements of people, automatic Awareness, refusals, lost answers, outages, another program, deaths of the process, nights. Whatever
 * the sequence, the government's own journal shows no broken rule, the hour's quota is kept to the millisecond, every event left in one
 * form only, and in the end every document is here once and was told of once.
 */

/** `MALOTE_MODEL_SEED` and `MALOTE_MODEL_PATH`, from a failure's report, run that sequence again. */
function replayed(): { seed?: number; path?: string } {
  const { MALOTE_MODEL_SEED: seed, MALOTE_MODEL_PATH: path } = process.env;
  return { ...(seed !== undefined && { seed: Number(seed) }), ...(path !== undefined && { path }) };
}
const SEQUENCES = Number(process.env.MALOTE_MODEL_RUNS ?? 200);
const w = await world();
const { lookForGaps } = createNightlyGaps({ ...w.deps, wakeCapture: async () => {} });
const { watchAwaitedXml } = createWatchAwaitedXml(w.deps);

/** A system and its government; the model is the government's truth. */
class Sequence implements Judged {
  readonly database = w.db;
  #cursor = ZERO_NSU;
  readonly #awarenessOn: Span[] = [];

  private constructor(
    readonly taxId: string,
    readonly capture: CaptureKey,
    readonly government: InProcessGovernment,
    readonly driver: CaptureDriver,
  ) {}

  static #companies = 0;

  static async begin(backlog: number): Promise<Sequence> {
    Sequence.#companies += 1;
    const first12 = `${String(40_000_000 + Sequence.#companies)}0001`;
    const taxId = first12 + cnpjCheckDigits(first12);
    const government = new InProcessGovernment();
    government.clock.push((await w.clock.now()) + 1);
    government.companies.add({ taxId, backlog });
    // What an earlier sequence left of the service's pauses is not this one's.
    await w.db.query('delete from services');
    await w.db.query('update captures set enabled = false');
    const company = await newCompany(w.db, { taxId });
    await giveCertificate(w, company.id);
    const capture: CaptureKey = { companyId: company.id, documentType: 'nfe', environment: 'homologation' };
    const now = await w.clock.now();
    await w.db.transaction((tx) => enableCapture(tx, { capture, options: () => ({}), now }));
    return new Sequence(taxId, capture, government, new CaptureDriver(w, government, capture, taxId));
  }

  now = () => w.clock.now();
  pass = async (ms: number) => this.driver.runUntil((await w.clock.now()) + ms);
  await = async (instant: number) => this.driver.sendUntil(instant);
  ask = (question: PointAsk): Promise<PointAnswer> => this.driver.ask(question);
  die = (death: Death) => this.driver.die(death);

  async request(key: string, type: string): Promise<OrderAnswer> {
    const rule = MANIFESTATION_RULES.get(type);
    assert.ok(rule);
    const { capture, taxId } = this;
    const justification = rule.justified ? 'Mercadoria recusada no recebimento' : null;
    const now = await w.clock.now();
    const answer = await w.db.transaction((tx) =>
      requestManifestation(tx, { capture, taxId, key, rule, justification, now }),
    );
    if (answer.ok) this.driver.wakeManifestations();
    return answer;
  }

  async setAwareness(minutes: number | null): Promise<void> {
    const now = await w.clock.now();
    const autoAwareness = { enabled: minutes !== null, minutesToWait: minutes ?? 5 };
    await w.db.transaction((tx) =>
      enableCapture(tx, { capture: this.capture, options: (current) => ({ ...current, autoAwareness }), now }),
    );
    const last = this.#awarenessOn.at(-1);
    if (last) last.to = Math.min(last.to, now);
    if (minutes !== null) this.#awarenessOn.push({ from: now, to: Number.POSITIVE_INFINITY });
  }

  async night(): Promise<void> {
    await run(lookForGaps, { after: null });
    await run(watchAwaitedXml);
  }

  /** What holds after every step. */
  async check(): Promise<void> {
    assertRulesKept(this);
    await assertEventsInOrder(this);
    const { ultNsu } = await rowOf(w, this.capture);
    assert.ok(ultNsu >= this.#cursor, `the cursor went back from ${this.#cursor} to ${ultNsu}`);
    this.#cursor = ultNsu;
  }

  /** Everything works again: in the end everything must be here, and be settled. */
  async end(): Promise<void> {
    const { government, driver } = this;
    government.clearScripts();
    government.setOutage(null);
    await this.#confirm();
    for (let day = 0; day < 14 && !(await this.#isComplete()); day++) {
      for (let hours = 0; hours < 24 && !(await this.#isComplete()); hours += 2) {
        await driver.runUntil((await w.clock.now()) + 2 * HOUR);
      }
      await this.night();
      await this.#confirm();
    }
    await this.check();
    await assertComplete(this);
    await assertSettled(this, this.#awarenessOn);
  }

  async #isComplete(): Promise<boolean> {
    const { pending } = await outlookOf(w.db, this.capture);
    return pending === 0 && (await storedOf(this)).length === truthOf(this).length;
  }

  /** A person's word for what waits for it. */
  async #confirm(): Promise<void> {
    const { rows } = await w.db.query<{ id: string }>(
      `select id from gaps where company_id = $1 and status in ('before_onboarding', 'awaiting_confirmation')`,
      [this.capture.companyId],
    );
    const now = await w.clock.now();
    for (const { id } of rows) await recoverGap(w.db, id, now);
  }
}

test(`${SEQUENCES} sequences of arrivals, questions, statements, refusals, outages, deaths and time`, async () => {
  const commands = sequencesOf({ maxCommands: 16 });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 130 }), commands, async (backlog, steps) => {
      let sequence: Sequence | null = null;
      await fc.asyncModelRun(async () => {
        sequence = await Sequence.begin(backlog);
        return { model: {}, real: sequence };
      }, steps);
      await (sequence as Sequence | null)?.end();
    }),
    { numRuns: SEQUENCES, endOnFailure: true, includeErrorInReport: true, ...replayed() },
  );
});
