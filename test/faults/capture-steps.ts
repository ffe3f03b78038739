import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Failpoint } from '../../src/activities/index.js';
import { buildAccessKey } from '../../src/documents/access-key.js';
import { AWARENESS_TYPE, CONCLUSIVE_TYPES, MANIFESTATION_RULES } from '../../src/model/manifestation.js';
import type { OrderProblem } from '../../src/model/manifestation-order.js';
import { addNsu, ZERO_NSU } from '../../src/model/nsu.js';
import type { ScriptedAnswerInput } from '../../src/simulator/scripts/scripted-answer.js';
import type { CallKind } from '../../src/simulator/scripts/scripts.js';
import type { OrderAnswer } from '../../src/storage/manifestation-orders.js';
import { getManifestation } from '../../src/storage/manifestations.js';
import type { Death } from './capture-driver.js';
import type { Scene } from './capture-scene.js';

/** Everything that can happen to a capture and its manifestations, as commands of fast-check. */

const MINUTE = 60_000;

type Model = Record<string, never>;
/** A scene that can say whether everything still is as it must be. */
export interface Judged extends Scene {
  check(): Promise<void>;
}
abstract class Step implements fc.AsyncCommand<Model, Judged> {
  check = () => true;
  abstract perform(scene: Judged): Promise<void>;
  async run(_: Model, scene: Judged): Promise<void> {
    await this.perform(scene);
    await scene.check();
  }
  abstract toString(): string;
}

class Arrive extends Step {
  constructor(
    readonly count: number,
    readonly every: number | null,
    readonly exist: boolean,
  ) {
    super();
  }
  async perform({ government, taxId }: Scene): Promise<void> {
    const { every, exist } = this;
    // The last number is always given out: a queue that ends in numbers which no page brings ends in a 137 whose pointer NF-e does not take.
    const count = every !== null && this.count % every === 0 ? this.count + 1 : this.count;
    government.companies.arrive({ taxId, count, ...(every !== null && { gaps: { every, exist } }) });
  }
  toString = () =>
    `arrive ${this.count}${this.every ? `, every ${this.every}th ${this.exist ? 'left out' : 'missing'}` : ''}`;
}

class Pass extends Step {
  constructor(readonly minutes: number) {
    super();
  }
  async perform(scene: Scene): Promise<void> {
    await scene.pass(this.minutes * MINUTE);
  }
  toString = () => `pass ${this.minutes} min`;
}

/** Asks several times in a row; whoever is told when to come again comes then, and is served. */
class Ask extends Step {
  constructor(
    readonly first: number,
    readonly times: number,
    readonly byKey: boolean,
  ) {
    super();
  }
  async perform(scene: Scene): Promise<void> {
    const last = highest(scene);
    for (let i = 0; i < this.times; i++) {
      const nsu = addNsu(ZERO_NSU, Math.min(1 + Math.floor(this.first * last) + i, last + 2));
      const key = this.byKey ? keyAt(scene, nsu) : null;
      const question = key === null ? { nsu } : { key };
      const answer = await scene.ask(question);
      if (answer.kind !== 'refused' || answer.refusal.reason !== 'quota') continue;
      await scene.await(answer.refusal.until);
      const again = await scene.ask(question);
      assert.ok(again.kind !== 'refused' || again.refusal.reason !== 'quota', 'the announced slot was free, and kept');
      return;
    }
  }
  toString = () => `ask ${this.times} ${this.byKey ? 'keys' : 'NSUs'} from ${this.first.toFixed(2)}`;
}

const highest = ({ government, taxId }: Scene) => Number(government.companies.get({ taxId }).maxNsu);

/** The key of the note at a number, of its summary, or of the note that an event speaks of; null where there is none. */
function keyAt({ government, taxId }: Scene, nsu: ReturnType<typeof addNsu>): string | null {
  try {
    const content = JSON.stringify(government.companies.document({ taxId, nsu }));
    return /(?:Id=\\"NFe|<chNFe>)([0-9A-Z]{44})/.exec(content)?.[1] ?? null;
  } catch {
    return null;
  }
}

class Fault extends Step {
  constructor(
    readonly answer: ScriptedAnswerInput,
    readonly kind: CallKind | undefined,
  ) {
    super();
  }
  async perform({ government, taxId }: Scene): Promise<void> {
    government.script(this.answer, taxId, this.kind);
  }
  toString = () => `next ${this.kind ?? 'call'}: ${JSON.stringify(this.answer)}`;
}

class OutOfService extends Step {
  constructor(
    readonly mode: 'refuse' | 'hang' | '108' | '109',
    readonly minutes: number,
  ) {
    super();
  }
  async perform(scene: Scene): Promise<void> {
    scene.government.setOutage(this.mode);
    await scene.pass(this.minutes * MINUTE);
    scene.government.setOutage(null);
  }
  toString = () => `outage ${this.mode} for ${this.minutes} min`;
}

class Die extends Step {
  constructor(readonly death: Death) {
    super();
  }
  async perform(scene: Scene): Promise<void> {
    scene.die(this.death);
  }
  toString = () => {
    const { of, at, inNewRun } = this.death;
    return `the next call of ${of} dies at ${at}${inNewRun ? ', a new run goes on' : ''}`;
  };
}

class Steal extends Step {
  constructor(readonly count: number) {
    super();
  }
  async perform({ government, taxId }: Scene): Promise<void> {
    government.companies.steal({ taxId, count: this.count });
  }
  toString = () => `another program takes ${this.count}`;
}

class Night extends Step {
  async perform(scene: Scene): Promise<void> {
    await scene.night();
  }
  toString = () => 'night';
}

class Awareness extends Step {
  constructor(readonly minutes: number | null) {
    super();
  }
  async perform(scene: Scene): Promise<void> {
    await scene.setAwareness(this.minutes);
  }
  toString = () => (this.minutes === null ? 'no automatic Awareness' : `automatic Awareness after ${this.minutes} min`);
}

const SUBJECTS = ['any', 'cancelled', 'own', 'unknown'] as const;

/** Asks for a manifestation of some notes in a row, each perhaps twice. */
class Manifest extends Step {
  constructor(
    readonly type: string,
    readonly subject: (typeof SUBJECTS)[number],
    readonly first: number,
    readonly notes: number,
    readonly twice: boolean,
  ) {
    super();
  }
  async perform(scene: Scene): Promise<void> {
    for (const key of this.#keys(scene)) {
      const answer = await requested(scene, key, this.type);
      if (answer === null || !this.twice) continue;
      const again = await scene.request(key, this.type);
      // The government may have rejected it meanwhile: then it is asked for anew.
      const isRejected = (await getManifestation(scene.database, answer.row.id))?.status === 'rejected';
      if (isRejected) continue;
      assert.deepEqual(again.ok && [again.made, again.row.id], [false, answer.row.id], 'what was taken is the same');
    }
  }

  #keys(scene: Scene): Set<string> {
    if (this.subject === 'unknown') return new Set([unknownKey(scene, this.first)]);
    const last = highest(scene);
    const start = Math.floor(this.first * last);
    const keys = new Set<string>();
    for (let i = 0; i < Math.min(last, 60) && keys.size < this.notes; i++) {
      const key = keyAt(scene, addNsu(ZERO_NSU, 1 + ((start + i) % last)));
      const found = key === null ? null : noteOf(scene, key);
      if (key === null) continue;
      const isDead = found !== null && (found.cancelled || found.note.situation !== '1');
      const isOwn = found?.role === 'issuer';
      if (this.subject === 'any' || (this.subject === 'own' ? isOwn : isDead)) keys.add(key);
    }
    return keys;
  }
  toString = () =>
    `${this.type} of ${this.notes} notes (${this.subject}) from ${this.first.toFixed(2)}${this.twice ? ', twice' : ''}`;
}

/** Says one thing after the other about a note that came lately: the last one counts, and each may be said twice. */
class ChangeOfMind extends Step {
  constructor(readonly types: readonly string[]) {
    super();
  }
  async perform(scene: Judged): Promise<void> {
    const last = highest(scene);
    const key = last === 0 ? null : keyAt(scene, addNsu(ZERO_NSU, last));
    if (key === null) return;
    for (const type of this.types) {
      await requested(scene, key, type);
      await scene.pass(2 * MINUTE);
      await scene.check();
    }
  }
  toString = () => `about the last note: ${this.types.join(', then ')}`;
}

/** Null: refused, and rightly so. */
async function requested(scene: Scene, key: string, type: string): Promise<Extract<OrderAnswer, { ok: true }> | null> {
  const isPending = await otherIsPending(scene, key, type);
  const answer = await scene.request(key, type);
  if (answer.ok) return answer;
  assertCertain(scene, key, type, answer.problem, isPending);
  return null;
}

const noteOf = ({ government, taxId }: Scene, key: string) => government.companies.note({ taxId, key });

/** A valid key of a note that nobody has, another one for every company. */
function unknownKey({ taxId }: Scene, fraction: number): string {
  return buildAccessKey({
    ufCode: '35',
    yearMonth: '2611',
    taxId: '11222333000181',
    model: '55',
    series: '77',
    number: String(1 + Math.floor(fraction * 999_999)),
    emissionType: '1',
    randomCode: taxId.slice(0, 8),
  });
}

/** Refused is only what the government would certainly refuse: by its own truth. */
function assertCertain(scene: Scene, key: string, type: string, problem: OrderProblem, isPending: boolean): void {
  const found = noteOf(scene, key);
  const said = scene.government.events.about('homologation', scene.taxId, key);
  const times = MANIFESTATION_RULES.get(type)?.times ?? 0;
  const certain: Partial<Record<OrderProblem, boolean>> = {
    own_document: found?.role === 'issuer',
    not_the_recipient: found?.role === 'carrier' || found?.role === 'autXML',
    note_cancelled: found?.cancelled === true || found?.note.situation === '3',
    note_denied: found?.note.situation === '2',
    conclusive_exists: type === AWARENESS_TYPE && said.some((each) => CONCLUSIVE_TYPES.includes(each.type)),
    another_pending: isPending,
    limit_reached: said.filter((each) => each.type === type).length >= times,
  };
  assert.ok(certain[problem], `refused ${type} without reason: ${problem}`);
}

async function otherIsPending({ database, capture }: Scene, key: string, type: string): Promise<boolean> {
  const { rows } = await database.query(
    `select from manifestations where company_id = $1 and key = $2 and type <> $3 and status = 'pending' limit 1`,
    [capture.companyId, key, type],
  );
  return rows.length > 0;
}

// Not after_send: there the government has counted a page that nobody received, and refuses its repeat (docs/government-call.md).
const DEATHS: Failpoint[] = [
  'before_record',
  'after_record',
  'before_send',
  'after_archive',
  'inside_transaction',
  'after_commit',
];
const FAULTS: ScriptedAnswerInput[] = [
  { type: 'reset', counted: true },
  { type: 'reset', counted: false },
  { type: 'cut' },
  { type: 'html', httpStatus: 502 },
  { type: 'soap_fault' },
  { type: 'empty' },
  { type: 'status', cStat: '108' },
  { type: 'status', cStat: '589' },
  { type: 'status', cStat: '593' },
  { type: 'status', cStat: '999' },
  { type: 'corrupt', how: 'cut_gzip', item: 0 },
  { type: 'corrupt', how: 'not_base64', item: 2 },
  { type: 'page', size: 7 },
  { type: 'reorder' },
  { type: 'standstill' },
];
/** 656 without fault of ours. */
const REFUSALS: [ScriptedAnswerInput, CallKind][] = [
  [{ type: 'misuse', pointer: 0 }, 'consNSU'],
  [{ type: 'misuse', pointer: 0 }, 'consChNFe'],
  [{ type: 'misuse', pointer: 0 }, 'distNSU'],
  [{ type: 'misuse', pointer: 12 }, 'distNSU'],
];
const EVENT_FAULTS: ScriptedAnswerInput[] = [
  { type: 'reset', counted: true },
  { type: 'reset', counted: true },
  { type: 'reset', counted: false },
  { type: 'cut' },
  { type: 'html', httpStatus: 502 },
  { type: 'soap_fault' },
  { type: 'empty' },
  { type: 'status', cStat: '108' },
  { type: 'status', cStat: '109' },
  { type: 'status', cStat: '999' },
  { type: 'status', cStat: '215' },
  { type: 'status', cStat: '225' },
  { type: 'status', cStat: '656' },
  { type: 'event_status', cStat: null },
  { type: 'event_status', cStat: '999' },
  { type: 'event_status', cStat: '136' },
  { type: 'event_status', cStat: '155' },
];

const fraction = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
const minutes = (max: number) => fc.integer({ min: 1, max }).map((each) => new Pass(each));
const TYPES = [...CONCLUSIVE_TYPES, AWARENESS_TYPE];

export interface Sequences {
  readonly maxCommands: number;
  /** The government is reached over a real network: no call may hang. */
  readonly real?: boolean;
}

/** Sequences of commands. */
export function sequencesOf({ maxCommands, real = false }: Sequences) {
  const deaths = fc
    .record({ of: fc.constant('capture' as const), at: fc.constantFrom(...DEATHS), inNewRun: fc.boolean() })
    .map((death) => new Die(death));
  const eventDeaths = fc
    .record({
      of: fc.constant('events' as const),
      at: fc.constantFrom<Failpoint>(...DEATHS, 'after_send'),
      inNewRun: fc.boolean(),
    })
    .map((death) => new Die(death));
  const modes = real ? (['refuse', '108', '109'] as const) : (['refuse', 'hang', '108', '109'] as const);
  const manifest = fc
    .tuple(
      fc.constantFrom(...TYPES),
      fc.constantFrom(...SUBJECTS, 'any' as const, 'any' as const),
      // Often of the same notes, so that statements replace each other.
      fc.oneof(fc.constantFrom(0, 0.5), fraction),
      fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 24 })),
      fc.boolean(),
    )
    .map((given) => new Manifest(...given));
  return fc.commands(
    [
      fc
        .tuple(fc.integer({ min: 1, max: 70 }), fc.option(fc.integer({ min: 2, max: 12 })), fc.boolean())
        .map((given) => new Arrive(...given)),
      minutes(200),
      minutes(90),
      minutes(20),
      fc.tuple(fraction, fc.integer({ min: 1, max: 26 }), fc.boolean()).map((given) => new Ask(...given)),
      fc
        .tuple(fc.constantFrom(...FAULTS), fc.constantFrom<CallKind>('distNSU', 'distNSU', 'consNSU', 'consChNFe'))
        .map((given) => new Fault(...given)),
      fc.constantFrom(...REFUSALS).map((given) => new Fault(...given)),
      fc.tuple(fc.constantFrom(...modes), fc.integer({ min: 1, max: 40 })).map((given) => new OutOfService(...given)),
      deaths,
      fc.integer({ min: 1, max: 30 }).map((count) => new Steal(count)),
      fc.constant(new Night()),
      manifest,
      manifest,
      manifest,
      fc.constantFrom(...EVENT_FAULTS).map((answer) => new Fault(answer, 'nfeRecepcaoEvento')),
      eventDeaths,
      fc
        .array(fc.constantFrom(...CONCLUSIVE_TYPES), { minLength: 3, maxLength: 7 })
        .map((types) => new ChangeOfMind(types)),
      fc.option(fc.integer({ min: 5, max: 60 }), { freq: 3 }).map((each) => new Awareness(each)),
    ],
    { maxCommands },
  );
}
