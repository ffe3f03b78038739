import type { CaptureSnapshot, CaptureState } from '../model/capture-state.js';
import type { Nsu } from '../model/nsu.js';
import type { CaptureKey, CaptureOptions, Phase } from '../model/words.js';
import { type CompanyRow, taxIdEnding } from './companies.js';

/** A capture's row. `state` is the committed truth; the columns that repeat parts of it serve lists and the guard. */
export interface CaptureRow extends CaptureKey {
  readonly enabled: boolean;
  readonly generation: number;
  readonly revision: number;
  readonly options: CaptureOptions;
  readonly state: CaptureState;
  readonly phase: Phase;
  readonly ultNsu: Nsu;
  readonly maxNsu: Nsu;
  readonly notBefore: number | null;
  readonly lastQueryAt: number | null;
  readonly lastStatusCode: string | null;
  readonly lastStatusText: string | null;
  readonly callId: string | null;
  readonly callDeadline: number | null;
  readonly distributionCallId: string | null;
  readonly handedNsu: Nsu;
  /** A person's hold; `Infinity` without an end. */
  readonly heldUntil: number | null;
  /** The database proved older than what a workflow knows: nobody calls until it is repaired. */
  readonly behind: boolean;
  /** How far a second pass over numbers that did not come has come; null: none is under way. */
  readonly passNsu: Nsu | null;
  /** When the first pending recovery item is due that is asked for by itself; null: none is pending. */
  readonly recoveryAt: number | null;
  /** Documents came that the host was not handed with their neighbours. */
  readonly hasLate: boolean;
  /** Documents ever committed. */
  readonly documents: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** An NSU column as its 15 digits. */
export const nsuColumn = (column: string, as: string) => `lpad(${column}::text, 15, '0') as "${as}"`;

/** For `select … from captures c`. Counters are bigint in the table and far below 2^53: they come as numbers. */
export const CAPTURE_COLUMNS = `c.company_id as "companyId", c.document_type as "documentType", c.environment, c.enabled,
  c.generation::float8 as generation, c.revision::float8 as revision, c.options, c.state, c.phase,
  ${nsuColumn('c.ult_nsu', 'ultNsu')}, ${nsuColumn('c.max_nsu', 'maxNsu')}, c.not_before as "notBefore",
  c.last_query_at as "lastQueryAt", c.last_status_code as "lastStatusCode", c.last_status_text as "lastStatusText",
  c.call_id as "callId", c.call_deadline as "callDeadline", c.distribution_call_id as "distributionCallId",
  ${nsuColumn('c.handed_nsu', 'handedNsu')}, ${nsuColumn('c.pass_nsu', 'passNsu')}, c.held_until as "heldUntil", c.behind,
  (select min(next_attempt_at) from gaps where gaps.company_id = c.company_id and gaps.document_type = c.document_type
     and gaps.environment = c.environment and gaps.status = 'pending' and gaps.means = 'point') as "recoveryAt",
  exists (select from late_documents l where l.company_id = c.company_id and l.document_type = c.document_type
     and l.environment = c.environment) as "hasLate", c.documents::float8 as documents,
  c.created_at as "createdAt", c.updated_at as "updatedAt"`;

/** A state written by a newer program: reading it wrongly could break a wait, so nothing is done with it. */
export class UnknownStateVersion extends Error {
  override readonly name = 'UnknownStateVersion';
  constructor(version: unknown) {
    super(
      `captures.state has version ${String(version)}, this program knows 1: run the version of Malote that wrote it`,
    );
  }
}

/** @throws {UnknownStateVersion} */
export function checkedCapture(row: CaptureRow): CaptureRow {
  if (row.state.version !== 1) throw new UnknownStateVersion(row.state.version);
  return row;
}

/** The committed truth as activities hand it to the workflow. */
export function snapshotOf(row: CaptureRow, company: Pick<CompanyRow, 'taxId' | 'uf'>): CaptureSnapshot {
  return {
    state: row.state,
    revision: row.revision,
    enabled: row.enabled,
    generation: row.generation,
    handler: row.options.handler ?? null,
    handedNsu: row.handedNsu,
    late: row.hasLate,
    heldUntil: row.heldUntil === Number.POSITIVE_INFINITY ? 'indefinitely' : row.heldUntil,
    recovery: row.recoveryAt === null ? null : { nextAt: row.recoveryAt },
    taxIdEnding: taxIdEnding(company.taxId),
    uf: company.uf,
  };
}
