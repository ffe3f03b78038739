import { createHash } from 'node:crypto';
import { nfseKeyCheckDigit } from '../../documents/nfse-key.js';
import type { Environment } from '../../model/words.js';

/** Documents of the national NFS-e, made up: enough of the layout for a reader, unsigned. */

const NS = 'xmlns="http://www.sped.fazenda.gov.br/nfse"';
const CITY = '3550308';

/** A party of a note. */
export interface Person {
  readonly taxId: string;
  readonly name: string;
}

/** What a note is made from. */
export interface InvoiceParts {
  /** Tax ID of the box in which it lies: boxes count for themselves, and share no key. */
  readonly box: string;
  readonly number: number;
  readonly provider: Person;
  readonly taker: Person;
  /** Milliseconds. */
  readonly issuedAt: number;
  readonly environment: Environment;
}

/** The key of the note with this number; every box's notes have keys of their own. */
export function invoiceKey({ box, number, provider, issuedAt }: InvoiceParts): string {
  const kind = provider.taxId.length === 14 ? '2' : '1';
  const month = brasilia(issuedAt).slice(2, 7).replace('-', '');
  const hash = createHash('sha256').update(`${box} ${number}`).digest();
  const random = String(hash.readUInt32BE() % 1_000_000_000).padStart(9, '0');
  const first49 = `${CITY}2${kind}${provider.taxId.padStart(14, '0')}${String(number).padStart(13, '0')}${month}${random}`;
  return first49 + nfseKeyCheckDigit(first49);
}

/** The XML of a note. */
export function invoice(parts: InvoiceParts): string {
  const { number, provider, taker, issuedAt, environment } = parts;
  const key = invoiceKey(parts);
  const reais = 100 + (number % 900);
  const amount = `${reais}.00`;
  const tax = (reais * 0.02).toFixed(2);
  const time = brasilia(issuedAt);
  return (
    `<?xml version="1.0" encoding="UTF-8"?><NFSe ${NS} versao="1.01"><infNFSe Id="NFS${key}"><xLocEmi>São Paulo</xLocEmi>` +
    `<xLocPrestacao>São Paulo</xLocPrestacao><nNFSe>${number}</nNFSe><cLocIncid>${CITY}</cLocIncid><xLocIncid>São Paulo</xLocIncid>` +
    `<xTribNac>Desenvolvimento de programas</xTribNac><verAplic>Simulador</verAplic><ambGer>2</ambGer><tpEmis>1</tpEmis><procEmi>1</procEmi>` +
    `<cStat>100</cStat><dhProc>${time}</dhProc><nDFSe>${number}</nDFSe><emit>${taxIdXml(provider.taxId)}<xNome>${provider.name}</xNome>` +
    `<enderNac><xLgr>Rua Fictícia</xLgr><nro>1</nro><xBairro>Centro</xBairro><cMun>${CITY}</cMun><UF>SP</UF><CEP>01001000</CEP></enderNac></emit>` +
    `<valores><vBC>${amount}</vBC><pAliqAplic>2.00</pAliqAplic><vISSQN>${tax}</vISSQN><vLiq>${amount}</vLiq></valores>` +
    `<DPS versao="1.01"><infDPS Id="DPS${CITY}2${provider.taxId.padStart(14, '0')}00001${String(number).padStart(15, '0')}">` +
    `<tpAmb>${environment === 'production' ? 1 : 2}</tpAmb><dhEmi>${time}</dhEmi><verAplic>Simulador</verAplic><serie>1</serie><nDPS>${number}</nDPS>` +
    `<dCompet>${time.slice(0, 10)}</dCompet><tpEmit>1</tpEmit><cLocEmi>${CITY}</cLocEmi><prest>${taxIdXml(provider.taxId)}` +
    `<regTrib><opSimpNac>1</opSimpNac><regEspTrib>0</regEspTrib></regTrib></prest>` +
    `<toma>${taxIdXml(taker.taxId)}<xNome>${taker.name}</xNome></toma><serv><locPrest><cLocPrestacao>${CITY}</cLocPrestacao></locPrest>` +
    `<cServ><cTribNac>010101</cTribNac><xDescServ>Serviço fictício ${number}</xDescServ></cServ></serv>` +
    `<valores><vServPrest><vServ>${amount}</vServ></vServPrest><trib><tribMun><tribISSQN>1</tribISSQN><tpRetISSQN>1</tpRetISSQN></tribMun>` +
    `<totTrib><indTotTrib>0</indTotTrib></totTrib></trib></valores></infDPS></DPS></infNFSe></NFSe>`
  );
}

/** The provider cancels its note (101101). */
export function cancellation(key: string, author: string, at: number, environment: Environment): string {
  const time = brasilia(at);
  return (
    `<evento ${NS} versao="1.01"><infEvento Id="EVT${key}101101001"><verAplic>Simulador</verAplic><ambGer>2</ambGer>` +
    `<nSeqEvento>001</nSeqEvento><dhProc>${time}</dhProc><nDFSe>0</nDFSe><pedRegEvento versao="1.01"><infPedReg Id="PRE${key}101101">` +
    `<tpAmb>${environment === 'production' ? 1 : 2}</tpAmb><verAplic>Simulador</verAplic><dhEvento>${time}</dhEvento>` +
    `<${author.length === 14 ? 'CNPJ' : 'CPF'}Autor>${author}</${author.length === 14 ? 'CNPJ' : 'CPF'}Autor><chNFSe>${key}</chNFSe>` +
    `<e101101><xDesc>Cancelamento de NFS-e</xDesc><cMotivo>1</cMotivo><xMotivo>Serviço não prestado</xMotivo></e101101>` +
    `</infPedReg></pedRegEvento></infEvento></evento>`
  );
}

const taxIdXml = (taxId: string) => (taxId.length === 14 ? `<CNPJ>${taxId}</CNPJ>` : `<CPF>${taxId}</CPF>`);

/** With the offset of Brasília, −03:00 all year. */
export function brasilia(at: number): string {
  return `${new Date(at - 3 * 3_600_000).toISOString().slice(0, 19)}-03:00`;
}
