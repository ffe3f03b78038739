import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** Figures of all captures of one type in one phase, read from the database when somebody scrapes. */
export interface CaptureFigures {
  readonly documentType: string;
  readonly environment: string;
  readonly phase: string;
  readonly captures: number;
  /** Sum of maxNSU − ultNSU. */
  readonly lag: number;
}

/** Open alerts of one code and severity. */
interface AlertFigures {
  readonly code: string;
  readonly severity: string;
  readonly alerts: number;
}

/** Missing numbers that still wait, of one type, environment and status. */
interface GapFigures {
  readonly documentType: string;
  readonly environment: string;
  readonly status: string;
  readonly numbers: number;
}

/** Manifestations without an end, of one type, environment and state. */
interface ManifestationFigures {
  readonly documentType: string;
  readonly environment: string;
  readonly state: string;
  readonly manifestations: number;
}

/** What is measured at the moment somebody asks. */
export interface MetricsSources {
  /** Connections of the database pool of this process. */
  readonly pool?: () => { readonly total: number; readonly idle: number; readonly waiting: number };
  /** Costs a query, so only one process of an installation needs it: the API. */
  readonly captures?: () => Promise<readonly CaptureFigures[]>;
  /** As `captures`. */
  readonly alerts?: () => Promise<readonly AlertFigures[]>;
  /** As `captures`. */
  readonly gaps?: () => Promise<readonly GapFigures[]>;
  /** As `captures`. */
  readonly manifestations?: () => Promise<readonly ManifestationFigures[]>;
}

/** The Prometheus metrics of one process. Labels never hold a company: their number must stay small. */
export type Metrics = ReturnType<typeof createMetrics>;

/** The metrics of one process, in Prometheus' form. docs/operating.md lists them. */
export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  return {
    registry,
    governmentCalls: new Counter({
      name: 'malote_government_calls_total',
      help: 'Government calls by service and how they ended (Outcome.kind)',
      labelNames: ['service', 'outcome'] as const,
      registers,
    }),
    governmentCallSeconds: new Histogram({
      name: 'malote_government_call_duration_seconds',
      help: 'Time of a government call from connecting to the last byte',
      labelNames: ['service'] as const,
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300],
      registers,
    }),
    documents: new Counter({
      name: 'malote_documents_total',
      help: 'Documents stored',
      labelNames: ['document_type'] as const,
      registers,
    }),
    webhookAttempts: new Counter({
      name: 'malote_webhook_attempts_total',
      help: 'Delivery attempts of webhooks: delivered, refused (an answer that is not 2xx), failed (no answer)',
      labelNames: ['result'] as const,
      registers,
    }),
    webhookSeconds: new Histogram({
      name: 'malote_webhook_attempt_duration_seconds',
      help: 'Time of a delivery attempt',
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
      registers,
    }),
    alertMails: new Counter({
      name: 'malote_alert_mails_total',
      help: 'Mails about alerts: sent, failed (tried again)',
      labelNames: ['result'] as const,
      registers,
    }),
    /** Registers what is read when somebody scrapes. Once per process. */
    observe: (sources: MetricsSources) => observe(registers, sources),
  };
}

function observe(registers: Registry[], { pool, captures, alerts, gaps, manifestations }: MetricsSources): void {
  if (pool !== undefined) {
    new Gauge({
      name: 'malote_database_connections',
      help: 'Connections of this process to PostgreSQL: total, idle; and callers waiting for one',
      labelNames: ['state'] as const,
      registers,
      collect() {
        for (const [state, value] of Object.entries(pool())) this.set({ state }, value);
      },
    });
  }
  if (captures !== undefined) observeCaptures(registers, captures);
  if (alerts !== undefined) observeAlerts(registers, alerts);
  if (gaps !== undefined) observeGaps(registers, gaps);
  if (manifestations !== undefined) observeManifestations(registers, manifestations);
}

function observeManifestations(registers: Registry[], read: NonNullable<MetricsSources['manifestations']>): void {
  new Gauge({
    name: 'malote_pending_manifestations',
    help: 'Manifestations without an end: waiting (for their time, an answer, the next try), overdue (nobody has sent them for 5 minutes)',
    labelNames: ['document_type', 'environment', 'state'] as const,
    registers,
    async collect() {
      const figures = await read().catch(() => []);
      this.reset();
      for (const { documentType, environment, state, manifestations } of figures) {
        this.set({ document_type: documentType, environment, state }, manifestations);
      }
    },
  });
}

function observeGaps(registers: Registry[], read: NonNullable<MetricsSources['gaps']>): void {
  new Gauge({
    name: 'malote_missing_documents',
    help: 'Numbers that did not come: pending (asked for), exhausted (until the next night), awaiting_confirmation (a person)',
    labelNames: ['document_type', 'environment', 'status'] as const,
    registers,
    async collect() {
      const figures = await read().catch(() => []);
      this.reset();
      for (const { documentType, environment, status, numbers } of figures) {
        this.set({ document_type: documentType, environment, status }, numbers);
      }
    },
  });
}

function observeAlerts(registers: Registry[], read: NonNullable<MetricsSources['alerts']>): void {
  new Gauge({
    name: 'malote_open_alerts',
    help: 'Open alerts by code and severity',
    labelNames: ['code', 'severity'] as const,
    registers,
    async collect() {
      const figures = await read().catch(() => []);
      this.reset();
      for (const { code, severity, alerts } of figures) this.set({ code, severity }, alerts);
    },
  });
}

function observeCaptures(registers: Registry[], read: NonNullable<MetricsSources['captures']>): void {
  // Both gauges of a scrape share one query. A database that does not answer costs these figures, not the whole scrape.
  let inHand: Promise<readonly CaptureFigures[]> | undefined;
  const figures = (): Promise<readonly CaptureFigures[]> => {
    inHand ??= read()
      .catch(() => [])
      .finally(() => {
        inHand = undefined;
      });
    return inHand;
  };
  const gauge = (name: string, help: string, value: (figure: CaptureFigures) => number): Gauge =>
    new Gauge({
      name,
      help,
      labelNames: ['document_type', 'environment', 'phase'] as const,
      registers,
      async collect() {
        const now = await figures();
        this.reset();
        for (const figure of now) {
          const { documentType, environment, phase } = figure;
          this.set({ document_type: documentType, environment, phase }, value(figure));
        }
      },
    });
  gauge('malote_captures', 'Captures by phase', ({ captures }) => captures);
  gauge(
    'malote_capture_lag_documents',
    'Numbers between the cursor and the highest that exists, summed over captures',
    ({ lag }) => lag,
  );
}
