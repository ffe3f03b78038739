import { X509Certificate } from 'node:crypto';
import { ICP_BRASIL_ROOTS } from './icp-brasil-roots.js';

/** MALOTE_GOVERNMENT_CA_FILE cannot be used. Names the certificate that is wrong. */
export class InvalidCaFile extends Error {
  override readonly name = 'InvalidCaFile';
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/**
 * The certificates that government servers may end in, besides Mozilla's: the bundled ICP-Brasil roots and those of MALOTE_GOVERNMENT_CA_FILE.
 *
 * @param file PEM, one or more certificates; null: there is none
 * @throws {InvalidCaFile}
 */
export function governmentRoots(file: string | null): readonly string[] {
  return [...ICP_BRASIL_ROOTS.map((root) => root.pem), ...(file === null ? [] : certificatesOf(file))];
}

function certificatesOf(file: string): readonly string[] {
  const certificates = file.match(CERTIFICATE) ?? [];
  if (certificates.length === 0) throw new InvalidCaFile('MALOTE_GOVERNMENT_CA_FILE has no certificate in PEM form.');
  for (const [index, pem] of certificates.entries()) {
    try {
      new X509Certificate(pem);
    } catch {
      throw new InvalidCaFile(`Certificate ${index + 1} of MALOTE_GOVERNMENT_CA_FILE cannot be read.`);
    }
  }
  return certificates;
}
