/** Values of fields in our words. A value that the layouts do not know stays as written. */

/** tpNF of an NF-e. */
export function operationType(tpNF: string | undefined): string | undefined {
  return tpNF === '0' ? 'inbound' : tpNF === '1' ? 'outbound' : tpNF;
}

/** tpAmb of any document. */
export function environment(tpAmb: string | undefined): string | undefined {
  return tpAmb === '1' ? 'production' : tpAmb === '2' ? 'homologation' : tpAmb;
}
