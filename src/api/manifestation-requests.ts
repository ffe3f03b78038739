import type { FastifyBaseLogger } from 'fastify';
import { DISAGREEMENT_PROTOCOL } from '../model/manifestation.js';
import { ORDER_PROBLEMS, type OrderProblem } from '../model/manifestation-order.js';
import type { CaptureKey, DocumentType, Environment } from '../model/words.js';
import { captureTarget, recordAudit } from '../storage/audit.js';
import { listCompanyCaptures } from '../storage/captures.js';
import { usableCertificate } from '../storage/certificates.js';
import type { CompanyRow } from '../storage/companies.js';
import { requestManifestation } from '../storage/manifestation-orders.js';
import type { ManifestationRow } from '../storage/manifestations.js';
import type { Caller } from './authorization.js';
import type { ApiDependencies } from './dependencies.js';
import { checkedOrder, type ManifestationOrder } from './manifestation-order.js';
import { type FieldFault, invalidInput, Problem } from './problem.js';
import { isoInstant } from './schemas/common.js';
import { tellWorkflow, type Warnings } from './workflow-notice.js';

/** The row that a request stands in, and whether it is new. */
export interface TakenRequest {
  readonly row: ManifestationRow;
  /** False: the same was requested before. */
  readonly made: boolean;
  readonly warnings: Warnings;
}

/**
 * Checks a request and writes it down; the workflow is told afterwards, by {@link wakeFor}.
 *
 * @throws {Problem} `invalid_input`, `confirmation_required`, `capture_missing`, `manifestation_not_possible`, `manifestation_pending`, `certificate_…`
 */
export async function takeRequest(
  deps: ApiDependencies,
  company: CompanyRow,
  order: ManifestationOrder,
  { actor }: Caller,
): Promise<TakenRequest> {
  const checked = checkedOrder(order);
  if (!checked.ok) throw invalidInput(...checked.errors);
  if (company.deletingAt !== null) {
    throw new Problem('company_being_deleted', 'The deletion of this company was asked for');
  }
  const { rule, key, justification, fields } = checked;
  if (rule.class === 'once' && order.confirm !== true) {
    throw new Problem('confirmation_required', `${rule.type} cannot be taken back once it is registered`, {
      errors: [{ field: 'confirm', message: 'must be true: a person has to have decided this' }],
    });
  }
  const capture = await captureOf(deps, company, rule.documentType, order.environment);
  const now = await deps.clock.now();
  await requireCertificate(deps, company, now);
  return deps.database.transaction(async (tx) => {
    const taken = await requestManifestation(tx, {
      capture,
      taxId: company.taxId,
      key,
      rule,
      justification,
      fields,
      now,
    });
    if (!taken.ok) throw refusal(taken.problem);
    if (taken.made) {
      await recordAudit(tx, {
        actor,
        action: 'manifestation.request',
        target: captureTarget(capture),
        detail: { id: taken.row.id, type: rule.type },
      });
    }
    return { row: taken.row, made: taken.made, warnings: warningsOf(taken.row, now) };
  });
}

/** "There is something to send", once for all that was taken. */
export function wakeFor(
  deps: ApiDependencies,
  taken: readonly TakenRequest[],
  log: FastifyBaseLogger,
): Promise<Warnings> {
  const captures = new Map<string, CaptureKey>(
    taken
      .filter(({ row }) => row.status === 'pending')
      .map(({ row: { companyId, documentType, environment } }) => [
        `${documentType}/${environment}`,
        { companyId, documentType, environment },
      ]),
  );
  return tellWorkflow(async () => {
    for (const capture of captures.values()) await deps.temporal.wakeManifestation(capture);
  }, log);
}

/** The capture whose environment counts: a legal statement is never made in one that was only guessed. */
async function captureOf(
  { database }: ApiDependencies,
  company: CompanyRow,
  documentType: DocumentType,
  asked: Environment | undefined,
): Promise<CaptureKey> {
  const captures = (await listCompanyCaptures(database, company.id)).filter((row) => row.documentType === documentType);
  const [only, ...others] = captures.filter((row) => (asked === undefined ? row.enabled : row.environment === asked));
  const found = only && others.length === 0 ? only : undefined;
  const capture = found ?? (asked === undefined && captures.length === 1 ? captures[0] : undefined);
  if (capture) return { companyId: company.id, documentType, environment: capture.environment };
  if (captures.length > 1) {
    throw invalidInput({
      field: 'environment',
      message: 'no capture of this company runs: say which environment is meant',
    });
  }
  throw new Problem(
    'capture_missing',
    `The company has no ${documentType} capture${asked === undefined ? '' : ` in ${asked}`}: what the document is, and what comes of the event, would not be known`,
  );
}

async function requireCertificate({ database }: ApiDependencies, company: CompanyRow, now: number): Promise<void> {
  const usable = await usableCertificate(database, company, now);
  if (usable.ok) return;
  throw new Problem(
    `certificate_${usable.problem}`,
    'Events are signed with the certificate of the company, or of one with its root',
  );
}

function refusal(problem: OrderProblem): Problem {
  const message = ORDER_PROBLEMS[problem];
  const errors: FieldFault[] = [{ field: FIELDS[problem] ?? 'key', message }];
  const code = problem === 'another_pending' ? 'manifestation_pending' : 'manifestation_not_possible';
  return new Problem(code, `${problem}: ${message}`, { errors });
}

/** What a problem is about, where it is not the document. */
const FIELDS: { readonly [problem in OrderProblem]?: string } = {
  conclusive_exists: 'type',
  statement_exists: 'type',
  limit_reached: 'type',
  another_pending: 'type',
  nothing_to_cancel: `fields.${DISAGREEMENT_PROTOCOL}`,
};

/** The deadline is told; whether it still counts is the government's to decide. */
function warningsOf({ deadline, status }: ManifestationRow, now: number): Warnings {
  if (status !== 'pending' || deadline === null || deadline >= now) return [];
  return [
    {
      code: 'deadline_over',
      message: `The time for it ended at ${isoInstant(deadline)}: the government may reject it, or register it as late`,
    },
  ];
}
