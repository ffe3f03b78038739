import type { X509Certificate } from 'node:crypto';

/**
 * The issuers of a certificate, upwards, as far as `among` has them. The root is left out: who checks us has it, and trusts only its own.
 * Each step is proven by signature, so foreign certificates in a file do not get in.
 */
export function chainFrom(leaf: X509Certificate, among: readonly X509Certificate[]): X509Certificate[] {
  const chain: X509Certificate[] = [];
  let current = leaf;
  for (;;) {
    const issuer = among.find((candidate) => !chain.includes(candidate) && isIssuedBy(current, candidate));
    if (!issuer || isIssuedBy(issuer, issuer)) return chain;
    chain.push(issuer);
    current = issuer;
  }
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}
