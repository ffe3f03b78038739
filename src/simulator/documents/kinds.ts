/** What can be made of NF-e: the four kinds of today, two old layouts, and one that nobody knows yet. */
export const NFE_KINDS = [
  'procNFe',
  'resNFe',
  'procEventoNFe',
  'resEvento',
  'procNFe310',
  'procNFe200',
  'unknown',
] as const;
export type NfeKind = (typeof NFE_KINDS)[number];

/** What can be made of CT-e: the five kinds of today, two old layouts, and one that nobody knows yet. */
export const CTE_KINDS = [
  'procCTe',
  'procCTeOS',
  'procCTeSimp',
  'procGTVe',
  'procEventoCTe',
  'procCTe300',
  'procCTe200',
  'unknown',
] as const;
export type CteKind = (typeof CTE_KINDS)[number];

/** Everything that can be made, of whatever document type. */
export type GeneratedKind = NfeKind | CteKind;
