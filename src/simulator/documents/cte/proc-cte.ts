import { ufCode } from '../../../documents/uf.js';
import type { Person } from '../people.js';
import { dummySignature } from '../signature.js';
import { escaped, localTime, money, taxIdElement } from '../text.js';
import type { Freight, FreightForm, Modal, PartyRole } from './freight.js';

/** Layouts that still come out of archives and slow senders; 4.00 is the one in force. Older ones exist of the usual CT-e only. */
export type FreightLayout = '4.00' | '3.00' | '2.00';

const ROOTS: Readonly<Record<FreightForm, string>> = {
  CTe: 'cteProc',
  CTeOS: 'cteOSProc',
  CTeSimp: 'cteSimpProc',
  GTVe: 'GTVeProc',
};
const NAMESPACE = 'xmlns="http://www.portalfiscal.inf.br/cte"';

/** The whole document with its authorization. */
export function procCte(freight: Freight, layout: FreightLayout = '4.00'): string {
  const { form, key } = freight;
  const id = `CTe${key}`;
  const root = ROOTS[form];
  const outerVersion = form === 'CTeOS' || form === 'GTVe' ? ` versao="${layout}"` : '';
  const third = freight.authorized.map((taxId) => `<autXML>${taxIdElement(taxId)}</autXML>`).join('');
  const code = `<infCTeSupl><qrCodCTe>https://cte.example.gov.br/qrCode?chCTe=${key}&amp;tpAmb=${freight.environmentCode}</qrCodCTe></infCTeSupl>`;
  return (
    `<${root} versao="${layout}" ${NAMESPACE}><${form}${outerVersion} ${NAMESPACE}>` +
    `<infCte versao="${layout}" Id="${id}">${identification(freight, layout)}${issuerXml(freight, layout)}${BODIES[form](freight, layout)}${third}</infCte>` +
    `${layout === '2.00' ? '' : code}${dummySignature(id, freight.digest, freight.issuer.taxId)}</${form}>` +
    `<protCTe versao="${layout}"><infProt><tpAmb>${freight.environmentCode}</tpAmb><verAplic>${freight.issuer.place.uf}_SIM_1.0</verAplic>` +
    `<chCTe>${key}</chCTe><dhRecbto>${localTime(freight.authorizedAt, freight.utcOffset)}</dhRecbto><nProt>${freight.protocol}</nProt>` +
    `<digVal>${freight.digest}</digVal><cStat>100</cStat><xMotivo>Autorizado o uso do CT-e</xMotivo></infProt></protCTe></${root}>`
  );
}

const TYPES: Readonly<Record<FreightForm, string>> = { CTe: '0', CTeOS: '0', CTeSimp: '5', GTVe: '4' };
const SERVICES: Readonly<Record<FreightForm, string>> = { CTe: '0', CTeOS: '6', CTeSimp: '0', GTVe: '9' };

function identification(freight: Freight, layout: FreightLayout): string {
  const { form, issuer, key } = freight;
  const { place } = issuer;
  const issued = localTime(freight.issuedAt, freight.utcOffset);
  const route = (end: 'Ini' | 'Fim') =>
    `<cMun${end}>${place.code}</cMun${end}><xMun${end}>${place.city}</xMun${end}><UF${end}>${place.uf}</UF${end}>`;
  const ufs = `<UFIni>${place.uf}</UFIni><UFFim>${place.uf}</UFFim>`;
  const ends: Readonly<Record<FreightForm, string>> = {
    CTe: `${route('Ini')}${route('Fim')}<retira>1</retira>${layout === '2.00' ? '' : '<indIEToma>1</indIEToma>'}${takerXml(freight, layout)}`,
    CTeOS: `<indIEToma>9</indIEToma>${route('Ini')}${route('Fim')}`,
    CTeSimp: `${ufs}<retira>1</retira>`,
    GTVe: `<indIEToma>1</indIEToma><dhSaidaOrig>${issued}</dhSaidaOrig><dhChegadaDest>${issued}</dhChegadaDest>${takerXml(freight, layout)}`,
  };
  return (
    `<ide><cUF>${ufCode(place.uf)}</cUF><cCT>${freight.randomCode}</cCT><CFOP>5353</CFOP><natOp>Transporte</natOp>` +
    // Layout 2.00 knows no time zone, and says who pays.
    `${layout === '2.00' ? '<forPag>1</forPag>' : ''}<mod>${key.slice(20, 22)}</mod><serie>${freight.series}</serie><nCT>${freight.number}</nCT>` +
    `<dhEmi>${layout === '2.00' ? issued.slice(0, 19) : issued}</dhEmi><tpImp>1</tpImp><tpEmis>1</tpEmis><cDV>${key.slice(43)}</cDV>` +
    `<tpAmb>${freight.environmentCode}</tpAmb><tpCTe>${TYPES[form]}</tpCTe>${form === 'GTVe' ? '' : '<procEmi>0</procEmi>'}<verProc>simulador 1.0</verProc>` +
    `<cMunEnv>${place.code}</cMunEnv><xMunEnv>${place.city}</xMunEnv><UFEnv>${place.uf}</UFEnv>` +
    `<modal>${freight.modal}</modal><tpServ>${SERVICES[form]}</tpServ>${ends[form]}</ide>`
  );
}

const TAKER_CODES: Readonly<Record<PartyRole | 'other', string>> = {
  sender: '0',
  dispatcher: '1',
  receiver: '2',
  recipient: '3',
  other: '4',
};

function takerXml({ form, taker, takerRole }: Freight, layout: FreightLayout): string {
  if (takerRole === 'other') {
    const element = form === 'GTVe' ? 'tomaTerceiro' : 'toma4';
    return partyXml(element, 'enderToma', taker, '<toma>4</toma>');
  }
  // In a GTV-e there is nobody between sender and recipient, so the recipient has code 1.
  if (form === 'GTVe') return `<toma><toma>${takerRole === 'sender' ? '0' : '1'}</toma></toma>`;
  const element = layout === '2.00' ? 'toma03' : 'toma3';
  return `<${element}><toma>${TAKER_CODES[takerRole]}</toma></${element}>`;
}

function issuerXml({ form, issuer }: Freight, layout: FreightLayout): string {
  const regime = layout === '4.00' && form !== 'GTVe' ? `<CRT>${issuer.regime}</CRT>` : '';
  return (
    `<emit>${taxIdElement(issuer.taxId)}<IE>${issuer.stateRegistration ?? 'ISENTO'}</IE><xNome>${escaped(issuer.name)}</xNome>` +
    `<enderEmit>${address(issuer)}<UF>${issuer.place.uf}</UF></enderEmit>${regime}</emit>`
  );
}

function partyXml(element: string, addressElement: string, person: Person, before = ''): string {
  const registration = person.stateRegistration === null ? '' : `<IE>${person.stateRegistration}</IE>`;
  return (
    `<${element}>${before}${taxIdElement(person.taxId)}${registration}<xNome>${escaped(person.name)}</xNome>` +
    `<${addressElement}>${address(person)}<UF>${person.place.uf}</UF></${addressElement}></${element}>`
  );
}

function address(person: Person): string {
  const { place } = person;
  return (
    `<xLgr>${person.street}</xLgr><nro>${person.houseNumber}</nro><xBairro>Centro</xBairro>` +
    `<cMun>${place.code}</cMun><xMun>${place.city}</xMun><CEP>${place.postalCode}</CEP>`
  );
}

const PARTY_ELEMENTS: readonly (readonly [PartyRole, string, string])[] = [
  ['sender', 'rem', 'enderReme'],
  ['dispatcher', 'exped', 'enderExped'],
  ['receiver', 'receb', 'enderReceb'],
  ['recipient', 'dest', 'enderDest'],
];

function partiesXml({ parties }: Freight): string {
  return PARTY_ELEMENTS.map(([role, element, addressElement]) => {
    const person = parties[role];
    return person === undefined ? '' : partyXml(element, addressElement, person);
  }).join('');
}

const NO_TAX = '<ICMS><ICMS45><CST>40</CST></ICMS45></ICMS>';

function serviceXml({ totalCents, number }: Freight, layout: FreightLayout): string {
  const total = money(totalCents);
  // Since the Reform a document may have a second total, with the taxes that are added to the service.
  const whole = layout === '4.00' && number % 3 === 0 ? `<vTotDFe>${money(totalCents + 100)}</vTotDFe>` : '';
  return `<vPrest><vTPrest>${total}</vTPrest><vRec>${total}</vRec></vPrest><imp>${NO_TAX}${whole}</imp>`;
}

function cargoXml(measure: string): string {
  return `<infCarga><vCarga>1500.00</vCarga><proPred>Mercadorias</proPred><infQ><cUnid>01</cUnid><tpMed>${measure}</tpMed><qCarga>10.0000</qCarga></infQ></infCarga>`;
}

function modalXml(modal: Modal, layout: FreightLayout, issuedAt: number): string {
  const day = localTime(issuedAt).slice(0, 10);
  const inside: Readonly<Record<Modal, string>> = {
    '01': `<rodo><RNTRC>12345678</RNTRC>${layout === '2.00' ? `<dPrev>${day}</dPrev><lota>0</lota>` : ''}</rodo>`,
    '02': `<aereo><dPrevAereo>${day}</dPrevAereo><natCarga/><tarifa><CL>M</CL><vTar>10.00</vTar></tarifa></aereo>`,
    '03': '<aquav><vPrest>250.00</vPrest><vAFRMM>0.00</vAFRMM><xNavio>Barco da Amostra</xNavio><direc>N</direc><irin>1234567</irin></aquav>',
    '04': '<ferrov><tpTraf>0</tpTraf><fluxo>F1</fluxo></ferrov>',
    '05': `<duto><dIni>${day}</dIni><dFim>${day}</dFim></duto>`,
    '06': '<multimodal><COTM>123456</COTM><indNegociavel>0</indNegociavel></multimodal>',
  };
  return `<infModal versaoModal="${layout}">${inside[modal]}</infModal>`;
}

const BODIES: Readonly<Record<FreightForm, (freight: Freight, layout: FreightLayout) => string>> = {
  CTe: cteBody,
  CTeOS: osBody,
  CTeSimp: simplifiedBody,
  GTVe: gtveBody,
};

function cteBody(freight: Freight, layout: FreightLayout): string {
  const { nfeKeys, previousKeys, issuer } = freight;
  const notes = nfeKeys.map((key) => `<infNFe><chave>${key}</chave></infNFe>`).join('');
  const element = layout === '2.00' ? 'chave' : 'chCTe';
  const electronic = previousKeys.map((key) => `<idDocAntEle><${element}>${key}</${element}></idDocAntEle>`).join('');
  const before =
    electronic === ''
      ? ''
      : `<docAnt><emiDocAnt>${taxIdElement(issuer.taxId)}<IE>${issuer.stateRegistration ?? '0'}</IE><UF>${issuer.place.uf}</UF>` +
        `<xNome>${escaped(issuer.name)}</xNome><idDocAnt>${electronic}</idDocAnt></emiDocAnt></docAnt>`;
  return (
    `${partiesXml(freight)}${serviceXml(freight, layout)}<infCTeNorm>${cargoXml('PESO BRUTO')}<infDoc>${notes}</infDoc>${before}` +
    `${modalXml(freight.modal, layout, freight.issuedAt)}</infCTeNorm>`
  );
}

function osBody(freight: Freight, layout: FreightLayout): string {
  return (
    `${partyXml('toma', 'enderToma', freight.taker)}${serviceXml(freight, layout)}` +
    '<infCTeNorm><infServico><xDescServ>Fretamento de pessoas</xDescServ></infServico></infCTeNorm>'
  );
}

function simplifiedBody(freight: Freight, layout: FreightLayout): string {
  const { place } = freight.issuer;
  const total = money(freight.totalCents);
  const deliveries = freight.nfeKeys.map(
    (key, at) =>
      `<det nItem="${at + 1}"><cMunIni>${place.code}</cMunIni><xMunIni>${place.city}</xMunIni><cMunFim>${place.code}</cMunFim>` +
      `<xMunFim>${place.city}</xMunFim><vPrest>${total}</vPrest><vRec>${total}</vRec><infNFe><chNFe>${key}</chNFe></infNFe></det>`,
  );
  return (
    partyXml(
      'toma',
      'enderToma',
      freight.taker,
      `<toma>${TAKER_CODES[freight.takerRole]}</toma><indIEToma>1</indIEToma>`,
    ) +
    `${cargoXml('00')}${deliveries.join('')}${modalXml(freight.modal, layout, freight.issuedAt)}<imp>${NO_TAX}</imp>` +
    `<total><vTPrest>${total}</vTPrest><vTRec>${total}</vTRec></total>`
  );
}

function gtveBody(freight: Freight): string {
  return (
    `${partiesXml(freight)}<detGTV><infEspecie><tpEspecie>1</tpEspecie><vEspecie>${money(freight.totalCents)}</vEspecie>` +
    '<tpNumerario>1</tpNumerario></infEspecie><qCarga>1.0000</qCarga><infVeiculo><placa>ABC1D23</placa></infVeiculo></detGTV>'
  );
}
