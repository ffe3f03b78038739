import forge from 'node-forge';

/** The few ASN.1 look-ups that neither Node's X509Certificate nor node-forge's (RSA only) offers for every certificate. */

export type Asn1 = forge.asn1.Asn1;

/** Bytes after the DER are ignored: exports with a trailing line break exist (engineering.md 6.1). */
export function parseDer(der: Uint8Array): Asn1 {
  return forge.asn1.fromDer(forge.util.createBuffer(Buffer.from(der).toString('latin1')), {
    strict: true,
    parseAllBytes: false,
  } as unknown as boolean);
}

/** The bytes of a node. */
export function toDer(node: Asn1): Buffer {
  return Buffer.from(forge.asn1.toDer(node).getBytes(), 'latin1');
}

/** What a constructed node holds; nothing of any other. */
export function childrenOf(node: Asn1 | undefined): Asn1[] {
  return node && Array.isArray(node.value) ? node.value : [];
}

/** Whether it is a node of that built-in type. */
export function isUniversal(node: Asn1 | undefined, type: forge.asn1.Type): boolean {
  return node?.tagClass === forge.asn1.Class.UNIVERSAL && node.type === type;
}

function isContext(node: Asn1 | undefined, tag: number): boolean {
  return node?.tagClass === forge.asn1.Class.CONTEXT_SPECIFIC && Number(node.type) === tag;
}

/** An object identifier in dots; null if it is something else. */
export function oidOf(node: Asn1 | undefined): string | null {
  return node && isUniversal(node, forge.asn1.Type.OID) && typeof node.value === 'string'
    ? forge.asn1.derToOid(node.value)
    : null;
}

/** The parsed content of one extension of an X.509 certificate. */
function extension(certificateDer: Uint8Array, oid: string): Asn1 | null {
  const [tbs] = childrenOf(parseDer(certificateDer));
  const [list] = childrenOf(childrenOf(tbs).find((child) => isContext(child, 3)));
  const found = childrenOf(list).find((child) => oidOf(childrenOf(child)[0]) === oid);
  const content = childrenOf(found).at(-1)?.value;
  return typeof content === 'string' ? parseDer(Buffer.from(content, 'latin1')) : null;
}

/**
 * The otherName entries of the subject alternative name: OID to text. Authorities write the value as UTF8String, PrintableString,
 * IA5String, OCTET STRING or BMPString; what counts is the text inside.
 */
export function otherNames(certificateDer: Uint8Array): Map<string, string> {
  const names = new Map<string, string>();
  for (const entry of childrenOf(extension(certificateDer, '2.5.29.17') ?? undefined)) {
    const oid = isContext(entry, 0) ? oidOf(childrenOf(entry)[0]) : null;
    if (oid !== null) names.set(oid, textWithin(childrenOf(entry)[1]));
  }
  return names;
}

/** OIDs of the certificate's policies. */
export function policyOids(certificateDer: Uint8Array): string[] {
  return childrenOf(extension(certificateDer, '2.5.29.32') ?? undefined).flatMap(
    (policy) => oidOf(childrenOf(policy)[0]) ?? [],
  );
}

function textWithin(node: Asn1 | undefined): string {
  if (!node) return '';
  // The zero bytes of a BMPString: all that is read from here is ASCII.
  return typeof node.value === 'string' ? node.value.replaceAll('\0', '') : textWithin(childrenOf(node)[0]);
}
