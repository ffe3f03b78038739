import { rate } from '../kit/formats.js';
import type { XmlNode } from '../kit/xml-node.js';
import { place } from './municipalities.js';
import { hasText } from './party.js';
import {
  BENEFITS,
  IMMUNITIES,
  ISSQN_KINDS,
  ISSQN_WITHHOLDINGS,
  SOCIAL_WITHHOLDINGS,
  SPECIAL_REGIMES,
  SUSPENSIONS,
  textOf,
} from './texts.js';
import { money, rates, sum } from './values.js';

/** Taxes of an NFS-e, every field ready for paper. In each function: infNFSe, what the government computed, and infDPS, what was declared. */

export interface Issqn {
  readonly kind: string;
  readonly place: string;
  readonly specialRegime: string;
  readonly immunity: string;
  readonly suspension: string;
  readonly process: string;
  readonly benefit: string;
  readonly benefitAmount: string;
  readonly deductions: string;
  readonly discount: string;
  readonly base: string;
  readonly rate: string;
  readonly withholding: string;
  readonly amount: string;
}

const NO_INCIDENCE = '4';

/** Item 99 of the national codes: operations that are on no list of services. */
export function isNoService(dps: XmlNode): boolean {
  return dps.text('serv/cServ/cTribNac').startsWith('99');
}

/** null: the operation is not subject to ISSQN, and the block has nothing to say. */
export function readIssqn(note: XmlNode, dps: XmlNode): Issqn | null {
  const [values, tax] = [note.at('valores'), dps.at('valores/trib/tribMun')];
  if (isNoService(dps) || tax.text('tribISSQN') === NO_INCIDENCE) return null;
  return {
    kind: textOf(ISSQN_KINDS, tax.text('tribISSQN')),
    place: place(note.text('xLocIncid'), note.text('cLocIncid'), tax.text('cPaisResult')),
    specialRegime: textOf(SPECIAL_REGIMES, dps.text('prest/regTrib/regEspTrib')),
    immunity: textOf(IMMUNITIES, tax.text('tpImunidade')),
    suspension: textOf(SUSPENSIONS, tax.text('exigSusp/tpSusp')),
    process: tax.text('exigSusp/nProcesso'),
    benefit: textOf(BENEFITS, values.text('tpBM')),
    benefitAmount: money(values.text('vCalcBM') || tax.text('BM/vRedBCBM')) || rate(tax.text('BM/pRedBCBM')),
    deductions: money(
      dps.text('valores/vDedRed/vDR') || sum([values.text('vCalcDR'), note.text('IBSCBS/valores/vCalcReeRepRes')]),
    ),
    discount: money(dps.text('valores/vDescCondIncond/vDescIncond')),
    base: money(values.text('vBC')),
    rate: rate(values.text('pAliqAplic')),
    withholding: textOf(ISSQN_WITHHOLDINGS, tax.text('tpRetISSQN')),
    amount: money(values.text('vISSQN')),
  };
}

/** Federal taxes, ready to print. */
export interface Federal {
  readonly incomeTax: string;
  readonly socialSecurity: string;
  readonly socialContributions: string;
  /** null: the note's month is after 2026, when PIS and COFINS end. */
  readonly own: { readonly pis: string; readonly cofins: string; readonly withheld: string } | null;
}

/** Months from 2027 on. */
const AFTER_PIS = /^(202[7-9]|20[3-9]\d|2[1-9]\d\d)-/;
/** tpRetPisCofins: PIS and COFINS are withheld, so they are part of what was withheld and not of the provider's own debt (NT 008 v1.02). */
const WITHHELD = '1';
const ZERO = '0.00';

/** Federal taxes of a note's declaration. */
export function readFederal(dps: XmlNode): Federal {
  const tax = dps.at('valores/trib/tribFed');
  const own = tax.at('piscofins');
  // Some municipalities write it beside the group instead of into it.
  const kind = own.text('tpRetPisCofins') || tax.text('tpRetPisCofins');
  const [pis, cofins, csll] = [own.text('vPis'), own.text('vCofins'), tax.text('vRetCSLL')];
  const isWithheld = kind === WITHHELD;
  const ownDebt = (text: string) => money(text !== '' && isWithheld ? ZERO : text);
  return {
    incomeTax: money(tax.text('vRetIRRF')),
    socialSecurity: money(tax.text('vRetCP')),
    socialContributions: money(isWithheld ? sum([csll, pis, cofins]) : csll),
    own: AFTER_PIS.test(dps.text('dCompet'))
      ? null
      : { pis: ownDebt(pis), cofins: ownDebt(cofins), withheld: textOf(SOCIAL_WITHHOLDINGS, kind) },
  };
}

/** The taxes of the Reform, ready to print. */
export interface IbsCbs {
  readonly classification: string;
  readonly operation: string;
  readonly exclusions: string;
  readonly base: string;
  readonly reductions: string;
  readonly ibsRates: string;
  readonly municipalRate: string;
  readonly municipalAmount: string;
  readonly stateRate: string;
  readonly stateAmount: string;
  readonly ibsAmount: string;
  readonly cbsRate: string;
  readonly cbsEffectiveRate: string;
  readonly cbsAmount: string;
}

/** null: the note has no such taxes. */
export function readIbsCbs(note: XmlNode, dps: XmlNode): IbsCbs | null {
  const [computed, declared] = [note.at('IBSCBS'), dps.at('IBSCBS')];
  if (!hasText(computed) && !hasText(declared)) return null;
  const [values, totals] = [computed.at('valores'), computed.at('totCIBS')];
  const [state, city, federal] = [values.at('uf'), values.at('mun'), values.at('fed')];
  const kind = declared.at('valores/trib/gIBSCBS');
  const own = dps.at('valores/trib/tribFed/piscofins');
  return {
    classification: [kind.text('CST'), kind.text('cClassTrib')].filter((text) => text !== '').join(' / '),
    operation: [
      declared.text('cIndOp'),
      computed.text('cLocalidadeIncid'),
      place(computed.text('xLocalidadeIncid'), computed.text('cLocalidadeIncid'), '').replace(/ \/ BR$/, ''),
    ]
      .filter((text) => text !== '')
      .join(' / '),
    exclusions: hasText(computed)
      ? money(
          sum([
            dps.text('valores/vDescCondIncond/vDescIncond'),
            values.text('vCalcReeRepRes'),
            note.text('valores/vISSQN'),
            own.text('vPis'),
            own.text('vCofins'),
          ]),
        )
      : '',
    base: money(values.text('vBC')),
    reductions: rates([state.text('pRedAliqUF'), city.text('pRedAliqMun'), federal.text('pRedAliqCBS')]),
    ibsRates: rates([state.text('pIBSUF'), city.text('pIBSMun')]),
    municipalRate: rate(city.text('pAliqEfetMun')),
    municipalAmount: money(totals.text('gIBS/gIBSMunTot/vIBSMun')),
    stateRate: rate(state.text('pAliqEfetUF')),
    stateAmount: money(totals.text('gIBS/gIBSUFTot/vIBSUF')),
    ibsAmount: money(totals.text('gIBS/vIBSTot')),
    cbsRate: rate(federal.text('pCBS')),
    cbsEffectiveRate: rate(federal.text('pAliqEfetCBS')),
    cbsAmount: money(totals.text('gCBS/vCBS')),
  };
}
