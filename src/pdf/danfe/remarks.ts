import { amount, dateAndTime, inGroups, isSome, joined, labelled } from '../kit/formats.js';
import type { XmlNode } from '../kit/xml-node.js';

/**
 * "Informações complementares": the tax office's and the issuer's texts, complete and first, and then what the form has no box for. Only
 * what the XML says; sums that are zero say nothing here.
 */
export function remarksOf(xml: XmlNode): string[] {
  const additional = xml.at('infAdic');
  return [
    ...prefixed('Inf. fisco: ', additional.paragraphs('infAdFisco')),
    ...additional.paragraphs('infCpl'),
    ...additional.all('obsCont').flatMap(observation),
    ...additional.all('obsFisco').flatMap(observation),
    ...joinedLine(
      'Processos: ',
      additional.all('procRef').map((reference) => reference.text('nProc')),
    ),
    ...references(xml.at('ide')),
    ...contingency(xml.at('ide')),
    ...joinedLine('', sums(xml.at('total'))),
    ...joinedLine('', [
      labelled('Pedido', xml.text('compra/xPed')),
      labelled('Contrato', xml.text('compra/xCont')),
      labelled('Nota de empenho', xml.text('compra/xNEmp')),
    ]),
    ...joinedLine('', [
      labelled('Embarque', joined([xml.text('exporta/xLocExporta'), xml.text('exporta/UFSaidaPais')], ' - ')),
      labelled('Local de despacho', xml.text('exporta/xLocDespacho')),
    ]),
    ...joinedLine('', [labelled('SUFRAMA', xml.text('dest/ISUF'))]),
    ...joinedLine(
      'Reboques: ',
      xml
        .at('transp')
        .all('reboque')
        .map((trailer) => joined([trailer.text('placa'), trailer.text('UF')], ' ')),
    ),
    ...joinedLine(
      'Lacres: ',
      xml
        .at('transp')
        .all('vol')
        .flatMap((vol) => vol.all('lacres'))
        .map((seal) => seal.text('nLacre')),
    ),
  ];
}

/** Totals without a box on the form. */
const SUMS: readonly (readonly [label: string, path: string])[] = [
  ['ICMS interestadual para a UF de destino', 'ICMSTot/vICMSUFDest'],
  ['FCP da UF de destino', 'ICMSTot/vFCPUFDest'],
  ['ICMS interestadual para a UF do remetente', 'ICMSTot/vICMSUFRemet'],
  ['ICMS desonerado', 'ICMSTot/vICMSDeson'],
  ['FCP', 'ICMSTot/vFCP'],
  ['FCP ST', 'ICMSTot/vFCPST'],
  ['FCP ST retido', 'ICMSTot/vFCPSTRet'],
  ['ICMS monofásico', 'ICMSTot/vICMSMono'],
  ['ICMS monofásico sujeito a retenção', 'ICMSTot/vICMSMonoReten'],
  ['ICMS monofásico retido anteriormente', 'ICMSTot/vICMSMonoRet'],
  ['II', 'ICMSTot/vII'],
  ['IPI devolvido', 'ICMSTot/vIPIDevol'],
  ['PIS', 'ICMSTot/vPIS'],
  ['COFINS', 'ICMSTot/vCOFINS'],
  ['ISS retido', 'ISSQNtot/vISSRet'],
  ['PIS retido', 'retTrib/vRetPIS'],
  ['COFINS retida', 'retTrib/vRetCOFINS'],
  ['CSLL retida', 'retTrib/vRetCSLL'],
  ['IRRF', 'retTrib/vIRRF'],
  ['Previdência retida', 'retTrib/vRetPrev'],
];

function sums(total: XmlNode): string[] {
  return SUMS.flatMap(([label, path]) => {
    const value = total.text(path);
    return isSome(value) ? [`${label}: R$ ${amount(value)}`] : [];
  });
}

function references(ide: XmlNode): string[] {
  const groups = ide.all('NFref');
  const keys = groups.flatMap((group) =>
    [group.text('refNFe') || group.text('refNFeSig') || group.text('refCTe')].filter((key) => key !== ''),
  );
  const papers = groups.flatMap((group) => {
    const paper = group.at('refNF').exists ? group.at('refNF') : group.at('refNFP');
    return paper.exists
      ? [
          joined(
            [`nº ${paper.text('nNF')}`, labelled('série', paper.text('serie')), labelled('modelo', paper.text('mod'))],
            ' ',
          ),
        ]
      : [];
  });
  const coupons = groups.flatMap((group) => {
    const coupon = group.at('refECF');
    return coupon.exists
      ? [joined([labelled('ECF', coupon.text('nECF')), labelled('COO', coupon.text('nCOO'))], ' ')]
      : [];
  });
  return [
    ...joinedLine('Chaves referenciadas: ', keys.map(inGroups)),
    ...joinedLine('Notas referenciadas: ', papers),
    ...joinedLine('Cupons referenciados: ', coupons),
  ];
}

function contingency(ide: XmlNode): string[] {
  const since = dateAndTime(ide.text('dhCont'));
  return joinedLine('Entrada em contingência: ', [joined([since, ide.text('xJust')], ' - ')]);
}

function observation(group: XmlNode): string[] {
  const name = group.attribute('xCampo');
  return prefixed(name === '' ? '' : `${name}: `, group.paragraphs('xTexto'));
}

function prefixed(prefix: string, [first, ...others]: readonly string[]): string[] {
  return first === undefined ? [] : [`${prefix}${first}`, ...others];
}

function joinedLine(prefix: string, texts: readonly string[]): string[] {
  const line = joined(texts, '; ');
  return line === '' ? [] : [`${prefix}${line}`];
}
