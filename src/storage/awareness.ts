import type { DocumentState } from '../model/document.js';
import { AWARENESS_TYPE, CONCLUSIVE_TYPES } from '../model/manifestation.js';
import type { CaptureKey } from '../model/words.js';
import { captureValues } from './captures.js';
import type { Transaction } from './database.js';

/** What decides about automatic Awareness for a note, once its time has come. */
export interface AwarenessFacts {
  readonly key: string;
  /** The whole note is there. */
  readonly whole: boolean;
  readonly state: DocumentState;
  /** When it was authorized, as its summary writes it. */
  readonly authorizedAt: string | null;
  /** A conclusive statement of this company is registered, ours or another program's. */
  readonly conclusive: boolean;
}

/** By key; a key of which nothing is stored is left out. */
export async function awarenessFacts(
  tx: Transaction,
  capture: CaptureKey,
  taxId: string,
  keys: readonly string[],
): Promise<Map<string, AwarenessFacts>> {
  const { rows } = await tx.query<AwarenessFacts>(
    `select d.key, bool_or(d.kind = 'procNFe') as whole,
       coalesce(max(d.state) filter (where d.event is null), 'unknown') as state,
       max(d.metadata ->> 'authorizedAt') filter (where d.kind = 'resNFe') as "authorizedAt",
       coalesce(bool_or(d.event_type = any($6) and d.event ->> 'author' = $5), false) or exists (
         select from manifestations m
         where m.key = d.key and m.company_id = $1 and m.environment = $3 and m.status = 'registered' and m.type = any($6)
       ) as conclusive
     from documents d
     where d.key = any($4) and d.company_id = $1 and d.document_type = $2 and d.environment = $3 group by d.key`,
    [...captureValues(capture), keys, taxId, CONCLUSIVE_TYPES],
  );
  return new Map(rows.map((row) => [row.key, row]));
}

/** Of these keys those for which Awareness is on its way. */
export async function keysAwaitingAwareness(
  tx: Transaction,
  capture: CaptureKey,
  keys: readonly string[],
): Promise<Set<string>> {
  if (keys.length === 0) return new Set();
  const { rows } = await tx.query<{ key: string }>(
    `select key from manifestations
     where key = any($4) and company_id = $1 and document_type = $2 and environment = $3 and type = $5 and status = 'pending'`,
    [...captureValues(capture), keys, AWARENESS_TYPE],
  );
  return new Set(rows.map(({ key }) => key));
}

/** Writes into the summaries of these keys why no Awareness is sent. */
export async function explainSkipped(
  tx: Transaction,
  capture: CaptureKey,
  skipped: readonly { readonly key: string; readonly reason: string }[],
): Promise<void> {
  if (skipped.length === 0) return;
  await tx.query(
    `update documents d set awareness_skipped = s.reason from unnest($4::text[], $5::text[]) as s (key, reason)
     where d.key = s.key and d.company_id = $1 and d.document_type = $2 and d.environment = $3 and d.kind = 'resNFe'`,
    [...captureValues(capture), skipped.map(({ key }) => key), skipped.map(({ reason }) => reason)],
  );
}
