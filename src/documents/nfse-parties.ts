import type { Party } from '../model/document.js';
import { party } from './party.js';
import type { FieldsWith } from './xml/paths.js';

/** Who stands in a DPS, which is where an NFS-e names its parties. */

const PLACES = { provider: 'prest', taker: 'toma', intermediary: 'interm', otherRecipient: 'IBSCBS/dest' } as const;
type Place = keyof typeof PLACES;

const PARTY_FIELDS = {
  cnpj: 'CNPJ',
  cpf: 'CPF',
  nif: 'NIF',
  noNif: 'cNaoNIF',
  name: 'xNome',
  im: 'IM',
} as const;

export type DpsPartyPath = `${Place}.${keyof typeof PARTY_FIELDS}`;

/** @param dps path of infDPS */
export function dpsPartyPaths(dps: string): Record<DpsPartyPath, string> {
  return Object.fromEntries(
    Object.entries(PLACES).flatMap(([place, at]) =>
      Object.entries(PARTY_FIELDS).map(([field, element]) => [`${place}.${field}`, `${dps}/${at}/${element}`]),
    ),
  ) as Record<DpsPartyPath, string>;
}

/** A party identified abroad has a NIF, or a code that says why it has none: no tax ID of Brazil. */
export function dpsParty(xml: FieldsWith<DpsPartyPath>, place: Place): Party | undefined {
  const taxId = xml.text(`${place}.cnpj`) ?? xml.text(`${place}.cpf`);
  const abroad = xml.has(`${place}.nif`) || xml.has(`${place}.noNif`);
  return party({
    taxId,
    name: xml.text(`${place}.name`),
    municipalRegistration: xml.text(`${place}.im`),
    foreignTaxId: xml.text(`${place}.nif`),
    foreign: (taxId === undefined && abroad) || undefined,
  });
}
