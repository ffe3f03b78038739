import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { upsertSearchAttributes } from '@temporalio/workflow';
import { type CaptureSnapshot, lag } from '../model/capture-state.js';
import type { CaptureKey, Phase } from '../model/words.js';

const { KEYWORD, INT } = SearchAttributeType;

/** The search attributes of a capture (design.md section 5), registered in the namespace at start-up. */
const KEYS = {
  companyId: defineSearchAttributeKey('CompanyId', KEYWORD),
  taxIdEnding: defineSearchAttributeKey('TaxIdEnding', KEYWORD),
  documentType: defineSearchAttributeKey('DocumentType', KEYWORD),
  environment: defineSearchAttributeKey('Environment', KEYWORD),
  uf: defineSearchAttributeKey('Uf', KEYWORD),
  captureState: defineSearchAttributeKey('CaptureState', KEYWORD),
  lastStatus: defineSearchAttributeKey('LastStatus', KEYWORD),
  lag: defineSearchAttributeKey('Lag', INT),
};

/** Who this is. Once a run: a start from the Temporal UI or the SDK need not know them. */
export function publishIdentity(capture: CaptureKey, snapshot: CaptureSnapshot): void {
  upsertSearchAttributes([
    { key: KEYS.companyId, value: capture.companyId },
    { key: KEYS.taxIdEnding, value: snapshot.taxIdEnding },
    { key: KEYS.documentType, value: capture.documentType },
    { key: KEYS.environment, value: capture.environment },
    { key: KEYS.uf, value: snapshot.uf },
  ]);
}

/** Whose manifestations a run sends. */
export function publishOwner({ companyId, documentType, environment }: CaptureKey): void {
  upsertSearchAttributes([
    { key: KEYS.companyId, value: companyId },
    { key: KEYS.documentType, value: documentType },
    { key: KEYS.environment, value: environment },
  ]);
}

/** Only when the phase changes: an upsert is an event and an action, and an idle hour has neither to spare. */
export function publishPhase(phase: Phase, snapshot: CaptureSnapshot): void {
  upsertSearchAttributes([
    { key: KEYS.captureState, value: phase },
    { key: KEYS.lag, value: lag(snapshot.state) },
    ...(snapshot.state.lastAnswer ? [{ key: KEYS.lastStatus, value: snapshot.state.lastAnswer.code }] : []),
  ]);
}
