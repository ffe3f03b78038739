import type { AlertCode, AlertSeverity, CaptureKey } from '../model/words.js';
import { type AlertIdentity, closeAlert, openAlert } from '../storage/alerts.js';
import type { CompanyRow } from '../storage/companies.js';
import type { Transaction } from '../storage/database.js';
import type { DocumentRow } from '../storage/documents.js';
import { insertEvents } from '../storage/events.js';
import { recordUsage } from '../storage/usage.js';
import { alertEvent, documentEvent, type PreparedEvent } from '../webhooks/body.js';

/** Whom an alert concerns: this capture, its host, or everybody who uses the same service. */
type Scope = 'capture' | 'host' | 'service';

/**
 * What one transaction tells: alerts that it opens and closes, documents that it stored. `publish` comes last, because from there
 * to the commit the company's row is locked.
 */
export class Announcements {
  readonly #events: PreparedEvent[] = [];
  /** The company's manifestation workflow has something to wait for: wake it after the commit. */
  awarenessScheduled = false;

  constructor(
    private readonly tx: Transaction,
    private readonly capture: CaptureKey,
    private readonly company: CompanyRow,
    /** Milliseconds. */
    private readonly at: number,
  ) {}

  /** Opens an alert. The customer's system is told once, by this company's feed, however often it is opened again. */
  async open(
    code: AlertCode,
    detail: string,
    scope: Scope = 'capture',
    severity: AlertSeverity = 'warning',
  ): Promise<void> {
    const opened = await openAlert(this.tx, this.#identity(code, scope), detail, this.at, severity);
    if (!opened) return;
    const { documentType, environment } = this.capture;
    this.#events.push(alertEvent({ code, detail, severity, documentType, environment }, this.company, this.at));
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
    const service = { code, documentType, environment };
    if (scope === 'service') return service;
    return { ...service, companyId, ...(scope === 'host' ? { subject: 'host' } : {}) };
  }
}
