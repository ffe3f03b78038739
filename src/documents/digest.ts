/** The digest that the protocol was given for must be the one that was signed. Absent on either side: nothing to compare. */
export function digestWarnings(digVal: string | undefined, signed: string | undefined): string[] {
  return digVal !== undefined && signed !== undefined && digVal !== signed
    ? ['digest_differs: the protocol was given for other bytes than the signature']
    : [];
}
