import { PdfFailed } from '../errors.js';
import {
  amount,
  date,
  documentNumber,
  inGroups,
  joined,
  phone,
  postalCode,
  seriesNumber,
  taxId,
  timeOfDay,
} from '../kit/formats.js';
import type { XmlNode } from '../kit/xml-node.js';
import { contingencyCode } from './contingency-code.js';
import { type Item, readItem } from './item.js';
import { remarksOf } from './remarks.js';
import { readTotals, type Totals } from './totals.js';

/**
 * An NF-e or NFC-e as it is printed: every field is a text ready for paper, empty where the XML has nothing. Only this part of the DANFE
 * knows the XML.
 */
export interface Note {
  /** `55` or `65`. */
  readonly model: string;
  /** As in the XML, without groups. Empty when there is none. */
  readonly key: string;
  readonly number: string;
  readonly series: string;
  /** tpNF: `0` in, `1` out. */
  readonly operation: string;
  readonly nature: string;
  readonly landscape: boolean;
  /** dhEmi as written. */
  readonly issued: string;
  readonly issuedOn: string;
  readonly issuedAt: string;
  readonly leftOn: string;
  readonly leftAt: string;
  readonly isTest: boolean;
  /** tpEmis; `1` is the normal one. */
  readonly emission: string;
  /** Contents of the second barcode, see contingency-code.ts; null for a note that has none. */
  readonly contingencyCode: string | null;
  /** Whether the parts of the consumption tax reform belong on the page. */
  readonly reform: boolean;
  readonly protocol: Protocol;
  readonly issuer: Issuer;
  readonly recipient: Party;
  readonly pickup: Party | null;
  readonly delivery: Party | null;
  readonly invoice: Invoice | null;
  readonly installments: readonly Installment[];
  readonly totals: Totals;
  readonly transport: Transport;
  readonly services: Services | null;
  readonly items: readonly Item[];
  /** Everything for "informações complementares", in paragraphs. */
  readonly remarks: readonly string[];
}

interface Protocol {
  readonly number: string;
  readonly on: string;
  readonly at: string;
  /** cStat; empty when nobody has authorized the note. */
  readonly status: string;
}

/** Issuer or recipient, ready to print. */
export interface Party {
  readonly name: string;
  readonly taxId: string;
  /** Whether `taxId` is a passport or the like. */
  readonly foreign: boolean;
  readonly street: string;
  readonly district: string;
  readonly city: string;
  readonly uf: string;
  readonly postalCode: string;
  readonly phone: string;
  readonly stateRegistration: string;
}

interface Issuer extends Party {
  readonly substituteRegistration: string;
  readonly cityRegistration: string;
  /** CRT with its meaning. */
  readonly regime: string;
}

interface Invoice {
  readonly number: string;
  readonly original: string;
  readonly discount: string;
  readonly net: string;
}

/** One instalment of the payment. */
export interface Installment {
  readonly number: string;
  readonly due: string;
  readonly value: string;
}

/** Who carries the goods, and how. */
export interface Transport {
  readonly name: string;
  readonly freight: string;
  readonly anttCode: string;
  readonly plate: string;
  readonly plateUf: string;
  readonly taxId: string;
  readonly street: string;
  readonly city: string;
  readonly uf: string;
  readonly stateRegistration: string;
  readonly volumes: readonly Volume[];
}

/** Packages, as the carrier counts them. */
export interface Volume {
  readonly quantity: string;
  readonly kind: string;
  readonly brand: string;
  readonly numbering: string;
  readonly gross: string;
  readonly net: string;
}

interface Services {
  readonly total: string;
  readonly base: string;
  readonly tax: string;
}

/** NT 2026.010 is in production from this day on. */
const REFORM_LAYOUT_FROM = '2026-12-01';

/**
 * @param root `nfeProc`, or a bare `NFe`
 * @throws {PdfFailed} `other_document`, `contradiction`
 */
export function readNote(root: XmlNode): Note {
  const nfe = root.name === 'NFe' ? root : root.at('NFe');
  const xml = nfe.at('infNFe');
  if (!xml.exists) throw new PdfFailed('other_document', 'The document is no NF-e: it has no infNFe');
  const approval = root.at('protNFe/infProt');
  const key = xml.attribute('Id').replace(/^NFe/, '') || approval.text('chNFe');
  if (approval.text('chNFe') !== '' && approval.text('chNFe') !== key) {
    throw new PdfFailed('contradiction', 'The protocol is about another note: their keys differ');
  }
  const ide = xml.at('ide');
  const issued = ide.text('dhEmi') || ide.text('dEmi');
  const left = ide.text('dhSaiEnt') || ide.text('dSaiEnt');
  const isApproved = approval.text('nProt') !== '';
  return {
    model: ide.text('mod') || key.slice(20, 22),
    key,
    number: documentNumber(ide.text('nNF')),
    series: seriesNumber(ide.text('serie')),
    operation: ide.text('tpNF'),
    nature: ide.text('natOp'),
    landscape: ide.text('tpImp') === '2',
    issued,
    issuedOn: date(issued),
    issuedAt: timeOfDay(issued),
    leftOn: date(left),
    // Up to layout 2.00 the time of leaving had an element of its own.
    leftAt: timeOfDay(left) || ide.text('hSaiEnt'),
    isTest: ide.text('tpAmb') === '2',
    emission: ide.text('tpEmis'),
    contingencyCode: isApproved ? null : contingencyCode(xml, key),
    reform:
      xml.at('total/IBSCBSTot').exists || xml.at('total/ISTot').exists || issued.slice(0, 10) >= REFORM_LAYOUT_FROM,
    protocol: {
      number: approval.text('nProt'),
      on: date(approval.text('dhRecbto')),
      at: timeOfDay(approval.text('dhRecbto')),
      status: isApproved ? approval.text('cStat') : '',
    },
    issuer: {
      ...readParty(xml.at('emit'), 'enderEmit'),
      substituteRegistration: xml.text('emit/IEST'),
      cityRegistration: xml.text('emit/IM'),
      regime: regimeOf(xml.text('emit/CRT')),
    },
    recipient: readParty(xml.at('dest'), 'enderDest'),
    pickup: readPlace(xml.at('retirada')),
    delivery: readPlace(xml.at('entrega')),
    invoice: readInvoice(xml.at('cobr/fat')),
    installments: xml
      .at('cobr')
      .all('dup')
      .map((dup) => ({ number: dup.text('nDup'), due: date(dup.text('dVenc')), value: amount(dup.text('vDup')) })),
    totals: readTotals(xml.at('total')),
    transport: readTransport(xml.at('transp')),
    services: readServices(xml.at('total/ISSQNtot')),
    items: xml.all('det').map(readItem),
    remarks: remarksOf(xml),
  };
}

/** Title of the PDF: what a reader shows in its window. */
export function titleOf({ model, number, series, key }: Note): string {
  return joined([`DANFE ${model === '65' ? 'NFC-e' : 'NF-e'} ${number} série ${series}`, inGroups(key)], ' – ');
}

function readParty(party: XmlNode, addressName: string): Party {
  const address = party.at(addressName);
  const document = party.text('CNPJ') || party.text('CPF');
  return {
    ...readAddress(address),
    name: party.text('xNome'),
    taxId: document === '' ? party.text('idEstrangeiro') : taxId(document),
    foreign: document === '' && party.text('idEstrangeiro') !== '',
    stateRegistration: party.text('IE'),
  };
}

/** A pick-up or delivery address, which has no element of its own around the street. */
function readPlace(place: XmlNode): Party | null {
  if (place.children.length === 0) return null;
  return {
    ...readAddress(place),
    name: place.text('xNome'),
    taxId: taxId(place.text('CNPJ') || place.text('CPF')),
    foreign: false,
    stateRegistration: place.text('IE'),
  };
}

function readAddress(address: XmlNode): Pick<Party, 'street' | 'district' | 'city' | 'uf' | 'postalCode' | 'phone'> {
  const uf = address.text('UF');
  return {
    street: joined([joined([address.text('xLgr'), address.text('nro')], ', '), address.text('xCpl')], ' - '),
    district: address.text('xBairro'),
    // Abroad the municipality is "EXTERIOR" and the state "EX": then only the country says anything.
    city: joined([address.text('xMun'), uf === 'EX' ? address.text('xPais') : ''], ' - '),
    uf,
    postalCode: postalCode(address.text('CEP')),
    phone: phone(address.text('fone')),
  };
}

const REGIMES: ReadonlyMap<string, string> = new Map([
  ['1', 'SIMPLES NACIONAL'],
  ['2', 'SIMPLES NACIONAL - EXCESSO DE SUBLIMITE DE RECEITA BRUTA'],
  ['3', 'REGIME NORMAL'],
  ['4', 'SIMPLES NACIONAL - MICROEMPREENDEDOR INDIVIDUAL (MEI)'],
]);

function regimeOf(crt: string): string {
  return joined([crt, REGIMES.get(crt) ?? ''], ' - ');
}

function readInvoice(fat: XmlNode): Invoice | null {
  if (fat.children.length === 0) return null;
  return {
    number: fat.text('nFat'),
    original: amount(fat.text('vOrig')),
    discount: amount(fat.text('vDesc')),
    net: amount(fat.text('vLiq')),
  };
}

const FREIGHT: ReadonlyMap<string, string> = new Map([
  ['0', 'REMETENTE (CIF)'],
  ['1', 'DESTINATÁRIO (FOB)'],
  ['2', 'TERCEIROS'],
  ['3', 'PRÓPRIO DO REMETENTE'],
  ['4', 'PRÓPRIO DO DESTINATÁRIO'],
  ['9', 'SEM TRANSPORTE'],
]);

function readTransport(transp: XmlNode): Transport {
  const carrier = transp.at('transporta');
  const vehicle = transp.at('veicTransp');
  const freight = transp.text('modFrete');
  return {
    name: carrier.text('xNome'),
    freight: joined([freight, FREIGHT.get(freight) ?? ''], ' - '),
    anttCode: vehicle.text('RNTC'),
    plate: vehicle.text('placa'),
    plateUf: vehicle.text('UF'),
    taxId: taxId(carrier.text('CNPJ') || carrier.text('CPF')),
    street: carrier.text('xEnder'),
    city: carrier.text('xMun'),
    uf: carrier.text('UF'),
    stateRegistration: carrier.text('IE'),
    volumes: transp.all('vol').map((vol) => ({
      quantity: vol.text('qVol'),
      kind: vol.text('esp'),
      brand: vol.text('marca'),
      numbering: vol.text('nVol'),
      gross: amount(vol.text('pesoB')),
      net: amount(vol.text('pesoL')),
    })),
  };
}

function readServices(total: XmlNode): Services | null {
  if (total.children.length === 0) return null;
  return { total: amount(total.text('vServ')), base: amount(total.text('vBC')), tax: amount(total.text('vISS')) };
}
