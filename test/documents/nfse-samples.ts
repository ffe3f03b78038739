import { nfseKeyCheckDigit } from '../../src/documents/index.js';
import { cnpj, PEOPLE } from './samples.js';

/** Synthetic NFS-e: invented people and numbers with right check digits. */

export const SERVICE = {
  provider: PEOPLE.seller,
  taker: PEOPLE.buyer,
  intermediary: cnpj('505152530001'),
  stranger: cnpj('606162630001'),
};

/** A key of the provider in São Paulo; `emitter` is whose tax ID stands in it. */
export function nfseKey(number: number, emitter: string = SERVICE.provider): string {
  const first49 = `355030822${emitter.padStart(14, '0')}${String(number).padStart(13, '0')}2609123456789`;
  return first49 + nfseKeyCheckDigit(first49);
}

const NS = ' xmlns="http://www.sped.fazenda.gov.br/nfse"';
const person = (element: string, id: string, name?: string) =>
  `<${element}>${/^[0-9A-Z]{14}$/.test(id) ? `<CNPJ>${id}</CNPJ>` : /^[0-9]{11}$/.test(id) ? `<CPF>${id}</CPF>` : id}${name ? `<xNome>${name}</xNome>` : ''}</${element}>`;

export interface NfseOptions {
  readonly key?: string;
  readonly layout?: string;
  readonly cStat?: string;
  readonly tpEmit?: string;
  readonly emitter?: string;
  /** A tax ID, or elements in its place. */
  readonly provider?: string;
  readonly taker?: string | null;
  readonly intermediary?: string;
  readonly otherRecipient?: string;
  readonly replaces?: string;
  readonly issuedAt?: string;
  readonly environment?: string;
  readonly namespace?: string;
}

function dpsXml(options: NfseOptions, ns: string): string {
  const { taker = SERVICE.taker, layout = '1.01' } = options;
  return (
    `<DPS${ns} versao="${layout}"><infDPS Id="DPS355030821${'0'.repeat(34)}"><tpAmb>${options.environment ?? '2'}</tpAmb>` +
    `<dhEmi>${options.issuedAt ?? '2026-09-18T23:29:00-03:00'}</dhEmi><verAplic>sample</verAplic><serie>1</serie><nDPS>77</nDPS>` +
    `<dCompet>2026-09-01</dCompet><tpEmit>${options.tpEmit ?? '1'}</tpEmit><cLocEmi>3550308</cLocEmi>` +
    (options.replaces ? `<subst><chSubstda>${options.replaces}</chSubstda><cMotivo>01</cMotivo></subst>` : '') +
    person('prest', options.provider ?? SERVICE.provider) +
    (taker === null ? '' : person('toma', taker, 'Tomadora Inventada SA')) +
    (options.intermediary ? person('interm', options.intermediary, 'Intermediaria Inventada') : '') +
    `<serv><locPrest><cLocPrestacao>3550308</cLocPrestacao></locPrest><cServ><cTribNac>010101</cTribNac><cTribMun>123</cTribMun>` +
    `<xDescServ>Servico inventado</xDescServ><cNBS>115011000</cNBS></cServ></serv><valores><vServPrest><vServ>1000.00</vServ></vServPrest>` +
    `<vDedRed><vDR>10.00</vDR></vDedRed><trib><tribMun><tribISSQN>1</tribISSQN><tpRetISSQN>2</tpRetISSQN></tribMun>` +
    `<tribFed><piscofins><CST>01</CST><vPis>6.50</vPis><vCofins>30.00</vCofins></piscofins><vRetIRRF>15.00</vRetIRRF></tribFed>` +
    `<totTrib><indTotTrib>0</indTotTrib></totTrib></trib></valores>` +
    `<IBSCBS><finNFSe>0</finNFSe><cIndOp>100301</cIndOp><indDest>${options.otherRecipient ? '1' : '0'}</indDest>` +
    (options.otherRecipient ? person('dest', options.otherRecipient, 'Destino Inventado') : '') +
    `</IBSCBS></infDPS></DPS>`
  );
}

export const dps = (options: NfseOptions = {}): string => dpsXml(options, options.namespace ?? NS);

export function nfse(options: NfseOptions = {}): string {
  const key = options.key ?? nfseKey(10);
  const ns = options.namespace ?? NS;
  return (
    `<?xml version="1.0" encoding="UTF-8"?><NFSe${ns} versao="${options.layout ?? '1.01'}"><infNFSe Id="NFS${key}">` +
    `<xLocEmi>Sao Paulo</xLocEmi><xLocPrestacao>Sao Paulo</xLocPrestacao><nNFSe>10</nNFSe><cLocIncid>3550308</cLocIncid>` +
    `<xTribNac>Analise</xTribNac><verAplic>S_1</verAplic><ambGer>2</ambGer><tpEmis>1</tpEmis><cStat>${options.cStat ?? '100'}</cStat>` +
    `<dhProc>2026-09-18T23:30:00-03:00</dhProc><nDFSe>123</nDFSe><emit><CNPJ>${options.emitter ?? SERVICE.provider}</CNPJ>` +
    `<IM>4455</IM><xNome>Prestadora Inventada Ltda</xNome><enderNac><xLgr>Rua Inventada</xLgr><nro>1</nro><xBairro>Centro</xBairro>` +
    `<cMun>3550308</cMun><UF>SP</UF><CEP>01001000</CEP></enderNac></emit><valores><vBC>990.00</vBC><pAliqAplic>2.00</pAliqAplic>` +
    `<vISSQN>19.80</vISSQN><vTotalRet>34.80</vTotalRet><vLiq>965.20</vLiq></valores>` +
    `<IBSCBS><cLocalidadeIncid>3550308</cLocalidadeIncid><valores><vBC>953.70</vBC></valores><totCIBS><vTotNF>1000.00</vTotNF>` +
    `<gIBS><vIBSTot>0.95</vIBSTot><gIBSUFTot><vIBSUF>0.95</vIBSUF></gIBSUFTot><gIBSMunTot><vIBSMun>0.00</vIBSMun></gIBSMunTot></gIBS>` +
    `<gCBS><vCBS>8.58</vCBS></gCBS></totCIBS></IBSCBS>${dpsXml(options, ns)}</infNFSe></NFSe>`
  );
}

export interface NfseEventOptions {
  readonly key?: string;
  readonly type?: string;
  /** Inside the element of the type. */
  readonly details?: string;
  /** Of the request inside: 1.00 has a sequence of its own. */
  readonly requestLayout?: '1.00' | '1.01';
  readonly sequence?: number;
  readonly author?: string;
}

const sequence = (number: number) => String(number).padStart(3, '0');

function requestXml(options: NfseEventOptions): string {
  const { key = nfseKey(10), type = '101101', requestLayout = '1.01' } = options;
  const old = requestLayout === '1.00' ? sequence(options.sequence ?? 1) : '';
  return (
    `<pedRegEvento${NS} versao="${requestLayout}"><infPedReg Id="PRE${key}${type}${old}"><tpAmb>2</tpAmb><verAplic>sample</verAplic>` +
    `<dhEvento>2026-09-20T09:59:00-03:00</dhEvento><CNPJAutor>${options.author ?? SERVICE.provider}</CNPJAutor><chNFSe>${key}</chNFSe>` +
    (old ? `<nPedRegEvento>${old}</nPedRegEvento>` : '') +
    `<e${type}>${options.details ?? '<xDesc>Cancelamento de NFS-e</xDesc><cMotivo>1</cMotivo><xMotivo>Servico nao prestado</xMotivo>'}</e${type}>` +
    `</infPedReg></pedRegEvento>`
  );
}

export const nfseEventRequest = requestXml;

export function nfseEvent(options: NfseEventOptions = {}): string {
  const { key = nfseKey(10), type = '101101' } = options;
  const number = sequence(options.sequence ?? 1);
  return (
    `<evento${NS} versao="1.01"><infEvento Id="EVT${key}${type}${number}"><verAplic>S_1</verAplic><ambGer>2</ambGer>` +
    `<nSeqEvento>${number}</nSeqEvento><dhProc>2026-09-20T10:00:00-03:00</dhProc><nDFSe>0</nDFSe>${requestXml(options)}</infEvento></evento>`
  );
}
