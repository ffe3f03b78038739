import { joined, phone, taxId } from '../kit/formats.js';
import type { XmlNode } from '../kit/xml-node.js';
import { municipalityName, ufOfMunicipality } from './municipalities.js';
import { dottedPostalCode, limited } from './values.js';

/** Somebody named in an NFS-e, every field ready for paper. */
export interface Party {
  /** CNPJ, CPF or NIF. */
  readonly id: string;
  readonly municipalRegistration: string;
  readonly phone: string;
  readonly name: string;
  /** `Curitiba / PR`; abroad the city, its region and the country. */
  readonly city: string;
  /** `4106902 / 80.010-000`; abroad the postal code. */
  readonly codes: string;
  readonly street: string;
  readonly email: string;
}

/** What NT 008 prints of a name or an address. */
const LONGEST = 77;

/** null: the note does not identify anybody there. */
export function readParty(party: XmlNode): Party | null {
  return hasText(party) ? partyOf(party, party.at('end')) : null;
}

/**
 * The DPS leaves out what `emit` says of a provider that is the emitter: then each field that `prest` lacks is taken from there.
 *
 * @param infNfse with `emit`, and the DPS in it
 */
export function readProvider(infNfse: XmlNode): Party | null {
  const dps = infNfse.at('DPS/infDPS');
  const [declared, emit] = [dps.at('prest'), infNfse.at('emit')];
  const isEmitter = idOf(declared) === '' ? dps.text('tpEmit') === '1' : idOf(declared) === idOf(emit);
  const party = readParty(declared);
  if (!isEmitter) return party;
  const registered = hasText(emit) ? partyOf(emit, emit.at('enderNac')) : null;
  if (party === null || registered === null) return party ?? registered;
  const address = declared.at('end').exists ? party : registered;
  return {
    id: party.id || registered.id,
    municipalRegistration: party.municipalRegistration || registered.municipalRegistration,
    phone: party.phone || registered.phone,
    name: party.name || registered.name,
    city: address.city,
    codes: address.codes,
    street: address.street,
    email: party.email || registered.email,
  };
}

/** CNPJ, CPF or NIF as written. */
export function idOf(party: XmlNode): string {
  return party.text('CNPJ') || party.text('CPF') || party.text('NIF');
}

function partyOf(party: XmlNode, address: XmlNode): Party {
  const abroad = address.at('endExt');
  // In `end` municipality and postal code are one level deeper than in `enderNac`, the emitter's.
  const home = address.at('endNac').exists ? address.at('endNac') : address;
  const code = home.text('cMun');
  const foreign = abroad.exists;
  return {
    id: party.text('NIF') || taxId(idOf(party)),
    municipalRegistration: party.text('IM'),
    phone: phone(party.text('fone')),
    name: limited(party.text('xNome'), LONGEST),
    city: foreign
      ? joined([abroad.text('xCidade'), abroad.text('xEstProvReg'), abroad.text('cPais')], ' / ')
      : joined([home.text('xMun') || municipalityName(code), ufOfMunicipality(code) ?? home.text('UF')], ' / '),
    codes: foreign
      ? joined([abroad.text('cEndPost'), abroad.text('cEndPost') === '' ? '' : '(ext)'], ' ')
      : joined([code, dottedPostalCode(home.text('CEP'))], ' / '),
    street: limited(
      joined([address.text('xLgr'), address.text('nro'), address.text('xCpl'), address.text('xBairro')], ', '),
      LONGEST,
    ),
    email: party.text('email'),
  };
}

/** Whether anything stands in it, at whatever depth. An empty `toma` is as good as none. */
export function hasText(node: XmlNode): boolean {
  return node.text() !== '' || node.children.some(hasText);
}
