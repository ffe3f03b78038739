import { decodeItem } from '../../../documents/decode.js';
import { instantOf } from '../../../documents/instant.js';
import type { Party } from '../../../model/document.js';

/** What the authorizer knows of a CT-e. */
export interface FreightFacts {
  /** Tax ID of who pays; null: not to be made out. */
  readonly taker: string | null;
  /** Milliseconds; null: not to be made out. */
  readonly issuedAt: number | null;
  readonly authorizedAt: number | null;
  readonly cancelled: boolean;
}

/** What documents that somebody gave say of the CT-e with this key. */
export function freightGiven(
  documents: readonly { readonly schema: string; readonly xml: string }[],
  key: string,
): FreightFacts | null {
  const about = documents
    .filter(({ xml }) => xml.includes(key))
    .map(({ schema, xml }) => decoded(schema, xml))
    .filter((document) => document?.key === key);
  const document = about.find((each) => each?.event === null);
  if (!document) return null;
  const { taker, issuedAt, authorizedAt } = document.metadata;
  const instant = (written: unknown) => (typeof written === 'string' ? instantOf(written) : null);
  return {
    taker: (taker as Party | undefined)?.taxId ?? null,
    issuedAt: instant(issuedAt),
    authorizedAt: instant(authorizedAt),
    cancelled: about.some((each) => each?.event?.type === '110111'),
  };
}

function decoded(schema: string, xml: string) {
  const content = Buffer.from(xml);
  const item = { nsu: null, schema, offset: 0, length: content.length, encoding: 'identity', content } as const;
  const result = decodeItem(item, 'cte');
  return result.ok ? result.document : null;
}
