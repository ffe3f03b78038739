import { PdfFailed } from '../errors.js';
import { date, dateAndTime, joined } from '../kit/formats.js';
import type { XmlNode } from '../kit/xml-node.js';
import { municipalityName, place, ufOfMunicipality } from './municipalities.js';
import { idOf, type Party, readParty, readProvider } from './party.js';
import { approximateTaxes, remarksOf } from './remarks.js';
import { type Federal, type IbsCbs, type Issqn, isNoService, readFederal, readIbsCbs, readIssqn } from './taxes.js';
import { EMITTERS, ENVIRONMENTS, GENERATORS, PURPOSES, SIMPLES, SIMPLES_REGIMES, STATUSES, textOf } from './texts.js';
import { limited, limitedAll, money, nationalCode, nbsCode, sum } from './values.js';

/**
 * An NFS-e as it is printed: every field is a text ready for paper, empty where the XML has nothing. Only this part of the DANFSe knows the
 * XML.
 */
export interface ServiceNote {
  /** 50 characters. Empty when there is none. */
  readonly key: string;
  readonly number: string;
  /** dhProc as written, or else dhEmi. */
  readonly issued: string;
  readonly isTest: boolean;
  /** Municipality of the emission; null where NT 008 hides it. */
  readonly city: string | null;
  readonly generator: string;
  readonly environment: string;
  readonly competence: string;
  readonly issuedAt: string;
  readonly declaration: { readonly number: string; readonly series: string; readonly issuedAt: string };
  readonly emitter: string;
  readonly status: string;
  readonly purpose: string;
  readonly provider: Party | null;
  readonly simples: string;
  readonly simplesRegime: string;
  readonly taker: Party | null;
  /** `taker`: the taker itself. */
  readonly recipient: Party | 'taker' | null;
  readonly intermediary: Party | null;
  readonly service: Service;
  readonly issqn: Issqn | null;
  readonly federal: Federal;
  readonly ibsCbs: IbsCbs | null;
  readonly totals: Totals;
  readonly remarks: string;
  readonly approximateTaxes: string;
}

interface Service {
  readonly codes: string;
  readonly nbs: string;
  readonly place: string;
  /** What the code means. */
  readonly codeText: string;
  readonly description: readonly string[];
}

interface Totals {
  readonly service: string;
  readonly unconditionalDiscount: string;
  readonly conditionalDiscount: string;
  readonly withheld: string;
  readonly net: string;
  readonly ibsCbs: string;
  readonly total: string;
}

/** What NT 008 prints of these texts. */
const LONGEST_CODE_TEXT = 167;
const LONGEST_DESCRIPTION = 1297;

/**
 * @param root `NFSe`
 * @throws {PdfFailed} `other_document`
 */
export function readServiceNote(root: XmlNode): ServiceNote {
  const note = root.at('infNFSe');
  if (root.name !== 'NFSe' || !note.exists) {
    throw new PdfFailed('other_document', 'The document is no NFS-e: it has no NFSe/infNFSe');
  }
  const dps = note.at('DPS/infDPS');
  return {
    key: note.attribute('Id').replace(/^NFS/, ''),
    number: note.text('nNFSe'),
    issued: note.text('dhProc') || dps.text('dhEmi'),
    isTest: dps.text('tpAmb') === '2',
    city: cityOf(note, dps),
    generator: textOf(GENERATORS, note.text('ambGer')),
    environment: textOf(ENVIRONMENTS, dps.text('tpAmb')),
    competence: date(dps.text('dCompet')),
    issuedAt: dateAndTime(note.text('dhProc')),
    declaration: { number: dps.text('nDPS'), series: dps.text('serie'), issuedAt: dateAndTime(dps.text('dhEmi')) },
    emitter: textOf(EMITTERS, dps.text('tpEmit')),
    status: textOf(STATUSES, note.text('cStat')),
    purpose: textOf(PURPOSES, dps.text('IBSCBS/finNFSe')),
    provider: readProvider(note),
    simples: textOf(SIMPLES, dps.text('prest/regTrib/opSimpNac')),
    simplesRegime: textOf(SIMPLES_REGIMES, dps.text('prest/regTrib/regApTribSN')),
    taker: readParty(dps.at('toma')),
    recipient: readRecipient(dps),
    intermediary: readParty(dps.at('interm')),
    service: readService(note, dps),
    issqn: readIssqn(note, dps),
    federal: readFederal(dps),
    ibsCbs: readIbsCbs(note, dps),
    totals: readTotals(note, dps),
    remarks: remarksOf(note, dps),
    approximateTaxes: approximateTaxes(dps),
  };
}

/** Title of the PDF: what a reader shows in its window. */
export function titleOf({ number, key }: ServiceNote): string {
  return joined([`DANFSe NFS-e ${number}`.trim(), key], ' – ');
}

/** Hidden for operations of item 99, which no municipality taxes. */
function cityOf(note: XmlNode, dps: XmlNode): string | null {
  if (isNoService(dps)) return null;
  const code = dps.text('cLocEmi');
  const uf = ufOfMunicipality(code) ?? note.text('emit/enderNac/UF');
  return joined([note.text('xLocEmi') || municipalityName(code), uf], ' / ');
}

/** indDest 0: the recipient is the taker. Some notes say it by naming the taker once more. */
function readRecipient(dps: XmlNode): Party | 'taker' | null {
  const [taker, recipient] = [dps.at('toma'), dps.at('IBSCBS/dest')];
  const isTaker = dps.text('IBSCBS/indDest') === '0' && readParty(recipient) === null;
  const isSame = idOf(recipient) !== '' && idOf(recipient) === idOf(taker);
  return (isTaker || isSame) && readParty(taker) !== null ? 'taker' : readParty(recipient);
}

function readService(note: XmlNode, dps: XmlNode): Service {
  const [service, where] = [dps.at('serv/cServ'), dps.at('serv/locPrest')];
  return {
    codes: joined([nationalCode(service.text('cTribNac')), service.text('cTribMun')], ' / '),
    nbs: nbsCode(service.text('cNBS')),
    place: place(note.text('xLocPrestacao'), where.text('cLocPrestacao'), where.text('cPaisPrestacao')),
    codeText: limited(note.text('xTribMun') || note.text('xTribNac'), LONGEST_CODE_TEXT),
    description: limitedAll(service.paragraphs('xDescServ'), LONGEST_DESCRIPTION),
  };
}

function readTotals(note: XmlNode, dps: XmlNode): Totals {
  const [values, discounts] = [dps.at('valores'), dps.at('valores/vDescCondIncond')];
  const reform = note.at('IBSCBS/totCIBS');
  return {
    service: money(values.text('vServPrest/vServ')),
    unconditionalDiscount: money(discounts.text('vDescIncond')),
    conditionalDiscount: money(discounts.text('vDescCond')),
    withheld: money(note.text('valores/vTotalRet')),
    net: money(note.text('valores/vLiq')),
    ibsCbs: money(sum([reform.text('gIBS/vIBSTot'), reform.text('gCBS/vCBS')])),
    total: money(reform.text('vTotNF')),
  };
}
