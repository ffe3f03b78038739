import { createHash, createVerify, X509Certificate } from 'node:crypto';
import { XmlDocument, type XmlElement } from 'libxml2-wasm';

const DS = { ds: 'http://www.w3.org/2000/09/xmldsig#' };

export interface Verified {
  /** The digest of the referenced element's canonical form is the one that was signed. */
  readonly digest: boolean;
  /** The signature over SignedInfo's canonical form is of the certificate's key. */
  readonly signature: boolean;
  /** Names of the elements in Signature, with their algorithms, in document order. */
  readonly shape: readonly string[];
}

/**
 * Judges a signature without the library that made it: libxml2 makes the canonical forms, OpenSSL the digest and the verification.
 *
 * @param xml the whole document in which the signature stands
 */
export function verifySignature(xml: string): Verified {
  const document = XmlDocument.fromString(xml);
  try {
    const signature = document.get('//ds:Signature', DS) as XmlElement;
    const at = (path: string) => (signature.get(path, DS) as XmlElement).content;
    const id = (signature.get('ds:SignedInfo/ds:Reference', DS) as XmlElement).attr('URI')?.value.slice(1);
    const referenced = (document.get(`//*[@Id='${id}']`) as XmlElement).canonicalizeToString();
    const info = (signature.get('ds:SignedInfo', DS) as XmlElement).canonicalizeToString();
    const certificate = new X509Certificate(Buffer.from(at('ds:KeyInfo/ds:X509Data/ds:X509Certificate'), 'base64'));
    return {
      digest:
        createHash('sha1').update(referenced).digest('base64') === at('ds:SignedInfo/ds:Reference/ds:DigestValue'),
      signature: createVerify('RSA-SHA1')
        .update(info)
        .verify(certificate.publicKey, Buffer.from(at('ds:SignatureValue'), 'base64')),
      shape: signature.find('descendant::*').map((node) => {
        const element = node as XmlElement;
        return [element.name, element.attr('Algorithm')?.value].filter(Boolean).join(' ');
      }),
    };
  } finally {
    document.dispose();
  }
}
