import { Client } from '@temporalio/client';
import { type NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { createEraseCompany } from '../activities/background/erase-company.js';
import { createMailAlerts, type MailDependencies } from '../activities/background/mail-alerts.js';
import { createNightlyGaps } from '../activities/background/nightly-gaps.js';
import { createStartOverdue } from '../activities/background/start-overdue.js';
import { createWatchAlerts } from '../activities/background/watch-alerts.js';
import { createDeliveryActivities } from '../activities/delivery/deliver-due.js';
import { createExportActivities, type ExportDependencies } from '../activities/exports/index.js';
import { createImportActivities } from '../activities/imports/index.js';
import {
  type ActivityDependencies,
  type CallObserver,
  createActivities,
  distributionService,
  nfseService,
  type TransactionClock,
} from '../activities/index.js';
import {
  createManifestationActivities,
  cteEventService,
  nfeEventService,
  nfseEventService,
} from '../activities/manifestation/manifestations.js';
import type { Keyring } from '../certificates/keyring.js';
import { webhookSecretBox } from '../certificates/secret-box.js';
import { taxIdMac } from '../certificates/tax-id-mac.js';
import { openKey } from '../certificates/vault.js';
import { WorkflowMessenger } from '../client/workflow-messenger.js';
import type { GovernmentAddresses } from '../government/addresses.js';
import { createAdn } from '../government/adn.js';
import { createCteDistribution } from '../government/cte-distribution.js';
import { createCteEvents } from '../government/cte-events.js';
import { createNfeDistribution } from '../government/nfe-distribution.js';
import { createNfeEvents } from '../government/nfe-events.js';
import { createPatientGet } from '../government/patient-get.js';
import { createSefin } from '../government/sefin.js';
import { createSefinEvents } from '../government/sefin-events.js';
import type { Transport } from '../government/types.js';
import { TASK_QUEUES } from '../model/activity-contract.js';
import { renderPdf } from '../pdf/index.js';
import { VERSION } from '../platform/version.js';
import type { Database } from '../storage/database.js';
import type { ObjectStore } from '../storage/object-store/index.js';
import { PostgresClock } from '../storage/postgres-clock.js';
import { EndpointWaker } from '../webhooks/endpoint-waker.js';
import type { WebhookSender } from '../webhooks/sender.js';
import { workflowSource } from './workflow-source.js';

/** What the workers of one process are made of. Nothing here is closed by them. */
export interface WorkerParts {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly database: Database;
  readonly objectStore: ObjectStore;
  readonly keyring: Keyring;
  readonly transport: Transport;
  readonly addresses: GovernmentAddresses;
  readonly sender: Pick<WebhookSender, 'send'>;
  /** Government calls per second over all workers of the installation. The last worker to say it is heard, so all must say the same. */
  readonly rates: { readonly nfe: number; readonly cte: number; readonly nfse: number };
  readonly timeScale: number;
  readonly observer?: CallObserver;
  readonly onWakeError?: (endpointId: string, error: unknown) => void;
  /** Tells operators of alerts. Default: no mails. */
  readonly sendMail?: MailDependencies['sendMail'];
  readonly onMail?: NonNullable<MailDependencies['onMail']>;
  /** Default: PostgreSQL's. Time-skipping tests give another. */
  readonly clock?: TransactionClock;
  /** For tests: everything else that the activities take. */
  readonly activityOptions?: Partial<Pick<ActivityDependencies, 'limits' | 'failpoint' | 'comparesClocks'>>;
  /** For tests: see {@link PatientGetOptions}. */
  readonly pausesMs?: readonly number[];
  readonly exportOptions?: Pick<ExportDependencies, 'partDocuments'>;
}

/** Longer than any call's limit: a stop waits for calls that were sent (design.md section 4, rule 7). */
const GRACE_MS = 330_000;
/** Government calls in the air per process. The rate limit is the real bound; this one keeps memory flat. */
const CALLS_AT_ONCE = 20;
const DELIVERY_RUNS_AT_ONCE = 50;
const ROWS_AT_ONCE = 20;
/** Each may take a hundred megabytes. */
const BULK_STEPS_AT_ONCE = 2;
/** Idle captures wake once an hour, so few need to stay in memory: most wake-ups replay a short history. */
const CACHED_WORKFLOWS = 500;

/** The workers of one process. */
export interface Workers {
  /** Resolves when all workers have stopped; rejects when one fails. */
  run(): Promise<void>;
  /** Takes up no more work, waits for what is in hand. */
  shutdown(): void;
}

/** The activities of one process, by the queue that they are served on. */
export function activitiesOf(parts: WorkerParts) {
  const { database, clock = new PostgresClock(database) } = parts;
  const messenger = new WorkflowMessenger(new Client({ connection: parts.connection, namespace: parts.namespace }));
  const waker = new EndpointWaker({
    wake: (endpointId) => messenger.wakeDelivery(endpointId),
    ...(parts.onWakeError && { onError: parts.onWakeError }),
  });
  const common = {
    ...parts.activityOptions,
    database,
    objectStore: parts.objectStore,
    clock,
    timeScale: parts.timeScale,
    // The call's transaction has the row at hand, and opening takes microseconds: no second connection, no key kept in memory.
    openCertificate: (row) => ({ ...openKey(parts.keyring, row.id, row), holderTaxId: row.taxId }),
    wakeEndpoints: (ids) => waker.wake(ids),
    // Without Temporal there is nobody to wake; housekeeping finds what is due two minutes later.
    wakeManifestations: (capture) => void messenger.wakeManifestation(capture).catch(() => {}),
    wakeCapture: (capture) => void messenger.wakeCapture(capture).catch(() => {}),
    ...(parts.observer && { observer: parts.observer }),
  } satisfies Partial<ActivityDependencies>;
  const { timeScale, pausesMs } = parts;
  const get = createPatientGet(parts.transport, { timeScale, ...(pausesMs && { pausesMs }) });
  const activities = createActivities({
    ...common,
    services: {
      nfe: distributionService(createNfeDistribution(parts)),
      cte: distributionService(createCteDistribution(parts)),
      nfse: nfseService(createAdn({ ...parts, get }), createSefin({ ...parts, get })),
    },
  });
  const application = `Malote ${VERSION}`.slice(0, 20);
  const manifestations = createManifestationActivities({
    ...common,
    eventServices: {
      nfe: nfeEventService(createNfeEvents(parts), application),
      cte: cteEventService(createCteEvents(parts)),
      nfse: nfseEventService(createSefinEvents({ ...parts, get }), application),
    },
  });
  const { startOverdue } = createStartOverdue({
    database,
    clock,
    wakeCapture: (capture) => messenger.wakeCapture(capture),
    wakeEndpoint: (endpointId) => messenger.wakeDelivery(endpointId),
    wakeManifestation: (capture) => messenger.wakeManifestation(capture),
    wakeErasure: (companyId) => messenger.wakeErasure(companyId),
    startExport: (input) => messenger.startExport(input),
    startImport: (input) => messenger.startImport(input),
    timeScale: parts.timeScale,
  });
  const exports = createExportActivities({ ...common, ...parts.exportOptions, renderPdf });
  const imports = createImportActivities(common);
  const alerts = {
    ...createWatchAlerts(common),
    ...createMailAlerts({
      database,
      clock,
      sendMail: parts.sendMail ?? null,
      ...(parts.onMail && { onMail: parts.onMail }),
    }),
  };
  const delivery = createDeliveryActivities({
    database,
    clock,
    box: webhookSecretBox(parts.keyring),
    sender: parts.sender,
    wakeEndpoints: (ids) => waker.wake(ids),
  });
  return {
    government: { ...activities.government, ...manifestations.government },
    webhooks: { ...delivery },
    background: {
      ...activities.captureRow,
      ...activities.archives,
      ...createNightlyGaps({ ...common, wakeCapture: (capture) => messenger.wakeCapture(capture) }),
      ...activities.housekeeping,
      ...manifestations.background,
      ...createEraseCompany({ ...common, taxIdMac: (taxId) => taxIdMac(parts.keyring, taxId) }),
      ...alerts,
      ...exports.background,
      ...imports.background,
      startOverdue,
    },
    bulk: { ...exports.bulk, ...imports.bulk },
    /** Sends the wakes that wait for their interval. */
    close: () => waker.close(),
  };
}

/** One worker per task queue: workflows, government calls by document type, webhooks, short work in the background. */
export async function createWorkers(parts: WorkerParts): Promise<Workers> {
  const activities = activitiesOf(parts);
  const create = (taskQueue: string, options: Omit<WorkerOptions, 'taskQueue'>) =>
    Worker.create({
      connection: parts.connection,
      namespace: parts.namespace,
      taskQueue,
      shutdownGraceTime: GRACE_MS,
      shutdownForceTime: GRACE_MS + 30_000,
      ...options,
    });
  const workers = await Promise.all([
    create(TASK_QUEUES.workflows, { ...workflowSource(), maxCachedWorkflows: CACHED_WORKFLOWS }),
    ...(['nfe', 'cte', 'nfse'] as const).map((documentType) =>
      create(TASK_QUEUES[documentType], {
        activities: activities.government,
        maxTaskQueueActivitiesPerSecond: parts.rates[documentType],
        maxConcurrentActivityTaskExecutions: CALLS_AT_ONCE,
      }),
    ),
    create(TASK_QUEUES.webhooks, {
      activities: activities.webhooks,
      maxConcurrentActivityTaskExecutions: DELIVERY_RUNS_AT_ONCE,
    }),
    create(TASK_QUEUES.background, {
      activities: activities.background,
      maxConcurrentActivityTaskExecutions: ROWS_AT_ONCE,
    }),
    create(TASK_QUEUES.bulk, {
      activities: activities.bulk,
      maxConcurrentActivityTaskExecutions: BULK_STEPS_AT_ONCE,
    }),
  ]);
  return together(workers, activities.close);
}

/** One that fails stops all: a process that serves half of its queues looks healthy and is not. */
function together(workers: readonly Worker[], close: () => Promise<void>): Workers {
  const shutdown = () => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  return {
    shutdown,
    run: async () => {
      const runs = workers.map((worker) => worker.run());
      try {
        await Promise.all(runs);
      } finally {
        shutdown();
        await Promise.allSettled(runs);
        await close();
      }
    },
  };
}
