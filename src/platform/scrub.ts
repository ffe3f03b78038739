/**
 * Second line behind the allow-lists: whatever ended up in a line that looks like personal data or a secret is taken out.
 * Works on text, JSON included: a letter right before a number may be the end of an escape like \n.
 */

const START = String.raw`(?<=^|[^0-9A-Za-z]|\\[nrt])`;
const END = '(?![0-9A-Za-z])';
/** The end of a JSON string, or of the text: a quote that is itself part of the string is escaped. */
const END_OF_STRING = String.raw`(?=(?<!\\)"[,}\]])|$`;

/** Roots of fiscal documents and envelopes, and what holds them. */
const XML_NAMES =
  'nfeProc|NFe|resNFe|resEvento|procEventoNFe|cteProc|CTe|procEventoCTe|NFSe|DPS|evento|Envelope|infNFe|infCte|docZip';

const SECRETS: readonly (readonly [RegExp, string])[] = [
  [new RegExp(`-----BEGIN [A-Z0-9 ]+-----[\\s\\S]*?(?:-----END [A-Z0-9 ]+-----|${END_OF_STRING})`, 'g'), '[PEM]'],
  [new RegExp(`<(?:\\?xml|(?:\\w+:)?(?:${XML_NAMES})\\b)[\\s\\S]*?(?:${END_OF_STRING})`, 'g'), '[XML]'],
  [/\b(Bearer|Basic) +[A-Za-z0-9+/=._~-]+/gi, '$1 [secret]'],
  [/\b(mlt_|whsec_)[A-Za-z0-9+/=_-]+/g, '$1[secret]'],
  [/(:\/\/[^:/@\s"]*:)[^@\s"]+@/g, '$1[secret]@'],
  [/[A-Za-z0-9+/]{120,}={0,2}/g, '[base64]'],
];

const MASKED: readonly RegExp[] = [
  // Access key of 44 characters: it holds the issuer's tax ID.
  new RegExp(`${START}[0-9]{6}[0-9A-Z]{12}[0-9]{26}${END}`, 'g'),
  // CNPJ, letters included, and CPF; bare and punctuated.
  new RegExp(`${START}[0-9A-Z]{12}[0-9]{2}${END}`, 'g'),
  new RegExp(`${START}[0-9A-Z]{2}\\.[0-9A-Z]{3}\\.[0-9A-Z]{3}/[0-9A-Z]{4}-[0-9]{2}${END}`, 'g'),
  new RegExp(`${START}[0-9]{11}${END}`, 'g'),
  new RegExp(`${START}[0-9]{3}\\.[0-9]{3}\\.[0-9]{3}-[0-9]{2}${END}`, 'g'),
];

/** The text with secrets replaced and tax IDs and access keys cut to their last 4 characters. */
export function scrub(text: string): string {
  let clean = text;
  for (const [pattern, replacement] of SECRETS) clean = clean.replace(pattern, replacement);
  for (const pattern of MASKED) clean = clean.replace(pattern, (found) => maskTaxId(found));
  return clean;
}

/** Last 4 characters of a tax ID or key, punctuation aside: "…0198". */
function maskTaxId(taxId: string): string {
  return `…${taxId.replace(/[^0-9A-Za-z]/g, '').slice(-4)}`;
}
