import type { FastifyBaseLogger } from 'fastify';
import type { CaptureKey } from '../model/words.js';
import { captureTarget, recordAudit } from '../storage/audit.js';
import { type EnableAnswer, enableCapture } from '../storage/capture-orders.js';
import type { CaptureRow } from '../storage/capture-rows.js';
import { usableCertificate } from '../storage/certificates.js';
import type { CompanyRow } from '../storage/companies.js';
import { setCaptureEndpoint } from '../storage/endpoints.js';
import { endpointUrlProblem } from '../webhooks/endpoint-url.js';
import { newSecret } from '../webhooks/signature.js';
import type { Caller } from './authorization.js';
import { type CaptureOrder, foreignOptions, mergedOptions } from './capture-options.js';
import type { ApiDependencies } from './dependencies.js';
import { invalidInput, notFound, Problem } from './problem.js';
import { isoInstant } from './schemas/common.js';
import { tellWorkflow, type Warnings } from './workflow-notice.js';

/** The capture as it stands after the order, and what did not work besides. */
export interface StartedCapture {
  readonly row: CaptureRow;
  readonly warnings: Warnings;
  /** Of `webhookUrl`; `secret` only when the endpoint was made by this request. */
  readonly webhookEndpoint: { readonly id: string; readonly secret: string | null } | null;
}

/** Writes the capture down as enabled, with its options, then starts its workflow or tells the running one. */
export async function startCapture(
  deps: ApiDependencies,
  company: CompanyRow,
  capture: CaptureKey,
  order: CaptureOrder,
  by: { readonly caller: Caller; readonly log: FastifyBaseLogger },
): Promise<StartedCapture> {
  const foreign = foreignOptions(capture.documentType, order);
  if (foreign.length > 0) throw invalidInput(...foreign);
  const { webhookUrl } = order;
  const urlProblem = webhookUrl ? endpointUrlProblem(webhookUrl, deps.allowPrivateWebhooks) : null;
  if (urlProblem !== null) throw invalidInput({ field: 'webhookUrl', message: urlProblem });
  const now = await deps.clock.now();
  await requireCertificate(deps, company, now);

  const written = await deps.database.transaction(async (tx) => {
    const enabled = await enableCapture(tx, {
      capture,
      options: (current) => mergedOptions(current, order),
      now,
      timeScale: deps.timeScale,
    });
    if (!enabled.ok) throw refused(enabled);
    await recordAudit(tx, {
      actor: by.caller.actor,
      action: 'capture.start',
      target: captureTarget(capture),
      detail: { options: Object.keys(order) },
    });
    if (webhookUrl === undefined) return { row: enabled.row, webhookEndpoint: null };
    const secret = newSecret();
    const { endpoint, made } = await setCaptureEndpoint(tx, deps.secretBox, capture, {
      url: webhookUrl,
      secret,
      at: now,
    });
    return { row: enabled.row, webhookEndpoint: endpoint && { id: endpoint.id, secret: made ? secret : null } };
  });
  return { ...written, warnings: await tellWorkflow(() => deps.temporal.startCapture(capture), by.log) };
}

async function requireCertificate({ database }: ApiDependencies, company: CompanyRow, now: number): Promise<void> {
  const usable = await usableCertificate(database, company, now);
  if (usable.ok) return;
  switch (usable.problem) {
    case 'missing':
      throw new Problem('certificate_missing', 'Neither the company nor another one with its root has a certificate');
    case 'expired':
      throw new Problem('certificate_expired', 'Every certificate that could serve this company has expired');
    case 'not_yet_valid':
      throw new Problem('certificate_not_yet_valid', `The certificate becomes valid at ${isoInstant(usable.until)}`);
  }
}

function refused(answer: Extract<EnableAnswer, { ok: false }>): Problem {
  switch (answer.problem) {
    case 'company_unknown':
      return notFound('company');
    case 'company_deleting':
      return new Problem('company_being_deleted', 'The deletion of this company was asked for');
    case 'environment_in_use':
      return new Problem('environment_in_use', `The capture runs in ${answer.environment}: stop it there first`);
  }
}
