import { LRUCache } from 'lru-cache';
import { seededBytes } from './random.js';

/** Base64 of bytes that look like a signature and a certificate and are neither. */
interface Dummies {
  readonly value: string;
  readonly certificate: string;
}

const dummies = new LRUCache<string, Dummies>({ max: 500 });

function dummiesOf(signer: string): Dummies {
  let made = dummies.get(signer);
  if (made === undefined) {
    const certificate = seededBytes(`${signer}/certificate`, 1100).toString('base64');
    // Many real certificates stand there with line breaks inside.
    const broken = signer.charCodeAt(0) % 3 === 0 ? certificate.replace(/(.{76})/g, '$1\n') : certificate;
    made = { value: seededBytes(`${signer}/signature`, 256).toString('base64'), certificate: broken };
    dummies.set(signer, made);
  }
  return made;
}

/** A signature of the right form around a digest. `signer`: tax ID. Value and certificate are dummies. */
export function dummySignature(id: string, digest: string, signer: string): string {
  const { value, certificate } = dummiesOf(signer);
  return (
    '<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"><SignedInfo>' +
    '<CanonicalizationMethod Algorithm="http://www.w3.org/TR/2001/REC-xml-c14n-20010315"/>' +
    '<SignatureMethod Algorithm="http://www.w3.org/2000/09/xmldsig#rsa-sha1"/>' +
    `<Reference URI="#${id}"><Transforms>` +
    '<Transform Algorithm="http://www.w3.org/2000/09/xmldsig#enveloped-signature"/>' +
    '<Transform Algorithm="http://www.w3.org/TR/2001/REC-xml-c14n-20010315"/></Transforms>' +
    '<DigestMethod Algorithm="http://www.w3.org/2000/09/xmldsig#sha1"/>' +
    `<DigestValue>${digest}</DigestValue></Reference></SignedInfo>` +
    `<SignatureValue>${value}</SignatureValue>` +
    `<KeyInfo><X509Data><X509Certificate>${certificate}</X509Certificate></X509Data></KeyInfo></Signature>`
  );
}
