import type { CaptureKey } from '../model/words.js';
import type { Queryable } from './database.js';

/** Something that a person or an API key did. Write it in the transaction of the change itself. */
export interface AuditEntry {
  /** `key:<id>`, `cli`, `system` … */
  readonly actor: string;
  /** e.g. `company.create`, `capture.set_cursor`. */
  readonly action: string;
  /** What it was done to, by id. */
  readonly target: string;
  /** Before and after, reasons. No secrets. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** A capture as the target of an entry. */
export function captureTarget({ companyId, documentType, environment }: CaptureKey): string {
  return `${companyId}/${documentType}/${environment}`;
}

/** The table only grows. */
export async function recordAudit(db: Queryable, { actor, action, target, detail = {} }: AuditEntry): Promise<void> {
  await db.query('insert into audit (actor, action, target, detail) values ($1, $2, $3, $4)', [
    actor,
    action,
    target,
    JSON.stringify(detail),
  ]);
}
