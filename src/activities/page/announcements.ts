import type { AlertCode, AlertSeverity, CaptureKey } from '../../model/words.js';
import { type AlertIdentity, closeAlert, openAlert } from '../../storage/alerts.js';
import type { CompanyRow } from '../../storage/companies.js';
import type { Transaction } from '../../storage/database.js';
import type { DocumentRow } from '../../storage/documents.js';
import { insertEvents } from '../../storage/events.js';
import { recordUsage } from '../../storage/usage.js';
import { alertEvent, documentEvent, type PreparedEvent } from '../../webhooks/body.js';

/** Whom an alert concerns: this capture, its host, its company whatever the capture, or everybody who uses the same service. */
type Scope = 'capture' | 'host' | 'company' | 'service';

/**
 * What one transaction tells: alerts that it opens and closes, documents that it stored. Every alert is opened here, so that none opens
 * without an event of the feed. `publish` comes last, because from there to the commit the company's row is locked.
 */
export class Announcements {
  readonly #events: PreparedEvent[] = [];
  /** The company's manifestation workflow has something to wait for: wake it after the commit. */
  awarenessScheduled = false;
  /** A document came that the capture's host was not handed with its neighbours: wake the capture after the commit. */
  lateForHost = false;

  constructor(
    private readonly tx: Transaction,
    /** What `open` and `close` are about. */
    private readonly capture: Pick<CaptureKey, 'companyId'> & Partial<CaptureKey>,
    /** Whose feed tells. */
    private readonly company: CompanyRow,
    /** Milliseconds. */
    private readonly at: number,
  ) {}

  /** Opens an alert. The customer's system is told once, by this company's feed, however often it is opened again. */
  open(code: AlertCode, detail: string, scope: Scope = 'capture', severity?: AlertSeverity): Promise<void> {
    return this.raise(this.#identity(code, scope), detail, severity);
  }

  /** As `open`, for an alert about anything. */
  async raise(identity: AlertIdentity, detail: string, severity: AlertSeverity = 'warning'): Promise<void> {
    const opened = await openAlert(this.tx, identity, detail, this.at, severity);
    if (!opened) return;
    const { code, documentType, environment, subject } = identity;
    this.#events.push(
      alertEvent(
        {
          code,
          detail,
          severity,
          ...(documentType && { documentType }),
          ...(environment && { environment }),
          ...(subject && { subject }),
        },
        this.company,
        this.at,
      ),
    );
  }

  async close(code: AlertCode, scope: Scope = 'capture'): Promise<void> {
    await closeAlert(this.tx, this.#identity(code, scope), this.at);
  }

  /** Documents whose webhook is due now; from now on they count as used. */
  async documents(documents: readonly DocumentRow[]): Promise<void> {
    await recordUsage(
      this.tx,
      documents.map(({ id, companyId, documentType, kind }) => ({ documentId: id, companyId, documentType, kind })),
      this.at,
    );
    for (const document of documents) this.#events.push(documentEvent(document, this.company, this.at));
  }

  /** Stores the events in the order they were announced. Gives the endpoints to wake after the commit. */
  publish(): Promise<string[]> {
    return insertEvents(this.tx, { companyId: this.company.id, at: this.at, events: this.#events });
  }

  #identity(code: AlertCode, scope: Scope): AlertIdentity {
    const { companyId, documentType, environment } = this.capture;
    if (scope === 'company') return { code, companyId };
    const service = { code, documentType, environment };
    if (scope === 'service') return service;
    return { ...service, companyId, ...(scope === 'host' ? { subject: 'host' } : {}) };
  }
}
