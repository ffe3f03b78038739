import assert from 'node:assert/strict';
import type { ClientCertificate } from '../../src/government/types.js';
import { MANIFESTATION_RULES } from '../../src/model/manifestation.js';
import { issue, makeRoot } from '../certificates/make-certificates.js';

/** What the events about every document type are made of in tests. */

/** Its key pair is of this name's own; made anew in each run. */
export function signer(name: string): ClientCertificate {
  const leaf = issue(`${name}-leaf`, makeRoot(`${name}-root`));
  return { keyPem: leaf.keyPem, chainPem: leaf.certificatePem, thumbprint: 'of-no-interest' };
}

/** What a statement of this type has, whatever it is about. */
export function eventParts(type: string) {
  const rule = MANIFESTATION_RULES.get(type);
  assert.ok(rule);
  const occurredAt = Date.parse('2026-11-30T12:00:00.999Z');
  return { rule, environment: 'homologation', author: '98765432000198', occurredAt } as const;
}

export const unsigned = (signed: string) => signed.replace(/<Signature .*<\/Signature>/, '');
