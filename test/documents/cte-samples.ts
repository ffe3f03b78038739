import { buildAccessKey } from '../../src/documents/index.js';
import { cnpj, PEOPLE } from './samples.js';

/** Synthetic CT-e, valid under the official schemas: invented people and numbers with right check digits. */

export const CARGO = {
  carrier: PEOPLE.carrier,
  sender: PEOPLE.seller,
  recipient: PEOPLE.buyer,
  dispatcher: cnpj('505152530001'),
  receiver: cnpj('606162630001'),
  payer: cnpj('707172730001'),
};

/** A key of the carrier, model 57, series 1; `more` replaces parts. */
export const cteKey = (number: number, more: Partial<Parameters<typeof buildAccessKey>[0]> = {}): string =>
  buildAccessKey({
    ufCode: '35',
    yearMonth: '2610',
    taxId: CARGO.carrier,
    model: '57',
    series: '1',
    number: String(number),
    emissionType: '1',
    randomCode: '50403020',
    ...more,
  });

export const MASKED = '9'.repeat(44);

const NS = 'xmlns="http://www.portalfiscal.inf.br/cte"';
const ADDRESS =
  '<xLgr>Rua Inventada</xLgr><nro>10</nro><xBairro>Centro</xBairro><cMun>3550308</cMun><xMun>Sao Paulo</xMun><CEP>01001000</CEP>';
const PLACE = { cMun: '3550308', xMun: 'Sao Paulo', uf: 'SP' };
const DIGEST = 'q83vEjRWeJCrze8SNFZ4kKvN7xI=';

/** A party; `id` stands for its CNPJ or CPF element where that is not an ordinary CNPJ. */
export function partyXml(
  element: string,
  address: string,
  taxId: string,
  name: string,
  more: { id?: string; uf?: string } = {},
): string {
  return (
    `<${element}>${more.id ?? `<CNPJ>${taxId}</CNPJ>`}<IE>123456789110</IE><xNome>${name}</xNome>` +
    `<${address}>${ADDRESS}<UF>${more.uf ?? 'SP'}</UF></${address}></${element}>`
  );
}

export const sender = partyXml('rem', 'enderReme', CARGO.sender, 'Remetente Inventada Ltda');
export const dispatcher = partyXml('exped', 'enderExped', CARGO.dispatcher, 'Expedidora Inventada Ltda');
export const receiver = partyXml('receb', 'enderReceb', CARGO.receiver, 'Recebedora Inventada Ltda');
export const recipient = partyXml('dest', 'enderDest', CARGO.recipient, 'Destinataria Inventada SA');
const issuer =
  `<emit><CNPJ>${CARGO.carrier}</CNPJ><IE>112233445110</IE><xNome>Transportes Inventados Ltda</xNome>` +
  `<enderEmit>${ADDRESS}<UF>SP</UF></enderEmit>`;

/** Whom `ide` names as taker: one of the parties, or somebody else with data of its own. */
export const TAKERS = {
  sender: '<toma3><toma>0</toma></toma3>',
  dispatcher: '<toma3><toma>1</toma></toma3>',
  receiver: '<toma3><toma>2</toma></toma3>',
  recipient: '<toma3><toma>3</toma></toma3>',
  other: partyXml('toma4', 'enderToma', CARGO.payer, 'Pagadora Inventada Ltda').replace(
    '<toma4>',
    '<toma4><toma>4</toma>',
  ),
};

export const MODALS: Readonly<Record<string, string>> = {
  '01': '<rodo><RNTRC>12345678</RNTRC></rodo>',
  '02': '<aereo><dPrevAereo>2026-10-05</dPrevAereo><natCarga/><tarifa><CL>M</CL><vTar>10.00</vTar></tarifa></aereo>',
  '03': '<aquav><vPrest>250.00</vPrest><vAFRMM>0.00</vAFRMM><xNavio>Barco Inventado</xNavio><direc>N</direc><irin>1234567</irin></aquav>',
  '04': '<ferrov><tpTraf>0</tpTraf><fluxo>F1</fluxo></ferrov>',
  '05': '<duto><dIni>2026-10-01</dIni><dFim>2026-10-31</dFim></duto>',
  '06': '<multimodal><COTM>123456</COTM><indNegociavel>0</indNegociavel></multimodal>',
};

export interface CteOptions {
  readonly key?: string;
  readonly layout?: string;
  readonly type?: string;
  readonly modal?: string;
  readonly modalXml?: string;
  readonly taker?: string;
  readonly issued?: string;
  /** rem, exped, receb, dest. */
  readonly parties?: string;
  readonly nfeKeys?: readonly string[];
  /** docAnt. */
  readonly previous?: string;
  /** In place of infCTeNorm. */
  readonly content?: string;
  readonly documentTotal?: string;
  readonly thirdParties?: string;
  readonly cStat?: string;
  readonly protocolKey?: string;
  readonly digVal?: string;
}

/** cteProc: the usual CT-e with its protocol. */
export function cte(options: CteOptions = {}): string {
  const key = options.key ?? cteKey(500);
  const layout = options.layout ?? '4.00';
  const modal = options.modal ?? '01';
  const notes = options.nfeKeys ?? [];
  const carried =
    notes.length === 0
      ? ''
      : `<infDoc>${notes.map((note) => `<infNFe><chave>${note}</chave></infNFe>`).join('')}</infDoc>`;
  const content =
    options.content ??
    `<infCTeNorm><infCarga><vCarga>1500.00</vCarga><proPred>Parafusos</proPred><infQ><cUnid>01</cUnid><tpMed>${layout === '4.00' ? 'PESO BRUTO' : 'PESO'}</tpMed>` +
      `<qCarga>10.0000</qCarga></infQ></infCarga>${carried}${options.previous ?? ''}` +
      `<infModal versaoModal="${layout}">${options.modalXml ?? MODALS[modal]}</infModal></infCTeNorm>`;
  return proc('cteProc', 'CTe', layout, options, key, {
    beforeEmit:
      `${ide(key, options, { type: options.type ?? '0', service: '0' })}<modal>${modal}</modal><tpServ>0</tpServ>` +
      `<cMunIni>${PLACE.cMun}</cMunIni><xMunIni>${PLACE.xMun}</xMunIni><UFIni>SP</UFIni><cMunFim>${PLACE.cMun}</cMunFim>` +
      `<xMunFim>${PLACE.xMun}</xMunFim><UFFim>SP</UFFim><retira>1</retira><indIEToma>1</indIEToma>${options.taker ?? TAKERS.recipient}</ide>`,
    issuer: `${issuer}${layout === '4.00' ? '<CRT>3</CRT>' : ''}</emit>`,
    afterEmit: `${options.parties ?? sender + recipient}${money(options)}${content}`,
  });
}

/** cteOSProc: transport of people, valuables, excess baggage. */
export function cteOs(options: CteOptions & { readonly toma?: string } = {}): string {
  const key = options.key ?? cteKey(600, { model: '67' });
  return proc('cteOSProc', 'CTeOS', '4.00', options, key, {
    beforeEmit:
      `${ide(key, options, { type: options.type ?? '0', service: '6' })}<modal>${options.modal ?? '01'}</modal><tpServ>6</tpServ><indIEToma>9</indIEToma>` +
      '<cMunIni>3550308</cMunIni><xMunIni>Sao Paulo</xMunIni><UFIni>SP</UFIni><cMunFim>3550308</cMunFim><xMunFim>Sao Paulo</xMunFim><UFFim>SP</UFFim></ide>',
    issuer: `${issuer}<CRT>3</CRT></emit>`,
    afterEmit:
      `${options.toma ?? partyXml('toma', 'enderToma', CARGO.payer, 'Pagadora Inventada Ltda')}${money(options)}` +
      '<infCTeNorm><infServico><xDescServ>Fretamento</xDescServ></infServico></infCTeNorm>',
  });
}

/** cteSimpProc: several deliveries, no sender or recipient of their own. */
export function cteSimplified(
  options: CteOptions & { readonly takerCode?: string; readonly deliveries?: string } = {},
): string {
  const key = options.key ?? cteKey(700);
  const deliveries =
    options.deliveries ??
    (options.nfeKeys ?? [cteKey(1, { model: '55' })])
      .map((note, at) => delivery(at + 1, `<infNFe><chNFe>${note}</chNFe></infNFe>`))
      .join('');
  return proc('cteSimpProc', 'CTeSimp', '4.00', options, key, {
    beforeEmit: `${ide(key, options, { type: options.type ?? '5', service: '0' })}<modal>${options.modal ?? '01'}</modal><tpServ>0</tpServ><UFIni>SP</UFIni><UFFim>SP</UFFim><retira>1</retira></ide>`,
    issuer: `${issuer}<CRT>3</CRT></emit>`,
    afterEmit:
      `<toma><toma>${options.takerCode ?? '4'}</toma><indIEToma>1</indIEToma><CNPJ>${CARGO.payer}</CNPJ><IE>123456789110</IE><xNome>Pagadora Inventada Ltda</xNome>` +
      `<enderToma>${ADDRESS}<UF>SP</UF></enderToma></toma>` +
      `<infCarga><vCarga>1500.00</vCarga><proPred>Parafusos</proPred><infQ><cUnid>01</cUnid><tpMed>00</tpMed><qCarga>10.0000</qCarga></infQ></infCarga>${deliveries}` +
      `<infModal versaoModal="4.00">${MODALS[options.modal ?? '01']}</infModal><imp><ICMS><ICMS45><CST>40</CST></ICMS45></ICMS></imp>` +
      `<total><vTPrest>250.00</vTPrest><vTRec>250.00</vTRec>${options.documentTotal === undefined ? '' : `<vTotDFe>${options.documentTotal}</vTotDFe>`}</total>`,
  });
}

export function delivery(number: number, documents: string): string {
  return (
    `<det nItem="${number}"><cMunIni>3550308</cMunIni><xMunIni>Sao Paulo</xMunIni><cMunFim>3550308</cMunFim><xMunFim>Sao Paulo</xMunFim>` +
    `<vPrest>250.00</vPrest><vRec>250.00</vRec>${documents}</det>`
  );
}

/** GTVeProc: the waybill of a transport of valuables. */
export function gtve(options: CteOptions = {}): string {
  const key = options.key ?? cteKey(800, { model: '64' });
  return proc('GTVeProc', 'GTVe', '4.00', options, key, {
    beforeEmit:
      `${ide(key, options, { type: '4', service: '9' })}<modal>01</modal><tpServ>9</tpServ><indIEToma>1</indIEToma>` +
      `<dhSaidaOrig>2026-10-02T10:30:00-03:00</dhSaidaOrig><dhChegadaDest>2026-10-02T12:00:00-03:00</dhChegadaDest>${options.taker ?? '<toma><toma>1</toma></toma>'}</ide>`,
    issuer: `${issuer}</emit>`,
    afterEmit:
      `${options.parties ?? sender + recipient}<detGTV><infEspecie><tpEspecie>1</tpEspecie><vEspecie>9000.00</vEspecie><tpNumerario>1</tpNumerario></infEspecie>` +
      '<qCarga>1.0000</qCarga><infVeiculo><placa>ABC1D23</placa></infVeiculo></detGTV>',
  });
}

export interface CteEventOptions {
  readonly key?: string;
  readonly type?: string;
  readonly sequence?: number;
  readonly layout?: string;
  readonly cStat?: string;
  /** Content of detEvento. */
  readonly details?: string;
  readonly result?: string;
}

/** procEventoCTe. The details of a cancellation hold the cancelled document's protocol too. */
export function cteEvent(options: CteEventOptions = {}): string {
  const key = options.key ?? cteKey(500);
  const type = options.type ?? '110111';
  const sequence = options.sequence ?? 1;
  const layout = options.layout ?? '4.00';
  const details =
    options.details ??
    '<evCancCTe><descEvento>Cancelamento</descEvento><nProt>135260000000222</nProt><xJust>Servico desfeito antes do inicio</xJust></evCancCTe>';
  return (
    `<procEventoCTe versao="${layout}" ${NS}><eventoCTe versao="${layout}"><infEvento Id="ID${type}${key}${String(sequence).padStart(layout === '4.00' ? 3 : 2, '0')}">` +
    `<cOrgao>35</cOrgao><tpAmb>2</tpAmb><CNPJ>${CARGO.carrier}</CNPJ><chCTe>${key}</chCTe><dhEvento>2026-10-03T08:00:00-03:00</dhEvento>` +
    `<tpEvento>${type}</tpEvento><nSeqEvento>${sequence}</nSeqEvento><detEvento versaoEvento="${layout}">${details}</detEvento></infEvento>` +
    `${signature(`#ID${type}${key}`)}</eventoCTe>` +
    (options.result ??
      `<retEventoCTe versao="${layout}"><infEvento><tpAmb>2</tpAmb><verAplic>X1</verAplic><cOrgao>35</cOrgao><cStat>${options.cStat ?? '135'}</cStat>` +
        `<xMotivo>Registrado</xMotivo><chCTe>${key}</chCTe><tpEvento>${type}</tpEvento><xEvento>Evento ${type}</xEvento><nSeqEvento>${sequence}</nSeqEvento>` +
        '<dhRegEvento>2026-10-03T08:00:02-03:00</dhRegEvento><nProt>135260000000789</nProt></infEvento></retEventoCTe>') +
    '</procEventoCTe>'
  );
}

function ide(key: string, options: CteOptions, { type, service }: { type: string; service: string }): string {
  const simplified = service === '9' ? '' : '<procEmi>0</procEmi>';
  const issued = options.issued ?? '<dhEmi>2026-10-02T10:15:00-03:00</dhEmi>';
  return (
    `<ide><cUF>35</cUF><cCT>50403020</cCT><CFOP>5353</CFOP><natOp>Transporte</natOp><mod>${key.slice(20, 22)}</mod><serie>1</serie><nCT>${Number(key.slice(25, 34))}</nCT>` +
    `${issued}<tpImp>1</tpImp><tpEmis>1</tpEmis><cDV>${key.slice(43)}</cDV><tpAmb>2</tpAmb><tpCTe>${type}</tpCTe>${simplified}<verProc>amostra 1</verProc>` +
    '<cMunEnv>3550308</cMunEnv><xMunEnv>Sao Paulo</xMunEnv><UFEnv>SP</UFEnv>'
  );
}

function money(options: CteOptions): string {
  const total = options.documentTotal === undefined ? '' : `<vTotDFe>${options.documentTotal}</vTotDFe>`;
  return `<vPrest><vTPrest>250.00</vTPrest><vRec>250.00</vRec></vPrest><imp><ICMS><ICMS45><CST>40</CST></ICMS45></ICMS>${total}</imp>`;
}

function proc(
  root: string,
  element: string,
  layout: string,
  options: CteOptions,
  key: string,
  parts: { beforeEmit: string; issuer: string; afterEmit: string },
): string {
  // CT-e OS and GTV-e carry their version on the outer element too.
  const version = element === 'CTeOS' || element === 'GTVe' ? ` versao="${layout}"` : '';
  return (
    `<${root} versao="${layout}" ${NS}><${element}${version} ${NS}><infCte Id="CTe${key}" versao="${layout}">${parts.beforeEmit}${parts.issuer}${parts.afterEmit}` +
    `${options.thirdParties ?? ''}</infCte>${supplement(key)}${signature(`#CTe${key}`)}</${element}>` +
    `<protCTe versao="${layout}"><infProt Id="CTe135260000000222"><tpAmb>2</tpAmb><verAplic>X1</verAplic><chCTe>${options.protocolKey ?? key}</chCTe>` +
    `<dhRecbto>2026-10-02T10:16:01-03:00</dhRecbto><nProt>135260000000222</nProt><digVal>${options.digVal ?? DIGEST}</digVal>` +
    `<cStat>${options.cStat ?? '100'}</cStat><xMotivo>Autorizado o uso do CT-e</xMotivo></infProt></protCTe></${root}>`
  );
}

const supplement = (key: string): string =>
  `<infCTeSupl><qrCodCTe>https://cte.example.gov.br/qrCode?chCTe=${key}&amp;tpAmb=2</qrCodCTe></infCTeSupl>`;

const signature = (reference: string): string =>
  '<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"><SignedInfo><CanonicalizationMethod Algorithm="http://www.w3.org/TR/2001/REC-xml-c14n-20010315"/>' +
  `<SignatureMethod Algorithm="http://www.w3.org/2000/09/xmldsig#rsa-sha1"/><Reference URI="${reference}"><Transforms>` +
  '<Transform Algorithm="http://www.w3.org/2000/09/xmldsig#enveloped-signature"/><Transform Algorithm="http://www.w3.org/TR/2001/REC-xml-c14n-20010315"/></Transforms>' +
  `<DigestMethod Algorithm="http://www.w3.org/2000/09/xmldsig#sha1"/><DigestValue>${DIGEST}</DigestValue></Reference></SignedInfo>` +
  '<SignatureValue>AAAA</SignatureValue><KeyInfo><X509Data><X509Certificate>AAAA</X509Certificate></X509Data></KeyInfo></Signature>';
