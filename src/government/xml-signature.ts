import { X509Certificate } from 'node:crypto';
import { SignedXml } from 'xml-crypto';
import type { ClientCertificate } from './types.js';

/** Enveloped signatures as the government's services want them (MOC, "Padrão de assinatura digital"; nfe-cte.md 1c). */

const C14N = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';
const ENVELOPED = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';
const RSA_SHA1 = 'http://www.w3.org/2000/09/xmldsig#rsa-sha1';
const SHA1 = 'http://www.w3.org/2000/09/xmldsig#sha1';

/**
 * Signs the one element of this `Id` and puts the signature in as the last child of the root: C14N 1.0 inclusive, RSA-SHA1, exactly two
 * transforms, the leaf certificate and nothing else about the key.
 *
 * `xml` is a document of its own: what stands around it in a message must not be in scope of the canonical form (case C58). Its characters
 * stay as they are, the signature is put in between, so what is sent is what was signed.
 *
 * @param certificate its leaf comes first in `chainPem`
 * @returns `xml` with the signature before its last end tag
 * @throws {Error} a bug of the caller, or a key that cannot be used. Says nothing of either.
 */
export function signEnveloped(xml: string, id: string, certificate: ClientCertificate): string {
  const end = xml.lastIndexOf('</');
  if (end < 0 || !/^[A-Za-z][\w.-]*$/.test(id) || xml.split(` Id="${id}"`).length !== 2) {
    throw new Error('an element to be signed must carry its Id once, inside a root element');
  }
  return xml.slice(0, end) + signatureOf(xml, id, certificate) + xml.slice(end);
}

function signatureOf(xml: string, id: string, { keyPem, chainPem }: ClientCertificate): string {
  const signer = new SignedXml({
    privateKey: keyPem,
    canonicalizationAlgorithm: C14N,
    signatureAlgorithm: RSA_SHA1,
    getKeyInfoContent: () => `<X509Data><X509Certificate>${leafOf(chainPem)}</X509Certificate></X509Data>`,
  });
  signer.addReference({
    xpath: `//*[@Id='${id}']`,
    transforms: [ENVELOPED, C14N],
    digestAlgorithm: SHA1,
  });
  try {
    signer.computeSignature(xml);
  } catch {
    // The library's error may quote the XML or the key.
    throw new Error('the element could not be signed');
  }
  return signer.getSignatureXml();
}

/** Base64 of the first certificate, on one line. */
function leafOf(chainPem: string): string {
  return new X509Certificate(chainPem).raw.toString('base64');
}
