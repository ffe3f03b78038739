import { joined, phone, postalCode, taxId } from '../kit/formats.js';
import type { XmlNode } from '../kit/xml-node.js';
import { coded, TAKERS } from './codes.js';

/** Somebody in a CT-e, ready for paper. */
export interface Party {
  readonly name: string;
  readonly taxId: string;
  readonly stateRegistration: string;
  /** Street, number, complement. */
  readonly street: string;
  readonly district: string;
  /** Municipality and state. */
  readonly city: string;
  readonly postalCode: string;
  readonly country: string;
  readonly phone: string;
}

/** Those who are there; null where the document has no such element. */
export interface Parties {
  readonly issuer: Party;
  readonly sender: Party | null;
  readonly dispatcher: Party | null;
  readonly receiver: Party | null;
  readonly recipient: Party | null;
  readonly taker: Party | null;
  /** As which of the others the taker takes part. */
  readonly takerRole: string;
}

/** The people of a CT-e, as the form names them. */
export function readParties(xml: XmlNode): Parties {
  const ide = xml.at('ide');
  const others = {
    sender: readParty(xml.at('rem'), 'enderReme'),
    dispatcher: readParty(xml.at('exped'), 'enderExped'),
    receiver: readParty(xml.at('receb'), 'enderReceb'),
    recipient: readParty(xml.at('dest'), 'enderDest'),
  };
  // toma03: layouts up to 2.00. The CT-e OS and the CT-e Simplificado have their taker outside of ide.
  const code = ide.text('toma3/toma') || ide.text('toma03/toma') || ide.text('toma4/toma') || xml.text('toma/toma');
  const own = readParty(ide.at('toma4'), 'enderToma') ?? readParty(xml.at('toma'), 'enderToma');
  const byCode = [others.sender, others.dispatcher, others.receiver, others.recipient];
  return {
    ...others,
    issuer: readParty(xml.at('emit'), 'enderEmit') ?? NOBODY,
    // Not guessed from somebody else when the one it points to is missing: it is who pays.
    taker: own ?? byCode[Number.parseInt(code, 10)] ?? null,
    takerRole: coded(code, TAKERS),
  };
}

/** A box without a name in it. */
export const NOBODY: Party = {
  name: '',
  taxId: '',
  stateRegistration: '',
  street: '',
  district: '',
  city: '',
  postalCode: '',
  country: '',
  phone: '',
};

function readParty(party: XmlNode, addressName: string): Party | null {
  if (!party.exists) return null;
  const address = party.at(addressName);
  return {
    name: party.text('xNome') || party.text('xFant'),
    taxId: taxId(party.text('CNPJ') || party.text('CPF')),
    stateRegistration: party.text('IE'),
    street: joined([joined([address.text('xLgr'), address.text('nro')], ', '), address.text('xCpl')], ' - '),
    district: address.text('xBairro'),
    city: joined([address.text('xMun'), address.text('UF')], ' - '),
    postalCode: postalCode(address.text('CEP')),
    country: address.text('xPais'),
    phone: phone(party.text('fone') || address.text('fone')),
  };
}
