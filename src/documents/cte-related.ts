import type { DecodedDocument } from '../model/document.js';
import { DOCUMENT } from './cte-parties.js';
import { present } from './reader.js';
import type { FieldsWith } from './xml/paths.js';

/** Keys of other documents in a CT-e: what it carries, what came before it, what it corrects. */

const NORMAL = `${DOCUMENT}/infCTeNorm`;
const PREVIOUS = `${NORMAL}/docAnt/emiDocAnt/idDocAnt`;

/** Where a CT-e names other documents. */
export const RELATED_PATHS = {
  carriedNfe: `${NORMAL}/infDoc/infNFe/chave`,
  /** CT-e Simplificado: by delivery, and in part behind a previous document. */
  deliveredNfe: `${DOCUMENT}/det/infNFe/chNFe`,
  partlyDeliveredNfe: `${DOCUMENT}/det/infDocAnt/infNFeTranspParcial/chNFe`,
  /** By water, the notes may stand with their containers. */
  containedNfe: `${NORMAL}/infModal/aquav/detCont/infDoc/infNFe/chave`,
  /** Layout 1.04. */
  sentNfe: `${DOCUMENT}/rem/infNFe/chave`,
  previous: `${PREVIOUS}/idDocAntEle/chCTe`,
  /** Layouts 1.04 and 2.00. */
  previousBefore3: `${PREVIOUS}/idDocAntEle/chave`,
  previousOfDelivery: `${DOCUMENT}/det/infDocAnt/chCTe`,
  complemented: `${DOCUMENT}/infCteComp/chCTe`,
  complementedBefore3: `${DOCUMENT}/infCteComp/chave`,
  replaced: `${NORMAL}/infCteSub/chCte`,
  /** CT-e Simplificado. */
  replacedSimplified: `${DOCUMENT}/infCteSub/chCte`,
} as const;

export type RelatedPath = keyof typeof RELATED_PATHS;

/** The documents that a CT-e names. */
export interface RelatedKeys {
  /** NF-e that are transported. */
  readonly nfeKeys?: readonly string[];
  /** CT-e of carriers before this one. */
  readonly previousKeys?: readonly string[];
  readonly complementedKeys?: readonly string[];
  readonly replacedKey?: string;
  /** True: this copy is for somebody who may not see the related keys (autXML), so they are not in it. */
  readonly masked?: true;
}

/** What third parties get in place of a related key (contract section 1b). */
const MASK = '9'.repeat(44);
/** The norm's own limit for the notes of one CT-e; a bound, so that no document can blow up a row and every webhook of it. */
const MOST_KEYS = 2_000;

/** The keys of other documents, each once; those that the government masked, or that are too many, become warnings. */
export function readRelatedKeys(xml: FieldsWith<RelatedPath>): { related: RelatedKeys; warnings: readonly string[] } {
  const lists = {
    nfeKeys: xml.all('carriedNfe', 'deliveredNfe', 'partlyDeliveredNfe', 'containedNfe', 'sentNfe'),
    previousKeys: xml.all('previous', 'previousBefore3', 'previousOfDelivery'),
    complementedKeys: xml.all('complemented', 'complementedBefore3'),
    replaced: xml.all('replaced', 'replacedSimplified'),
  };
  const masked = Object.values(lists).some((keys) => keys.includes(MASK));
  const told = (keys: readonly string[]) => [...new Set(keys)].filter((key) => key !== MASK);
  const shown = (keys: readonly string[]) => (keys.length > 0 ? keys.slice(0, MOST_KEYS) : undefined);
  const nfeKeys = told(lists.nfeKeys);
  return {
    related: present({
      nfeKeys: shown(nfeKeys),
      previousKeys: shown(told(lists.previousKeys)),
      complementedKeys: shown(told(lists.complementedKeys)),
      replacedKey: told(lists.replaced)[0],
      masked: masked || undefined,
    }),
    warnings:
      nfeKeys.length > MOST_KEYS
        ? [`keys_cut: ${nfeKeys.length} NF-e are named, the first ${MOST_KEYS} are shown; the XML has all`]
        : [],
  };
}

/**
 * Of two copies of one CT-e, whether the second tells more than the first: only ever a full one than a masked one. A masked copy never
 * takes the place of a full one, whichever came first. The same document has different bytes for an authorized third party and for a
 * party (contract section 1b); both may reach one company, by distribution, point query or import.
 */
export function tellsMore(than: Pick<DecodedDocument, 'metadata'>, copy: Pick<DecodedDocument, 'metadata'>): boolean {
  return than.metadata.masked === true && copy.metadata.masked !== true;
}
