import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import {
  type Activities,
  type ActivityDependencies,
  createActivities,
  type Failpoint,
} from '../../src/activities/index.js';
import type { QueryResult } from '../../src/model/activity-contract.js';
import type { Nsu } from '../../src/model/nsu.js';
import type { CaptureKey, CaptureOptions, DocumentType } from '../../src/model/words.js';
import { enableCapture } from '../../src/storage/capture-orders.js';
import type { CaptureRow } from '../../src/storage/capture-rows.js';
import { getCapture } from '../../src/storage/captures.js';
import { storeCertificate } from '../../src/storage/certificates.js';
import type { Database, Queryable } from '../../src/storage/database.js';
import { openObjectStore } from '../../src/storage/object-store/index.js';
import { PostgresClock } from '../../src/storage/postgres-clock.js';
import { newCompany, openDatabase } from '../storage/support.js';
import { scratchFolder } from '../support/scratch.js';
import { ScriptedGovernment } from './government.js';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

/** PostgreSQL's clock, and the hours that a test skipped. */
export class SkippingClock {
  ahead = 0;
  readonly #postgres: PostgresClock;
  constructor(db: Database) {
    this.#postgres = new PostgresClock(db);
  }
  async now(on?: Queryable): Promise<number> {
    return (await this.#postgres.now(on)) + this.ahead;
  }
  advance(ms: number): void {
    this.ahead += ms;
  }
}

/** Thrown at a failpoint: what a killed process leaves is what an attempt that ends here leaves. */
class Died extends Error {
  override readonly name = 'Died';
}

export interface World {
  readonly db: Database;
  readonly url: string;
  readonly objects: string;
  readonly clock: SkippingClock;
  readonly government: ScriptedGovernment;
  readonly woken: string[];
  readonly activities: Activities;
  readonly deps: ActivityDependencies;
  /** Activities of another process on the same database. */
  process(changed: Partial<ActivityDependencies>): Activities;
}

/** PostgreSQL, a file object store and a scripted government, for the tests of one file. */
export async function world(changed: Partial<ActivityDependencies> = {}): Promise<World> {
  const { db, url } = await openDatabase({ max: 12 });
  const objects = scratchFolder('objects');
  const clock = new SkippingClock(db);
  const government = new ScriptedGovernment();
  const woken: string[] = [];
  const deps: ActivityDependencies = {
    database: db,
    objectStore: await openObjectStore(`file://${objects}`),
    clock,
    timeScale: 1,
    services: { nfe: government, cte: government },
    openCertificate: ({ thumbprint }) => ({ keyPem: '', chainPem: '', thumbprint }),
    wakeEndpoints: (ids) => woken.push(...ids),
    comparesClocks: false,
    ...changed,
  };
  const process = (other: Partial<ActivityDependencies>) => createActivities({ ...deps, ...other });
  return { db, url, objects, clock, government, woken, deps, activities: process({}), process };
}

/** A company with a certificate and a capture, of NF-e if nothing else is said, that may ask at once. */
export async function newCapture(
  { db, clock }: Pick<World, 'db' | 'clock'>,
  {
    options = {},
    certificate = true,
    documentType = 'nfe',
  }: { options?: CaptureOptions; certificate?: boolean; documentType?: DocumentType } = {},
): Promise<CaptureKey> {
  const company = await newCompany(db);
  if (certificate) await giveCertificate({ db, clock }, company.id);
  const capture: CaptureKey = { companyId: company.id, documentType, environment: 'homologation' };
  const now = await clock.now();
  const enabled = await db.transaction((tx) => enableCapture(tx, { capture, options: () => options, now }));
  if (!enabled.ok) throw new Error(enabled.problem);
  return capture;
}

export async function giveCertificate(
  { db, clock }: Pick<World, 'db' | 'clock'>,
  companyId: string,
  valid: { from?: number; to?: number; thumbprint?: string } = {},
): Promise<void> {
  const now = await clock.now();
  const { rows } = await db.query<{ root: string; taxId: string }>(
    'select root, tax_id as "taxId" from companies where id = $1',
    [companyId],
  );
  await db.transaction((tx) =>
    storeCertificate(tx, {
      id: randomUUID(),
      companyId,
      root: rows[0]?.root ?? '',
      taxId: rows[0]?.taxId ?? '',
      subject: 'CN=Empresa Inventada',
      thumbprint: valid.thumbprint ?? randomUUID(),
      notBefore: valid.from ?? now - HOUR,
      notAfter: valid.to ?? now + 365 * 24 * HOUR,
      chain: '',
      keyId: 'k',
      wrappedKey: Buffer.alloc(1),
      sealed: Buffer.alloc(1),
      createdAt: now,
    }),
  );
}

export async function rowOf({ db }: Pick<World, 'db'>, capture: CaptureKey): Promise<CaptureRow> {
  const row = await getCapture(db, capture);
  if (!row) throw new Error('no such capture');
  return row;
}

/** One activity of a workflow: `attempt` runs it once more under the same ids, as Temporal's retries do. */
export class Activity {
  readonly #info: { readonly workflowId: string; readonly runId: string };
  readonly #activityId: string;
  #remembered: unknown;
  environment: MockActivityEnvironment;

  constructor(
    readonly input: { readonly capture: CaptureKey; readonly ultNsu: Nsu; readonly revision: number },
    activityId = '1',
    runId: string = randomUUID(),
  ) {
    this.#info = { workflowId: 'capture', runId };
    this.#activityId = activityId;
    this.environment = this.#fresh();
  }

  get runId(): string {
    return this.#info.runId;
  }

  attempt(activities: Activities, from?: 'stopped'): Promise<QueryResult> {
    this.environment = this.#fresh();
    if (from === 'stopped') this.environment.cancel('WORKER_SHUTDOWN');
    return this.environment.run(activities.government.queryDistribution, this.input);
  }

  #fresh(): MockActivityEnvironment {
    const info = {
      workflowExecution: this.#info,
      activityId: this.#activityId,
      heartbeatDetails: this.#remembered,
    };
    const environment = new MockActivityEnvironment(info, { logger: new DefaultLogger('ERROR') });
    // As Temporal does: the next attempt gets what the last heartbeat said.
    environment.on('heartbeat', (details: unknown) => {
      this.#remembered = details;
    });
    return environment;
  }
}

/** The activity that a workflow which knows the committed state would start. */
export async function nextActivity(w: Pick<World, 'db'>, capture: CaptureKey): Promise<Activity> {
  const { state, revision } = await rowOf(w, capture);
  return new Activity({ capture, ultNsu: state.ultNsu, revision });
}

/** One query by a workflow that knows the committed state. */
export async function query(
  w: World,
  capture: CaptureKey,
  activities: Activities = w.activities,
): Promise<QueryResult> {
  return (await nextActivity(w, capture)).attempt(activities);
}

export function committed(result: QueryResult): Extract<QueryResult, { kind: 'committed' }> {
  if (result.kind !== 'committed') throw new Error(`refused: ${JSON.stringify(result.refusal)}`);
  return result;
}

export function refused(result: QueryResult): Extract<QueryResult, { kind: 'refused' }> {
  if (result.kind !== 'refused') throw new Error(`committed: ${result.outcome}`);
  return result;
}

/** A failpoint that ends the attempt at one place. */
export function dyingAt(place: Failpoint): (name: Failpoint) => void {
  return (name) => {
    if (name === place) throw new Died(place);
  };
}

/** Runs an attempt that must die. */
export async function dies(attempt: Promise<unknown>): Promise<void> {
  try {
    await attempt;
  } catch (error) {
    if (error instanceof ApplicationFailure && error.type === 'Died') return;
    throw error;
  }
  throw new Error('the attempt did not die');
}

export async function count({ db }: Pick<World, 'db'>, table: string, companyId: string): Promise<number> {
  const { rows } = await db.query<{ n: number }>(`select count(*)::int as n from ${table} where company_id = $1`, [
    companyId,
  ]);
  return rows[0]?.n ?? 0;
}

/** Runs any other activity. */
export function run<In extends unknown[], Out>(activity: (...input: In) => Promise<Out>, ...input: In): Promise<Out> {
  return new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') }).run(activity, ...input);
}

/** Open alerts of a company, by code. */
export async function alertsOf({ db }: Pick<World, 'db'>, companyId: string): Promise<string[]> {
  const { rows } = await db.query<{ code: string }>(
    'select code from alerts where company_id = $1 and closed_at is null order by code',
    [companyId],
  );
  return rows.map(({ code }) => code);
}

/** The events of a company, in order, without alerts' details. */
export async function eventsOf({ db }: Pick<World, 'db'>, companyId: string): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select type || '/' || action as name from events where company_id = $1 order by sequence`,
    [companyId],
  );
  return rows.map(({ name }) => name);
}
