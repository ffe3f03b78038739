import type { Field } from '../kit/fields.js';
import { amount, joined, rate } from '../kit/formats.js';
import type { XmlNode } from '../kit/xml-node.js';
import { coded, TAX_SITUATIONS } from './codes.js';

/** "Informações relativas ao imposto": a row for each tax that the CT-e has. Names of elements differ by situation, their meaning does not. */
export function taxRows(imp: XmlNode): Field[][] {
  return [icmsRow(imp), ...destinationRow(imp.at('ICMSUFFim')), ...reformRow(imp.at('IBSCBS')), ...federalRow(imp)];
}

function icmsRow(imp: XmlNode): Field[] {
  const icms = imp.at('ICMS/*');
  const first = (...names: string[]) => names.map((name) => icms.text(name)).find((text) => text !== '') ?? '';
  return [
    { label: 'SITUAÇÃO TRIBUTÁRIA', value: situation(icms), share: 4 },
    money('BASE DE CÁLCULO', first('vBC', 'vBCSTRet', 'vBCOutraUF'), 2),
    percent('ALÍQ. ICMS', first('pICMS', 'pICMSSTRet', 'pICMSOutraUF'), 1.2),
    money('VALOR DO ICMS', first('vICMS', 'vICMSOutraUF'), 2),
    percent('% RED. BC', first('pRedBC', 'pRedBCOutraUF'), 1.2),
    money('ICMS ST', first('vICMSSTRet'), 1.7),
    ...[
      money('CRÉDITO OUTORGADO', first('vCred'), 1.9),
      money('ICMS DESONERADO', first('vICMSDeson'), 1.9),
      { label: 'CÓD. BENEFÍCIO', value: first('cBenef'), share: 1.6 },
      money('VALOR APROX. TRIBUTOS', imp.text('vTotTrib'), 2.2),
    ].filter(({ value }) => value !== ''),
  ];
}

function situation(icms: XmlNode): string {
  const cst = icms.text('CST');
  if (icms.name === 'ICMSSN') return joined([cst, 'SIMPLES NACIONAL'], ' - ');
  if (icms.name === 'ICMSOutraUF') return joined([cst, 'DEVIDO A OUTRA UF'], ' - ');
  return coded(cst, TAX_SITUATIONS);
}

/** What is shared with the state where the service ends. */
function destinationRow(share: XmlNode): Field[][] {
  if (share.children.length === 0) return [];
  return [
    [
      money('BC NA UF DE TÉRMINO', share.text('vBCUFFim'), 2),
      percent('ALÍQ. INTERNA', share.text('pICMSUFFim'), 1.3),
      percent('ALÍQ. INTERESTADUAL', share.text('pICMSInter'), 1.6),
      money('ICMS UF DE TÉRMINO', share.text('vICMSUFFim'), 2),
      money('ICMS UF DE INÍCIO', share.text('vICMSUFIni'), 2),
      percent('% FCP', share.text('pFCPUFFim'), 1),
      money('VALOR DO FCP', share.text('vFCPUFFim'), 1.6),
    ],
  ];
}

/** The manual has no box for the taxes of the reform; they stand with the others. With a reduction the effective rate is what applies. */
function reformRow(group: XmlNode): Field[][] {
  if (group.children.length === 0) return [];
  const values = group.at('gIBSCBS');
  const rateOf = (part: string, name: string) =>
    values.text(`${part}/gRed/pAliqEfet`) || values.text(`${part}/${name}`);
  return [
    [
      {
        label: 'CST / cClassTrib DO IBS E DA CBS',
        value: joined([group.text('CST'), group.text('cClassTrib')], ' / '),
        share: 2.6,
      },
      money('BASE IBS / CBS', values.text('vBC'), 2),
      percent('ALÍQ. IBS UF', rateOf('gIBSUF', 'pIBSUF'), 1.3),
      money('VALOR IBS UF', values.text('gIBSUF/vIBSUF'), 1.7),
      percent('ALÍQ. IBS MUN.', rateOf('gIBSMun', 'pIBSMun'), 1.4),
      money('VALOR IBS MUN.', values.text('gIBSMun/vIBSMun'), 1.7),
      percent('ALÍQ. CBS', rateOf('gCBS', 'pCBS'), 1.3),
      money('VALOR CBS', values.text('gCBS/vCBS'), 1.7),
    ],
  ];
}

/** CT-e OS. */
function federalRow(imp: XmlNode): Field[][] {
  const federal = imp.at('infTribFed');
  if (federal.children.length === 0) return [];
  const fields = [
    money('PIS', federal.text('vPIS'), 1),
    money('COFINS', federal.text('vCOFINS'), 1),
    money('IMPOSTO DE RENDA', federal.text('vIR'), 1),
    money('INSS', federal.text('vINSS'), 1),
    money('CSLL', federal.text('vCSLL'), 1),
  ];
  return [fields];
}

function money(label: string, value: string, share: number): Field {
  return { label, value: amount(value), share, align: 'right' };
}

function percent(label: string, value: string, share: number): Field {
  return { label, value: rate(value), share, align: 'right' };
}
