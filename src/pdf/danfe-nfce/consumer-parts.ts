import { amount, joined } from '../kit/formats.js';
import type { XmlNode } from '../kit/xml-node.js';

/** What an NFC-e has besides the parts of any note. */
export interface ConsumerParts {
  readonly payments: readonly { readonly means: string; readonly value: string }[];
  readonly change: string;
  /** Contents of the QR code, as the issuer signed them. */
  readonly qrCode: string;
  /** Where the key can be looked up. */
  readonly lookup: string;
}

/** @param root `nfeProc`, or a bare `NFe` */
export function readConsumerParts(root: XmlNode): ConsumerParts {
  const nfe = root.name === 'NFe' ? root : root.at('NFe');
  const pag = nfe.at('infNFe/pag');
  return {
    payments: pag.all('detPag').map((payment) => {
      const code = payment.text('tPag');
      return {
        means: MEANS.get(code) ?? joined([code, payment.text('xPag')], ' - '),
        value: amount(payment.text('vPag')),
      };
    }),
    change: amount(pag.text('vTroco')),
    qrCode: nfe.at('infNFeSupl').code('qrCode'),
    lookup: nfe.text('infNFeSupl/urlChave'),
  };
}

/** tPag. Code 99 ("other") says in xPag what it is. */
const MEANS: ReadonlyMap<string, string> = new Map([
  ['01', 'Dinheiro'],
  ['02', 'Cheque'],
  ['03', 'Cartão de crédito'],
  ['04', 'Cartão de débito'],
  ['05', 'Cartão da loja'],
  ['10', 'Vale-alimentação'],
  ['11', 'Vale-refeição'],
  ['12', 'Vale-presente'],
  ['13', 'Vale-combustível'],
  ['14', 'Duplicata mercantil'],
  ['15', 'Boleto bancário'],
  ['16', 'Depósito bancário'],
  ['17', 'Pix dinâmico'],
  ['18', 'Transferência bancária, carteira digital'],
  ['19', 'Programa de fidelidade'],
  ['20', 'Pix estático'],
  ['21', 'Crédito em loja'],
  ['22', 'Pagamento eletrônico não informado'],
  ['90', 'Sem pagamento'],
  ['91', 'Pagamento posterior'],
]);
