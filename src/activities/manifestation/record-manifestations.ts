import { log } from '@temporalio/activity';
import { isAccessKey } from '../../documents/index.js';
import { MANIFESTATION_RULES } from '../../model/manifestation.js';
import type { ManifestationRowActivities, RequestedManifestation } from '../../model/manifestation-contract.js';
import type { CaptureKey } from '../../model/words.js';
import { getCapture } from '../../storage/captures.js';
import { getCompany } from '../../storage/companies.js';
import { requestManifestation } from '../../storage/manifestation-orders.js';
import { captureUnknown, rebuilding } from '../failures.js';
import type { ManifestationDependencies } from './manifestation-dependencies.js';

type Parts = Pick<ManifestationDependencies, 'database' | 'clock'>;

/**
 * Writes down requests that came by signal (SDK). A signal has no answer: what cannot be taken is logged, and its absence shows in the list
 * of manifestations. Repeats of an attempt find what was written before.
 */
export function createRecordManifestations(deps: Parts): Pick<ManifestationRowActivities, 'recordManifestations'> {
  return {
    recordManifestations: ({ capture, requests }) =>
      rebuilding(async () => {
        const company = await getCompany(deps.database, capture.companyId);
        if (!company) throw captureUnknown('company');
        if (!(await getCapture(deps.database, capture))) throw captureUnknown('capture');
        let taken = 0;
        for (const request of requests) {
          const problem = await take(deps, capture, company.taxId, request);
          if (problem === null) taken += 1;
          else log.warn('a requested manifestation cannot be made', { type: request.type, problem });
        }
        return { taken, refused: requests.length - taken };
      }),
  };
}

/** Null: taken. */
async function take(
  deps: Parts,
  capture: CaptureKey,
  taxId: string,
  { key, type }: RequestedManifestation,
): Promise<string | null> {
  const rule = MANIFESTATION_RULES.get(type);
  if (rule?.documentType !== capture.documentType) return 'unknown_type';
  if (rule.justified || rule.class === 'tax_reform' || rule.class === 'once') return 'only_by_api';
  if (!isAccessKey(key)) return 'no_access_key';
  const answer = await deps.database.transaction(async (tx) =>
    requestManifestation(tx, { capture, taxId, key, rule, now: await deps.clock.now(tx) }),
  );
  return answer.ok ? null : answer.problem;
}
