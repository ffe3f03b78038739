import { modulo11 } from '../../documents/modulo-11.js';
import { isSome } from '../kit/formats.js';
import type { XmlNode } from '../kit/xml-node.js';

/**
 * The second barcode of a note on security paper (tpEmis 2 and 5): 36 digits out of the note's data, which a checkpoint on the road can
 * compare with the paper while no tax office has the note (MOC annex II). Null for another note, or when a part is missing.
 */
export function contingencyCode(infNFe: XmlNode, key: string): string | null {
  const emission = infNFe.text('ide/tpEmis');
  if (emission !== '2' && emission !== '5') return null;
  const total = infNFe.at('total/ICMSTot');
  const first35 =
    key.slice(0, 2) +
    emission +
    // Recipients abroad have zeros.
    (infNFe.text('dest/CNPJ') || infNFe.text('dest/CPF')).padStart(14, '0') +
    total.text('vNF').replace('.', '').padStart(14, '0') +
    (isSome(total.text('vICMS')) ? '1' : '2') +
    (isSome(total.text('vST')) ? '1' : '2') +
    (infNFe.text('ide/dhEmi') || infNFe.text('ide/dEmi')).slice(8, 10);
  return /^\d{3}[0-9A-Z]{14}\d{18}$/.test(first35) ? first35 + modulo11(first35, 9) : null;
}
