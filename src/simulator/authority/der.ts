import forge from 'node-forge';

/** A thin vocabulary for writing DER by node-forge, so that the structures below read like their definitions. */
type Node = forge.asn1.Asn1;
const { Class, Type } = forge.asn1;

export function sequence(...items: Node[]): Node {
  return forge.asn1.create(Class.UNIVERSAL, Type.SEQUENCE, true, items);
}

export function set(...items: Node[]): Node {
  return forge.asn1.create(Class.UNIVERSAL, Type.SET, true, items);
}

export function objectId(dotted: string): Node {
  return forge.asn1.create(Class.UNIVERSAL, Type.OID, false, forge.asn1.oidToDer(dotted).getBytes());
}

export function integer(value: number): Node {
  return forge.asn1.create(Class.UNIVERSAL, Type.INTEGER, false, forge.asn1.integerToDer(value).getBytes());
}

export function octets(content: Buffer): Node {
  return forge.asn1.create(Class.UNIVERSAL, Type.OCTETSTRING, false, bytes(content));
}

export function nothing(): Node {
  return forge.asn1.create(Class.UNIVERSAL, Type.NULL, false, '');
}

/** `[n] EXPLICIT`, or `[n] IMPLICIT` of a constructed type, around `items`. */
export function tagged(tag: number, ...items: Node[]): Node {
  return forge.asn1.create(Class.CONTEXT_SPECIFIC, tag, true, items);
}

/** `[n] IMPLICIT` of a primitive type. */
export function taggedBytes(tag: number, content: Buffer): Node {
  return forge.asn1.create(Class.CONTEXT_SPECIFIC, tag, false, bytes(content));
}

/** A string of the given ASN.1 type; the text is encoded as UTF-8 (the same as ASCII for the narrower types). */
export function text(type: forge.asn1.Type, value: string): Node {
  return forge.asn1.create(Class.UNIVERSAL, type, false, bytes(Buffer.from(value, 'utf8')));
}

export function toDer(node: Node): Buffer {
  return Buffer.from(forge.asn1.toDer(node).getBytes(), 'latin1');
}

/** node-forge keeps bytes in strings, one character each. */
export function bytes(content: Buffer): string {
  return content.toString('latin1');
}
