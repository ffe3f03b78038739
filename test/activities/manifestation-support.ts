import { randomUUID } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { ManifestationDependencies } from '../../src/activities/manifestation/manifestation-dependencies.js';
import { nfeEventService } from '../../src/activities/manifestation/nfe-event-service.js';
import { createSendManifestations } from '../../src/activities/manifestation/send-manifestations.js';
import type { EventAnswer } from '../../src/government/event-answer.js';
import { type NfeEvents, type NfeEventsCall, readEventAnswer } from '../../src/government/nfe-events.js';
import { MANIFESTATION_RULES } from '../../src/model/manifestation.js';
import type { SendResult } from '../../src/model/manifestation-contract.js';
import type { CaptureKey } from '../../src/model/words.js';
import { getCompany } from '../../src/storage/companies.js';
import { requestManifestation } from '../../src/storage/manifestation-orders.js';
import { getManifestation, listManifestations, type ManifestationRow } from '../../src/storage/manifestations.js';
import { openObjectStore } from '../../src/storage/object-store/index.js';
import { issue, makeRoot } from '../certificates/make-certificates.js';
import { openDatabase } from '../storage/support.js';
import { scratchFolder } from '../support/scratch.js';
import { SkippingClock, type World } from './support.js';

/** What was said about one event. */
export interface Said {
  readonly id: string;
  readonly cStat: string;
  /** Left out of the answer. */
  readonly silent?: boolean;
}

/** An event service that answers as it is told, and writes down the Ids of every request that left. */
class ScriptedEvents implements NfeEvents {
  readonly requests: {
    readonly authority: string;
    readonly ids: readonly string[];
    readonly events: readonly string[];
  }[] = [];
  /** Status of each event by its Id; a function may also answer for the whole request. */
  script: (ids: readonly string[], call: NfeEventsCall) => readonly Said[] | EventAnswer | Promise<EventAnswer> = (
    ids,
  ) => ids.map((id) => ({ id, cStat: '135' }));

  async send(call: NfeEventsCall): Promise<EventAnswer> {
    try {
      call.beforeSend?.();
    } catch (error) {
      return silence('not_sent', error instanceof Error ? error.message : '');
    }
    const ids = call.events.map(idOf);
    this.requests.push({ authority: call.authority, ids, events: call.events });
    const said = await this.script(ids, call);
    return 'outcome' in said ? said : answer(said);
  }

  /** How often each event left. */
  get sent(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const id of this.requests.flatMap(({ ids }) => ids)) counts[id] = (counts[id] ?? 0) + 1;
    return counts;
  }
}

export const idOf = (event: string) => /Id="(ID\w{52})"/.exec(event)?.[1] ?? '';

/** An answer about each event; as bytes, read as the wire reads them. */
export function answer(said: readonly Said[], cStat = '128'): EventAnswer {
  const results = said
    .filter(({ silent }) => !silent)
    .map(({ id, cStat: status }) => {
      const registered = ['135', '136', '155'].includes(status);
      return (
        `<retEvento versao="1.00"><infEvento><tpAmb>2</tpAmb><verAplic>AN_1</verAplic><cOrgao>91</cOrgao><cStat>${status}</cStat>` +
        `<xMotivo>Texto do ${status}</xMotivo><chNFe>${id.slice(8, 52)}</chNFe><tpEvento>${id.slice(2, 8)}</tpEvento><xEvento>Evento</xEvento>` +
        `<nSeqEvento>${Number(id.slice(52))}</nSeqEvento><dhRegEvento>2026-11-30T09:00:02-03:00</dhRegEvento>` +
        `${registered ? `<nProt>891${id.slice(-14, -2)}</nProt>` : ''}</infEvento></retEvento>`
      );
    });
  return whole(
    `<retEnvEvento xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.00"><idLote>1</idLote><tpAmb>2</tpAmb><verAplic>AN_1</verAplic>` +
      `<cOrgao>91</cOrgao><cStat>${cStat}</cStat><xMotivo>Texto do lote ${cStat}</xMotivo>${results.join('')}</retEnvEvento>`,
  );
}

/** Any body as an answer. */
export function whole(body: string, status = 200): EventAnswer {
  const bytes = Buffer.from(body);
  const raw = { status, contentType: 'application/soap+xml', headers: {}, body: bytes };
  return { ...readEventAnswer(bytes, raw), raw };
}

export function silence(kind: 'not_sent' | 'unknown', reason = 'no answer'): EventAnswer {
  return {
    outcome: { kind, reason },
    results: [],
    items: [],
    statusText: reason,
    serverTime: null,
    warnings: [],
    raw: null,
  };
}

const root = makeRoot('manifestation-root');
const leaf = issue('manifestation-leaf', root);
const other = issue('manifestation-other', root);

export interface EventWorld {
  readonly db: Awaited<ReturnType<typeof openDatabase>>['db'];
  readonly clock: SkippingClock;
  readonly events: ScriptedEvents;
  readonly deps: ManifestationDependencies;
  readonly woken: string[];
  /** Signs with the second certificate from now on. */
  useOther: boolean;
}

/**
 * PostgreSQL, a file object store, a real key and a scripted event service, for the tests of one file.
 *
 * @param base shares database, clock and objects with a world that captures
 */
export async function eventWorld(base?: World): Promise<EventWorld> {
  const db = base?.db ?? (await openDatabase({ max: 12 })).db;
  const clock = base?.clock ?? new SkippingClock(db);
  const events = new ScriptedEvents();
  const woken: string[] = [];
  const world: EventWorld = {
    db,
    clock,
    events,
    woken,
    useOther: false,
    deps: {
      database: db,
      objectStore: base?.deps.objectStore ?? (await openObjectStore(`file://${scratchFolder('event-objects')}`)),
      clock,
      timeScale: 1,
      eventServices: { nfe: nfeEventService(events, 'Malote test') },
      openCertificate: ({ thumbprint }) => {
        const pair = world.useOther ? other : leaf;
        return { keyPem: pair.keyPem, chainPem: pair.certificatePem, thumbprint };
      },
      wakeEndpoints: (ids) => woken.push(...ids),
    },
  };
  return world;
}

/** One activity of a manifestation workflow; `attempt` runs it once more under the same ids, as Temporal's retries do. */
export class SendActivity {
  readonly #info = { workflowId: 'manifestation', runId: randomUUID() };

  constructor(readonly capture: CaptureKey) {}

  attempt(deps: ManifestationDependencies, from?: 'stopped'): Promise<SendResult> {
    const environment = new MockActivityEnvironment(
      { workflowExecution: this.#info, activityId: '1' },
      { logger: new DefaultLogger('ERROR') },
    );
    environment.on('heartbeat', () => {});
    if (from === 'stopped') environment.cancel('WORKER_SHUTDOWN');
    return environment.run(createSendManifestations(deps), { capture: this.capture });
  }
}

export const sendDue = ({ deps }: EventWorld, capture: CaptureKey): Promise<SendResult> =>
  new SendActivity(capture).attempt(deps);

/** A request of a person, taken. */
export async function requested(
  { db, clock }: Pick<EventWorld, 'db' | 'clock'>,
  capture: CaptureKey,
  key: string,
  type: string,
  more: { justification?: string; fields?: Record<string, unknown> } = {},
): Promise<ManifestationRow> {
  const rule = MANIFESTATION_RULES.get(type);
  const company = await getCompany(db, capture.companyId);
  if (!rule || !company) throw new Error('no such type or company');
  const now = await clock.now();
  const answered = await db.transaction((tx) =>
    requestManifestation(tx, { capture, taxId: company.taxId, key, rule, now, ...more }),
  );
  if (!answered.ok) throw new Error(answered.problem);
  return answered.row;
}

export async function manifestation({ db }: Pick<EventWorld, 'db'>, id: string): Promise<ManifestationRow> {
  const row = await getManifestation(db, id);
  if (!row) throw new Error('no such manifestation');
  return row;
}

export async function manifestationsOf(
  { db }: Pick<EventWorld, 'db'>,
  capture: CaptureKey,
): Promise<ManifestationRow[]> {
  return (await listManifestations(db, { companyId: capture.companyId }, { limit: 200 })).rows;
}
