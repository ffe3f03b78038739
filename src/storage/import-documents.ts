import type { CaptureKey } from '../model/words.js';
import { captureValues } from './captures.js';
import type { Queryable } from './database.js';

/** What a company has of the keys of an import. */
export interface Known {
  readonly id: string;
  readonly key: string;
  readonly kind: string;
  readonly eventType: string | null;
  readonly eventSequence: number | null;
  readonly xmlSha256: string;
  /** A copy for somebody who may not see everything in it. */
  readonly masked: boolean;
}

/** Documents of these keys that are here already. */
export async function knownDocuments(db: Queryable, capture: CaptureKey, keys: readonly string[]): Promise<Known[]> {
  if (keys.length === 0) return [];
  const { rows } = await db.query<Known>(
    `select id, key, kind, event_type as "eventType", event_sequence as "eventSequence", xml_sha256 as "xmlSha256",
       coalesce(metadata -> 'masked' = 'true', false) as masked
     from documents where company_id = $1 and document_type = $2 and environment = $3 and key = any($4)`,
    [...captureValues(capture), keys],
  );
  return rows;
}
