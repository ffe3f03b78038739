import { joined, labelled, rate } from '../kit/formats.js';
import type { XmlNode } from '../kit/xml-node.js';
import { limited, money } from './values.js';

/** What NT 008 prints of them. */
const LONGEST = 1997;

/** "Informações complementares", in the order of NT 008; empty when there are none. */
export function remarksOf(note: XmlNode, dps: XmlNode): string {
  const service = dps.at('serv');
  const more = service.at('infoCompl');
  const building = service.at('obra');
  const text = joined(
    [
      labelled('Inf. Cont.', more.paragraphs('xInfComp').join(' ')),
      labelled('NFS-e Subst.', dps.text('subst/chSubstda')),
      labelled('Doc. Ref.', more.text('docRef')),
      labelled('Cod. Obra', building.text('cObra')),
      labelled('Insc. Imob.', dps.text('IBSCBS/imovel/inscImobFisc') || building.text('inscImobFisc')),
      labelled('Cod. Evt.', service.text('atvEvento/idAtvEvt')),
      labelled('Doc. Tec.', more.text('idDocTec')),
      labelled('Núm. Ped.', more.text('xPed')),
      labelled('Item Ped.', itemsOf(more)),
      labelled('Inf. A. T. Mun.', municipal(note)),
    ],
    ' | ',
  );
  return limited(text, LONGEST);
}

function itemsOf(more: XmlNode): string {
  const items = more.at('gItemPed').all('xItemPed');
  return joined(
    items.map((item) => item.text()),
    ', ',
  );
}

/** In layout 1.00 it stands among the values. */
function municipal(note: XmlNode): string {
  return [note, note.at('valores')].flatMap((node) => node.paragraphs('xOutInf')).join(' ');
}

/**
 * The line about approximate taxes that law 12.741/2012 demands, which is always there and never shortened. An issuer may give amounts,
 * rates, the one rate of Simples Nacional, or nothing.
 */
export function approximateTaxes(dps: XmlNode): string {
  const total = dps.at('valores/trib/totTrib');
  const [amounts, rateGroup] = [total.at('vTotTrib'), total.at('pTotTrib')];
  const value = (name: string) => money(amounts.text(`vTotTrib${name}`)) || rate(rateGroup.text(`pTotTrib${name}`));
  const parts = [
    `Federais: ${value('Fed') || '-'}`,
    `Estaduais: ${value('Est') || '-'}`,
    `Municipais: ${value('Mun') || '-'}`,
    labelled('Simples Nacional', rate(total.text('pTotTribSN'))),
  ];
  return `Totais Aproximados dos Tributos cfe. Lei nº 12.741/2012: ${joined(parts, ' ; ')}`;
}
