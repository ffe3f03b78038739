import { gzipSync } from 'node:zlib';

/** Made-up answers of NFeDistribuicaoDFe, in the shape that its schema and recorded answers have. */

const NFE = 'http://www.portalfiscal.inf.br/nfe';
const WSDL = `${NFE}/wsdl/NFeDistribuicaoDFe`;

export interface AnswerParts {
  readonly cStat?: string | null;
  readonly xMotivo?: string;
  readonly ultNSU?: string | null;
  readonly maxNSU?: string | null;
  /** Content of retDistDFeInt after maxNSU. */
  readonly lote?: string;
}

const element = (name: string, value: string | null | undefined) =>
  value === null || value === undefined ? '' : `<${name}>${value}</${name}>`;

export function retDistDFeInt({
  cStat = '137',
  xMotivo = 'Motivo',
  ultNSU = '000000000000010',
  maxNSU = '000000000000010',
  lote = '',
}: AnswerParts): string {
  return (
    `<retDistDFeInt xmlns="${NFE}" versao="1.01"><tpAmb>2</tpAmb><verAplic>1.8.6</verAplic>${element('cStat', cStat)}` +
    `<xMotivo>${xMotivo}</xMotivo><dhResp>2026-11-30T10:00:05-03:00</dhResp>${element('ultNSU', ultNSU)}${element('maxNSU', maxNSU)}${lote}</retDistDFeInt>`
  );
}

export function envelope(content: string): string {
  return (
    '<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="http://www.w3.org/2003/05/soap-envelope"><soap:Body>' +
    `<nfeDistDFeInteresseResponse xmlns="${WSDL}"><nfeDistDFeInteresseResult>${content}</nfeDistDFeInteresseResult></nfeDistDFeInteresseResponse>` +
    '</soap:Body></soap:Envelope>'
  );
}

export function answer(parts: AnswerParts): Buffer {
  return Buffer.from(envelope(retDistDFeInt(parts)));
}

export function zipped(xml: string): string {
  return gzipSync(Buffer.from(xml)).toString('base64');
}

export function docZip(nsu: string | null, base64: string, schema = 'resNFe_v1.01.xsd'): string {
  return `<docZip${nsu === null ? '' : ` NSU="${nsu}"`} schema="${schema}">${base64}</docZip>`;
}

export function lote(...docZips: string[]): string {
  return `<loteDistDFeInt>${docZips.join('')}</loteDistDFeInt>`;
}

export const escaped = (xml: string) =>
  xml.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
