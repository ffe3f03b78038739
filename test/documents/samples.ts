import { gzipSync } from 'node:zlib';
import { buildAccessKey, cnpjCheckDigits, cpfCheckDigits } from '../../src/documents/index.js';

/** Synthetic documents for tests and benchmarks: invented people and numbers with right check digits. */

export const cnpj = (first12: string): string => first12 + cnpjCheckDigits(first12);
export const cpf = (first9: string): string => first9 + cpfCheckDigits(first9);

export const PEOPLE = {
  seller: cnpj('101112130001'),
  buyer: cnpj('202122230001'),
  branch: cnpj('202122230002'),
  carrier: cnpj('303132330001'),
  accountant: cnpj('404142430001'),
  letters: cnpj('AB12CD340001'),
  farmer: cpf('135792468'),
};

/** A key of the seller, model 55, series 1; `more` replaces parts. */
export const key = (number: number, more: Partial<Parameters<typeof buildAccessKey>[0]> = {}): string =>
  buildAccessKey({
    ufCode: '35',
    yearMonth: '2610',
    taxId: PEOPLE.seller,
    model: '55',
    series: '1',
    number: String(number),
    emissionType: '1',
    randomCode: '40302010',
    ...more,
  });

const NS = 'xmlns="http://www.portalfiscal.inf.br/nfe"';

export interface NoteOptions {
  readonly key?: string;
  readonly layout?: string;
  readonly items?: number;
  readonly model?: string;
  readonly issued?: string;
  readonly issuer?: string;
  readonly recipient?: string;
  readonly transport?: string;
  readonly thirdParties?: string;
  readonly cStat?: string;
  readonly protocolKey?: string;
  readonly digVal?: string;
  readonly info?: string;
}

const party = (element: string, id: string, name: string, address: string): string =>
  `<${element}>${id}<xNome>${name}</xNome><${address}><xLgr>Rua Inventada</xLgr><nro>10</nro><xBairro>Centro</xBairro>` +
  `<cMun>3550308</cMun><xMun>Sao Paulo</xMun><UF>SP</UF><CEP>01001000</CEP></${address}><IE>123456789110</IE></${element}>`;

/** A whole note with its protocol (nfeProc), on one line and without a declaration, as services send it. */
export function note(options: NoteOptions = {}): string {
  const noteKey = options.key ?? key(1234);
  const layout = options.layout ?? '4.00';
  const random = lottery(Number(noteKey.slice(28, 34)));
  const digest = 'q83vEjRWeJCrze8SNFZ4kKvN7xI=';
  return (
    `<nfeProc versao="${layout}" ${NS}><NFe ${NS}><infNFe Id="NFe${noteKey}" versao="${layout}"><ide><cUF>35</cUF><cNF>40302010</cNF>` +
    `<natOp>Venda de mercadoria</natOp><mod>${options.model ?? '55'}</mod><serie>1</serie><nNF>1234</nNF>` +
    `${options.issued ?? '<dhEmi>2026-10-02T10:15:00-03:00</dhEmi>'}<tpNF>1</tpNF><idDest>1</idDest><cMunFG>3550308</cMunFG><tpImp>1</tpImp>` +
    `<tpEmis>1</tpEmis><cDV>${noteKey.slice(43)}</cDV><tpAmb>2</tpAmb><finNFe>1</finNFe><indFinal>0</indFinal><indPres>9</indPres></ide>` +
    (options.issuer ?? party('emit', `<CNPJ>${PEOPLE.seller}</CNPJ>`, 'Vendedora Inventada Ltda', 'enderEmit')) +
    (options.recipient ?? party('dest', `<CNPJ>${PEOPLE.buyer}</CNPJ>`, 'Compradora Inventada SA', 'enderDest')) +
    (options.thirdParties ?? '') +
    Array.from({ length: options.items ?? 2 }, (_, at) => item(at + 1, random)).join('') +
    '<total><ICMSTot><vBC>0.00</vBC><vICMS>0.00</vICMS><vProd>1234.56</vProd><vFrete>0.00</vFrete><vNF>1234.56</vNF></ICMSTot></total>' +
    `<transp><modFrete>0</modFrete>${options.transport ?? '<transporta/>'}</transp><pag><detPag><tPag>15</tPag><vPag>1234.56</vPag></detPag></pag>` +
    `<infAdic><infCpl>${options.info ?? 'Pedido 4711'}</infCpl></infAdic></infNFe>${signature(`#NFe${noteKey}`, digest, random)}</NFe>` +
    `<protNFe versao="${layout}"><infProt Id="Id135260000000123"><tpAmb>2</tpAmb><verAplic>X1</verAplic><chNFe>${options.protocolKey ?? noteKey}</chNFe>` +
    `<dhRecbto>2026-10-02T10:16:01-03:00</dhRecbto><nProt>135260000000123</nProt><digVal>${options.digVal ?? digest}</digVal>` +
    `<cStat>${options.cStat ?? '100'}</cStat><xMotivo>Autorizado o uso da NF-e</xMotivo></infProt></protNFe></nfeProc>`
  );
}

export function summary(options: { key?: string; issuer?: string; ie?: string; situation?: string } = {}): string {
  return (
    `<resNFe xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" versao="1.01" ${NS}>` +
    `<chNFe>${options.key ?? key(1234)}</chNFe>${options.issuer ?? `<CNPJ>${PEOPLE.seller}</CNPJ>`}<xNome>Vendedora Inventada Ltda</xNome>` +
    `<IE>${options.ie ?? '123456789110'}</IE><dhEmi>2026-10-02T10:15:00-03:00</dhEmi><tpNF>1</tpNF><vNF>1234.56</vNF>` +
    `<digVal>q83vEjRWeJCrze8SNFZ4kKvN7xI=</digVal><dhRecbto>2026-10-02T10:16:01-03:00</dhRecbto><nProt>135260000000123</nProt>` +
    `<cSitNFe>${options.situation ?? '1'}</cSitNFe></resNFe>`
  );
}

export interface EventOptions {
  readonly key?: string;
  readonly type?: string;
  readonly sequence?: number;
  readonly cStat?: string;
  readonly details?: string;
  readonly resultKey?: string;
  readonly result?: string;
}

export function event(options: EventOptions = {}): string {
  const eventKey = options.key ?? key(1234);
  const type = options.type ?? '110111';
  const sequence = options.sequence ?? 1;
  return (
    `<procEventoNFe versao="1.00" ${NS}><evento versao="1.00"><infEvento Id="ID${type}${eventKey}${String(sequence).padStart(2, '0')}">` +
    `<cOrgao>35</cOrgao><tpAmb>2</tpAmb><CNPJ>${PEOPLE.seller}</CNPJ><chNFe>${eventKey}</chNFe><dhEvento>2026-10-03T08:00:00-03:00</dhEvento>` +
    `<tpEvento>${type}</tpEvento><nSeqEvento>${sequence}</nSeqEvento><verEvento>1.00</verEvento><detEvento versao="1.00">` +
    `${options.details ?? '<descEvento>Cancelamento</descEvento><nProt>135260000000123</nProt><xJust>Pedido desfeito pela compradora</xJust>'}` +
    `</detEvento></infEvento></evento>` +
    (options.result ??
      `<retEvento versao="1.00"><infEvento><tpAmb>2</tpAmb><cOrgao>35</cOrgao><cStat>${options.cStat ?? '135'}</cStat><xMotivo>Registrado</xMotivo>` +
        `<chNFe>${options.resultKey ?? eventKey}</chNFe><tpEvento>${type}</tpEvento><xEvento>Evento ${type}</xEvento><nSeqEvento>${sequence}</nSeqEvento>` +
        `<dhRegEvento>2026-10-03T08:00:02-03:00</dhRegEvento><nProt>135260000000789</nProt></infEvento></retEvento>`) +
    '</procEventoNFe>'
  );
}

export function eventSummary(options: { key?: string; type?: string } = {}): string {
  return (
    `<resEvento versao="1.01" ${NS}><cOrgao>35</cOrgao><CNPJ>${PEOPLE.seller}</CNPJ><chNFe>${options.key ?? key(1234)}</chNFe>` +
    `<dhEvento>2026-10-03T08:00:00-03:00</dhEvento><tpEvento>${options.type ?? '110111'}</tpEvento><nSeqEvento>1</nSeqEvento><xEvento>Cancelamento</xEvento>` +
    '<dhRecbto>2026-10-03T08:00:02-03:00</dhRecbto><nProt>135260000000789</nProt></resEvento>'
  );
}

/** What stands in a docZip. */
export function docZip(xml: string | Uint8Array): Buffer {
  return Buffer.from(gzipSync(xml).toString('base64'), 'latin1');
}

type Lottery = (below: number) => number;

/** The same numbers on every run: documents that differ from item to item, so that they compress as real ones do. */
function lottery(seed: number): Lottery {
  let state = seed >>> 0 || 1;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const WORDS = [
  'Parafuso',
  'Chapa',
  'Tubo',
  'Cabo',
  'Filtro',
  'Rolamento',
  'Correia',
  'Valvula',
  'inox',
  'zincado',
  'flexivel',
  'preto',
  'com rosca',
  'reforcado',
];

function item(number: number, random: Lottery): string {
  const word = () => WORDS[random(WORDS.length)];
  const money = () => `${random(5000)}.${String(random(100)).padStart(2, '0')}`;
  const value = money();
  const tax = money();
  return (
    `<det nItem="${number}"><prod><cProd>${random(1e6)}</cProd><cEAN>${7_890_000_000_000 + random(1e9)}</cEAN><xProd>${word()} ${word()} ${word()} ${random(900)}MM</xProd>` +
    `<NCM>${73_000_000 + random(1e6)}</NCM><CFOP>5102</CFOP><uCom>UN</uCom><qCom>${random(500)}.0000</qCom><vUnCom>${money()}00000000</vUnCom><vProd>${value}</vProd>` +
    `<cEANTrib>SEM GTIN</cEANTrib><uTrib>UN</uTrib><qTrib>${random(500)}.0000</qTrib><vUnTrib>${money()}00000000</vUnTrib><indTot>1</indTot></prod><imposto><vTotTrib>${tax}</vTotTrib>` +
    `<ICMS><ICMS00><orig>0</orig><CST>00</CST><modBC>3</modBC><vBC>${value}</vBC><pICMS>18.0000</pICMS><vICMS>${tax}</vICMS></ICMS00></ICMS>` +
    `<PIS><PISAliq><CST>01</CST><vBC>${value}</vBC><pPIS>1.6500</pPIS><vPIS>${money()}</vPIS></PISAliq></PIS>` +
    `<COFINS><COFINSAliq><CST>01</CST><vBC>${value}</vBC><pCOFINS>7.6000</pCOFINS><vCOFINS>${money()}</vCOFINS></COFINSAliq></COFINS></imposto></det>`
  );
}

/** Of the size of a real signature with its certificate, and as incompressible. */
function signature(reference: string, digest: string, random: Lottery): string {
  const noise = (bytes: number) => Buffer.from(Array.from({ length: bytes }, () => random(256))).toString('base64');
  return (
    '<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"><SignedInfo><CanonicalizationMethod Algorithm="http://www.w3.org/TR/2001/REC-xml-c14n-20010315"/>' +
    `<SignatureMethod Algorithm="http://www.w3.org/2000/09/xmldsig#rsa-sha1"/><Reference URI="${reference}"><DigestValue>${digest}</DigestValue></Reference></SignedInfo>` +
    `<SignatureValue>${noise(256)}</SignatureValue><KeyInfo><X509Data><X509Certificate>${noise(1_450)}</X509Certificate></X509Data></KeyInfo></Signature>`
  );
}
