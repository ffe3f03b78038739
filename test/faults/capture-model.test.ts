import { test } from 'node:test';
import { createNightlyGaps } from '../../src/activities/background/nightly-gaps.js';
import { createWatchAwaitedXml } from '../../src/activities/manifestation/awaited-xml.js';
import { cnpjCheckDigits } from '../../src/documents/index.js';
import type { PointAnswer, PointAsk } from '../../src/model/point-query.js';
import type { CaptureKey } from '../../src/model/words.js';
import { enableCapture } from '../../src/storage/capture-orders.js';
import { giveCertificate, run, world } from '../activities/support.js';
import { newCompany } from '../storage/support.js';
import { CaptureDriver, type Death } from './capture-driver.js';
import { assertSequences, Sequence } from './capture-sequence.js';
import { InProcessGovernment } from './in-process-government.js';

/**
 * A capture and its manifestations under everything that can happen to them, in any order: arrivals, missing numbers, questions and
 * statements of people, automatic Awareness, refusals, lost answers, outages, another program, deaths of the process, nights. Whatever
 * the sequence, the government's own journal shows no broken rule, the hour's quota is kept to the millisecond, every event left in one
 * form only, and in the end every document is here once and was told of once.
 */

const SEQUENCES = Number(process.env.MALOTE_MODEL_RUNS ?? 200);
const w = await world();
const { lookForGaps } = createNightlyGaps({ ...w.deps, wakeCapture: async () => {} });
const { watchAwaitedXml } = createWatchAwaitedXml(w.deps);

/** Over activities, with a driver in the place of Temporal and the government in this process. */
class DrivenSequence extends Sequence {
  readonly #driver: CaptureDriver;

  private constructor(taxId: string, capture: CaptureKey, government: InProcessGovernment) {
    super(taxId, capture, w.db, government);
    this.#driver = new CaptureDriver(w, government, capture, taxId);
  }

  static #companies = 0;

  static async begin(backlog: number): Promise<DrivenSequence> {
    DrivenSequence.#companies += 1;
    const first12 = `${String(40_000_000 + DrivenSequence.#companies)}0001`;
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
    return new DrivenSequence(taxId, capture, government);
  }

  now = () => w.clock.now();
  pass = async (ms: number) => this.#driver.runUntil((await w.clock.now()) + ms);
  await = (instant: number) => this.#driver.sendUntil(instant);
  ask = (question: PointAsk): Promise<PointAnswer> => this.#driver.ask(question);
  die = (death: Death) => this.#driver.die(death);
  protected wakeManifestations = async () => this.#driver.wakeManifestations();

  async night(): Promise<void> {
    await run(lookForGaps, { after: null });
    await run(watchAwaitedXml);
  }
}

test(`${SEQUENCES} sequences of arrivals, questions, statements, refusals, outages, deaths and time`, () =>
  assertSequences(SEQUENCES, DrivenSequence.begin, { maxCommands: 16 }));
