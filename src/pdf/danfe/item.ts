import { amount, date, isSome, joined, labelled, quantity, rate } from '../kit/formats.js';
import type { XmlNode } from '../kit/xml-node.js';

/** A line of a note as it is printed. */
export interface Item {
  readonly code: string;
  /** xProd, then all that stands below it in smaller matters: infAdProd first, as the manual wants it right there. */
  readonly description: readonly string[];
  readonly ncm: string;
  /** Origin and CST or CSOSN of the ICMS. */
  readonly cst: string;
  readonly isSimple: boolean;
  readonly cfop: string;
  readonly unit: string;
  readonly quantity: string;
  readonly unitPrice: string;
  /** Unit, quantity and price for taxing, where they are others than for selling. */
  readonly taxed: { readonly unit: string; readonly quantity: string; readonly unitPrice: string } | null;
  readonly discount: string;
  readonly total: string;
  readonly icms: Tax;
  readonly icmsSt: Tax;
  readonly ipi: Tax;
  /** cClassTrib of IBS and CBS. */
  readonly reformClass: string;
  /** IBS, CBS and IS, those that the item has. */
  readonly reform: readonly (Tax & { readonly name: string })[];
}

/** Empty texts where the item has none. */
interface Tax {
  readonly base: string;
  readonly rate: string;
  readonly value: string;
}

/** One row of the items, from a `det`. */
export function readItem(det: XmlNode): Item {
  const prod = det.at('prod');
  const icms = det.at('imposto/ICMS/*');
  const ipi = det.at('imposto/IPI/IPITrib');
  const taxedElsewise = prod.text('uTrib') !== prod.text('uCom') || prod.text('vUnTrib') !== prod.text('vUnCom');
  return {
    code: prod.text('cProd'),
    description: [prod.text('xProd'), ...det.paragraphs('infAdProd'), ...detailsOf(det)].filter((text) => text !== ''),
    ncm: prod.text('NCM'),
    cst: icms.text('orig') + (icms.text('CST') || icms.text('CSOSN')),
    isSimple: icms.text('CSOSN') !== '',
    cfop: prod.text('CFOP'),
    unit: prod.text('uCom'),
    quantity: quantity(prod.text('qCom')),
    unitPrice: quantity(prod.text('vUnCom')),
    taxed: taxedElsewise
      ? { unit: prod.text('uTrib'), quantity: quantity(prod.text('qTrib')), unitPrice: quantity(prod.text('vUnTrib')) }
      : null,
    discount: amount(prod.text('vDesc')),
    total: amount(prod.text('vProd')),
    // Fuels pay by quantity: their base is a number of litres, their rate an amount.
    icms: {
      base: amount(icms.text('vBC')) || quantity(icms.text('qBCMono')),
      rate: rate(icms.text('pICMS')) || quantity(icms.text('adRemICMS')),
      value: amount(icms.text('vICMS') || icms.text('vICMSMono')),
    },
    icmsSt: {
      base: amount(icms.text('vBCST')),
      rate: rate(icms.text('pICMSST')),
      value: amount(icms.text('vICMSST')),
    },
    ipi: {
      base: amount(ipi.text('vBC')) || quantity(ipi.text('qUnid')),
      rate: rate(ipi.text('pIPI')) || quantity(ipi.text('vUnid')),
      value: amount(ipi.text('vIPI')),
    },
    reformClass: det.text('imposto/IBSCBS/cClassTrib'),
    reform: reformTaxes(det.at('imposto')),
  };
}

/** IBS, CBS and IS (NT 2026.010). Of a group that the item does not have, nothing is printed, not even a zero. */
function reformTaxes(imposto: XmlNode): Item['reform'] {
  const group = imposto.at('IBSCBS/gIBSCBS');
  const base = amount(group.text('vBC'));
  const percent = (name: string, at: XmlNode, rateField: string, valueField: string) =>
    at.exists
      ? // With a reduction the rate that counts is the effective one.
        [
          {
            name,
            base,
            rate: rate(at.text('gRed/pAliqEfet') || at.text(rateField)),
            value: amount(at.text(valueField)),
          },
        ]
      : [];
  const selective = imposto.at('IS');
  return [
    ...percent('IBS UF', group.at('gIBSUF'), 'pIBSUF', 'vIBSUF'),
    ...percent('IBS MUN', group.at('gIBSMun'), 'pIBSMun', 'vIBSMun'),
    ...percent('CBS', group.at('gCBS'), 'pCBS', 'vCBS'),
    ...MONOPHASE.flatMap(([group, suffix, note]) => monophase(imposto.at(`IBSCBS/gIBSCBSMono/${group}`), suffix, note)),
    ...(selective.exists
      ? [
          {
            name: 'IS',
            base: amount(selective.text('vBCIS')) || quantity(selective.text('qTrib')),
            rate: rate(selective.text('pIS')) || quantity(selective.text('adRemIS')),
            value: amount(selective.text('vIS')),
          },
        ]
      : []),
  ];
}

/** Fuels: IBS and CBS once for the whole chain, per quantity. Group, ending of its fields, what to call it. */
const MONOPHASE = [
  ['gMonoPadrao', '', 'MONO'],
  ['gMonoReten', 'Reten', 'M.RETEN'],
  ['gMonoRet', 'Ret', 'M.RETIDO'],
] as const;

function monophase(group: XmlNode, suffix: string, note: string): Item['reform'] {
  if (!group.exists) return [];
  return ['IBS', 'CBS'].map((tax) => ({
    name: `${tax} ${note}`,
    base: quantity(group.text(`qBCMono${suffix}`)),
    rate: quantity(group.text(`adRem${tax}${suffix}`)),
    value: amount(group.text(`v${tax}Mono${suffix}`)),
  }));
}

/** What belongs to one item and has no column. */
function detailsOf(det: XmlNode): string[] {
  const prod = det.at('prod');
  const icms = det.at('imposto/ICMS/*');
  const fcp = (title: string, suffix: string) =>
    isSome(icms.text(`vFCP${suffix}`))
      ? joined(
          [
            title,
            labelled('BC', amount(icms.text(`vBCFCP${suffix}`))),
            rate(icms.text(`pFCP${suffix}`)),
            labelled('R$', amount(icms.text(`vFCP${suffix}`))),
          ],
          ' ',
        )
      : '';
  return [
    fcp('FCP', ''),
    fcp('FCP ST', 'ST'),
    isSome(icms.text('vICMSDeson')) ? `ICMS desonerado R$ ${amount(icms.text('vICMSDeson'))}` : '',
    ...prod
      .all('rastro')
      .map((lot) =>
        joined(
          [
            labelled('Lote', lot.text('nLote')),
            labelled('Qtd', quantity(lot.text('qLote'))),
            labelled('Fab', date(lot.text('dFab'))),
            labelled('Val', date(lot.text('dVal'))),
          ],
          ' ',
        ),
      ),
    labelled('Chassi', prod.text('veicProd/chassi')),
    ...prod
      .all('arma')
      .map((weapon) =>
        joined([labelled('Nº série', weapon.text('nSerie')), labelled('Nº cano', weapon.text('nCano'))], ' '),
      ),
    labelled('ANVISA', prod.text('med/cProdANVISA')),
    joined([labelled('ANP', prod.text('comb/cProdANP')), prod.text('comb/descANP')], ' '),
    labelled('FCI', prod.text('nFCI')),
    ...['obsItem/obsCont', 'obsItem/obsFisco'].flatMap((path) => det.paragraphs(`${path}/xTexto`)),
  ];
}
