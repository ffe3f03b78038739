import forge from 'node-forge';
import { objectId, sequence, tagged, taggedBytes, text, toDer } from './der.js';

/**
 * Where ICP-Brasil puts a holder's tax ID: not in the subject, but in `otherName`s of the subject's alternative names
 * (DOC-ICP-04). A company's certificate carries its CNPJ; a person's carries a block of fixed positions with the CPF inside.
 */
export const OTHER_NAMES = {
  personBlock: '2.16.76.1.3.1',
  responsibleName: '2.16.76.1.3.2',
  cnpj: '2.16.76.1.3.3',
  responsibleBlock: '2.16.76.1.3.4',
  voter: '2.16.76.1.3.5',
  personCei: '2.16.76.1.3.6',
  companyCei: '2.16.76.1.3.7',
} as const;

/** Authorities have written these values in four ASN.1 types over the years; a reader must take them all. */
export const STRING_TYPES = ['octet', 'printable', 'utf8', 'ia5'] as const;
export type StringType = (typeof STRING_TYPES)[number];

const ASN1_TYPE: Record<StringType, forge.asn1.Type> = {
  octet: forge.asn1.Type.OCTETSTRING,
  printable: forge.asn1.Type.PRINTABLESTRING,
  utf8: forge.asn1.Type.UTF8,
  ia5: forge.asn1.Type.IA5STRING,
};

/** DER of the alternative names of an A1 certificate for `taxId` (14 characters: company, 11: person). */
export function holderAltNames(taxId: string, stringType: StringType): Buffer {
  const other = (id: string, value: string) => tagged(0, objectId(id), tagged(0, text(ASN1_TYPE[stringType], value)));
  const email = taggedBytes(1, Buffer.from('fiscal@example.com.br', 'latin1'));
  const names =
    taxId.length === 11
      ? [
          other(OTHER_NAMES.personBlock, personBlock(taxId)),
          other(OTHER_NAMES.voter, '0'.repeat(19)),
          other(OTHER_NAMES.personCei, '0'.repeat(12)),
        ]
      : [
          other(OTHER_NAMES.responsibleName, 'MARIA DA AMOSTRA'),
          other(OTHER_NAMES.cnpj, taxId),
          other(OTHER_NAMES.responsibleBlock, personBlock('52998224725')),
          other(OTHER_NAMES.companyCei, '0'.repeat(12)),
        ];
  return toDer(sequence(email, ...names));
}

/** DER of the alternative names of a server: host names and IPv4 addresses. */
export function serverAltNames(hosts: readonly string[]): Buffer {
  return toDer(
    sequence(
      ...hosts.map((host) =>
        /^\d+(\.\d+){3}$/.test(host)
          ? taggedBytes(7, Buffer.from(host.split('.').map(Number)))
          : taggedBytes(2, Buffer.from(host, 'latin1')),
      ),
    ),
  );
}

/** Birth date (8), CPF (11), NIS (11), RG (15), its issuer and UF (10). The CPF is not at the start: readers trip over that. */
function personBlock(cpf: string): string {
  return `01011980${cpf}${'0'.repeat(11)}${'123456789'.padStart(15, '0')}SSPSP`;
}
