import { ufCode } from '../../documents/uf.js';
import { itemXml, type TaxTotals, totalsOf } from './item-xml.js';
import type { Note } from './note.js';
import type { Person } from './people.js';
import { dummySignature } from './signature.js';
import { escaped, localTime, money, taxIdElement } from './text.js';

/** Layouts that still come out of archives and slow senders; 4.00 is the one in force. */
export type NoteLayout = '4.00' | '3.10' | '2.00';

/** procNFe: the whole note with its authorization. */
export function procNfe(note: Note, layout: NoteLayout = '4.00'): string {
  const id = `NFe${note.key}`;
  const totals = totalsOf(note);
  return (
    `<nfeProc versao="${layout}" xmlns="http://www.portalfiscal.inf.br/nfe"><NFe xmlns="http://www.portalfiscal.inf.br/nfe">` +
    `<infNFe versao="${layout}" Id="${id}">${identification(note, layout)}${issuerXml(note)}${recipientXml(note)}` +
    note.authorized.map((taxId) => `<autXML>${taxIdElement(taxId)}</autXML>`).join('') +
    note.items.map((item, at) => itemXml(note, item, at + 1)).join('') +
    `${totalXml(note, totals)}${transportXml(note)}` +
    (layout === '4.00' ? paymentXml(note) : '') +
    `<infAdic><infCpl>Documento de teste sem valor fiscal. Pedido ${note.number % 100_000}.</infCpl></infAdic></infNFe>` +
    `${note.model === '65' ? consumerXml(note) : ''}${dummySignature(id, note.digest, note.issuer.taxId)}</NFe>` +
    `<protNFe versao="${layout}"><infProt Id="Id${note.protocol}"><tpAmb>${note.environmentCode}</tpAmb>` +
    `<verAplic>${note.issuer.place.uf}_SIM_1.0</verAplic><chNFe>${note.key}</chNFe>` +
    `<dhRecbto>${localTime(note.authorizedAt, note.utcOffset)}</dhRecbto><nProt>${note.protocol}</nProt>` +
    `<digVal>${note.digest}</digVal><cStat>100</cStat><xMotivo>Autorizado o uso da NF-e</xMotivo>` +
    '</infProt></protNFe></nfeProc>'
  );
}

function identification(note: Note, layout: NoteLayout): string {
  const { issuer } = note;
  const issued = localTime(note.issuedAt, note.utcOffset);
  const destination = note.recipient === 'foreign' ? '3' : note.recipient.place.uf === issuer.place.uf ? '1' : '2';
  // Layout 2.00 knows dates without a time zone, and says nothing of destination, presence and final consumer.
  const dates =
    layout === '2.00'
      ? `<dEmi>${issued.slice(0, 10)}</dEmi><dSaiEnt>${issued.slice(0, 10)}</dSaiEnt><tpNF>${note.operation}</tpNF>`
      : `<dhEmi>${issued}</dhEmi><tpNF>${note.operation}</tpNF><idDest>${destination}</idDest>`;
  const further = layout === '2.00' ? '' : `<indFinal>${note.model === '65' ? 1 : 0}</indFinal><indPres>9</indPres>`;
  return (
    `<ide><cUF>${ufCode(issuer.place.uf)}</cUF><cNF>${note.randomCode}</cNF>` +
    `<natOp>${note.operation === '1' ? 'Venda de mercadoria' : 'Compra para industrialização'}</natOp>` +
    `${layout === '4.00' ? '' : '<indPag>1</indPag>'}<mod>${note.model}</mod><serie>${note.series}</serie>` +
    `<nNF>${note.number}</nNF>${dates}<cMunFG>${issuer.place.code}</cMunFG><tpImp>1</tpImp><tpEmis>1</tpEmis>` +
    `<cDV>${note.key.slice(43)}</cDV><tpAmb>${note.environmentCode}</tpAmb><finNFe>1</finNFe>${further}` +
    `<procEmi>${note.office === null ? 0 : 1}</procEmi><verProc>simulador 1.0</verProc></ide>`
  );
}

function issuerXml(note: Note): string {
  const { issuer, office } = note;
  const byOffice =
    office === null
      ? ''
      : `<avulsa><CNPJ>${office.taxId}</CNPJ><xOrgao>Secretaria da Fazenda Fictícia</xOrgao><matr>12345</matr>` +
        `<xAgente>Agente da Amostra</xAgente><UF>${office.place.uf}</UF><repEmi>Agência Fiscal Central</repEmi></avulsa>`;
  return (
    `<emit>${taxIdElement(issuer.taxId)}<xNome>${escaped(issuer.name)}</xNome>` +
    `<enderEmit>${address(issuer)}</enderEmit><IE>${issuer.stateRegistration ?? 'ISENTO'}</IE>` +
    `<CRT>${issuer.regime}</CRT></emit>${byOffice}`
  );
}

function recipientXml(note: Note): string {
  const { recipient } = note;
  if (recipient === 'foreign') {
    // An empty idEstrangeiro is legal, and half of the exporters leave it so (case C37).
    const id = note.number % 2 === 0 ? '<idEstrangeiro/>' : `<idEstrangeiro>PASS${note.randomCode}</idEstrangeiro>`;
    return (
      `<dest>${id}<xNome>Sample Trading Company GmbH</xNome><enderDest><xLgr>Musterstrasse</xLgr><nro>1</nro>` +
      '<xBairro>Mitte</xBairro><cMun>9999999</cMun><xMun>EXTERIOR</xMun><UF>EX</UF><cPais>0230</cPais>' +
      '<xPais>ALEMANHA</xPais></enderDest><indIEDest>9</indIEDest></dest>'
    );
  }
  const registered = recipient.stateRegistration !== null && recipient.taxId.length === 14;
  const registration = registered
    ? `<indIEDest>1</indIEDest><IE>${recipient.stateRegistration}</IE>`
    : '<indIEDest>9</indIEDest>';
  return (
    `<dest>${taxIdElement(recipient.taxId)}<xNome>${escaped(recipient.name)}</xNome>` +
    `<enderDest>${address(recipient)}</enderDest>${registration}</dest>`
  );
}

function address(person: Person): string {
  return (
    `<xLgr>${person.street}</xLgr><nro>${person.houseNumber}</nro><xBairro>Centro</xBairro>` +
    `<cMun>${person.place.code}</cMun><xMun>${person.place.city}</xMun><UF>${person.place.uf}</UF>` +
    `<CEP>${person.place.postalCode}</CEP><cPais>1058</cPais><xPais>BRASIL</xPais>`
  );
}

function totalXml(note: Note, totals: TaxTotals): string {
  const zero = (name: string) => `<${name}>0.00</${name}>`;
  const reform =
    totals.reform === null
      ? ''
      : `<IBSCBSTot><vBCIBSCBS>${money(note.totalCents)}</vBCIBSCBS><gIBS>` +
        `<gIBSUF>${zero('vDif')}${zero('vDevTrib')}<vIBSUF>${money(totals.reform.ibs)}</vIBSUF></gIBSUF>` +
        `<gIBSMun>${zero('vDif')}${zero('vDevTrib')}${zero('vIBSMun')}</gIBSMun>` +
        `<vIBS>${money(totals.reform.ibs)}</vIBS>${zero('vCredPres')}${zero('vCredPresCondSus')}</gIBS>` +
        `<gCBS>${zero('vDif')}${zero('vDevTrib')}<vCBS>${money(totals.reform.cbs)}</vCBS>` +
        `${zero('vCredPres')}${zero('vCredPresCondSus')}</gCBS></IBSCBSTot>`;
  return (
    `<total><ICMSTot><vBC>${money(totals.base)}</vBC><vICMS>${money(totals.icms)}</vICMS>` +
    ['vICMSDeson', 'vFCP', 'vBCST', 'vST', 'vFCPST', 'vFCPSTRet'].map(zero).join('') +
    `<vProd>${money(note.totalCents)}</vProd>` +
    ['vFrete', 'vSeg', 'vDesc', 'vII', 'vIPI', 'vIPIDevol'].map(zero).join('') +
    `<vPIS>${money(totals.pis)}</vPIS><vCOFINS>${money(totals.cofins)}</vCOFINS>${zero('vOutro')}` +
    `<vNF>${money(note.totalCents)}</vNF></ICMSTot>${reform}</total>`
  );
}

function transportXml(note: Note): string {
  const { carrier } = note;
  if (carrier === null || note.model === '65') return '<transp><modFrete>9</modFrete></transp>';
  return (
    `<transp><modFrete>0</modFrete><transporta>${taxIdElement(carrier.taxId)}<xNome>${escaped(carrier.name)}</xNome>` +
    `<xEnder>${carrier.street}</xEnder><xMun>${carrier.place.city}</xMun><UF>${carrier.place.uf}</UF></transporta>` +
    `<vol><qVol>${1 + (note.number % 9)}</qVol><esp>VOLUMES</esp></vol></transp>`
  );
}

function paymentXml(note: Note): string {
  const means = note.number % 3 === 0 ? '17' : '15';
  return `<pag><detPag><indPag>1</indPag><tPag>${means}</tPag><vPag>${money(note.totalCents)}</vPag></detPag></pag>`;
}

/** NFC-e: the code that a consumer scans, and where the key can be looked up. */
function consumerXml(note: Note): string {
  const address = 'http://nfce.example.gov.br/consulta';
  return (
    `<infNFeSupl><qrCode>${address}?p=${note.key}|3|${note.environmentCode}</qrCode>` +
    `<urlChave>${address}</urlChave></infNFeSupl>`
  );
}
