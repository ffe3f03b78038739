import { amount } from '../kit/formats.js';
import type { XmlNode } from '../kit/xml-node.js';

/** Where each total stands below `total`. Names are those of the XML: they are what the notes of the tax offices speak of. */
const PATHS = {
  vBC: 'ICMSTot/vBC',
  vICMS: 'ICMSTot/vICMS',
  vBCST: 'ICMSTot/vBCST',
  vST: 'ICMSTot/vST',
  vProd: 'ICMSTot/vProd',
  vFrete: 'ICMSTot/vFrete',
  vSeg: 'ICMSTot/vSeg',
  vDesc: 'ICMSTot/vDesc',
  vOutro: 'ICMSTot/vOutro',
  vIPI: 'ICMSTot/vIPI',
  vTotTrib: 'ICMSTot/vTotTrib',
  vNF: 'ICMSTot/vNF',
  vCBS: 'IBSCBSTot/gCBS/vCBS',
  vIBSUF: 'IBSCBSTot/gIBS/gIBSUF/vIBSUF',
  vIBSMun: 'IBSCBSTot/gIBS/gIBSMun/vIBSMun',
  vIS: 'ISTot/vIS',
  vIBSMono: 'IBSCBSTot/gMono/vIBSMono',
  vCBSMono: 'IBSCBSTot/gMono/vCBSMono',
  vIBSMonoReten: 'IBSCBSTot/gMono/vIBSMonoReten',
  vCBSMonoReten: 'IBSCBSTot/gMono/vCBSMonoReten',
  vNFTot: 'vNFTot',
} as const;

export type Totals = Readonly<Record<keyof typeof PATHS, string>>;

/** The totals of a note, ready to print. */
export function readTotals(total: XmlNode): Totals {
  return Object.fromEntries(Object.entries(PATHS).map(([name, path]) => [name, amount(total.text(path))])) as Totals;
}
