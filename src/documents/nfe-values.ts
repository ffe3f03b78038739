/** Values of NF-e fields in our words. A value that the layouts do not know stays as written. */

export function operationType(tpNF: string | undefined): string | undefined {
  return tpNF === '0' ? 'inbound' : tpNF === '1' ? 'outbound' : tpNF;
}

export function environment(tpAmb: string | undefined): string | undefined {
  return tpAmb === '1' ? 'production' : tpAmb === '2' ? 'homologation' : tpAmb;
}
