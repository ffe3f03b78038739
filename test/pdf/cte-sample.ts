import { buildAccessKey, cnpjCheckDigits } from '../../src/documents/index.js';
import { BUYER, SELLER, SELLER_WITH_LETTERS, write, type Xml } from './nfe-sample.js';

/** Made-up CT-e as objects: tests change any part of them and compare the page with the same object. */

export interface CteParts {
  [name: string]: Xml | undefined;
  readonly '@Id': string;
  readonly ide: Record<string, Xml | undefined>;
}

const CARRIER = `404142430001${cnpjCheckDigits('404142430001')}`;
export const CARRIER_WITH_LETTERS = `EF56GH780001${cnpjCheckDigits('EF56GH780001')}`;
const FIRST_CARRIER = `505152530001${cnpjCheckDigits('505152530001')}`;

export function cteKey(more: { carrier?: string; model?: string; emission?: string } = {}): string {
  const { carrier = CARRIER, model = '57', emission = '1' } = more;
  return keyOf({ taxId: carrier, model, number: '8123', emissionType: emission, series: '12' });
}

function keyOf(parts: {
  taxId: string;
  model: string;
  number: string;
  emissionType?: string;
  series?: string;
}): string {
  return buildAccessKey({
    ufCode: '35',
    yearMonth: '2612',
    series: '3',
    emissionType: '1',
    randomCode: '50607080',
    ...parts,
  });
}

/** Key of the nth NF-e of a load. */
export function noteKey(number: number): string {
  return keyOf({ taxId: SELLER, model: '55', number: String(number) });
}

/** Key of the nth CT-e of the carrier before. */
export function previousKey(number: number): string {
  return keyOf({ taxId: FIRST_CARRIER, model: '57', number: String(number) });
}

const place = (street: string, city: string, uf: string): { readonly [name: string]: Xml } => ({
  xLgr: street,
  nro: '1500',
  xCpl: 'Sala 2',
  xBairro: 'Centro',
  cMun: '3550308',
  xMun: city,
  CEP: '13010000',
  UF: uf,
  cPais: '1058',
  xPais: 'BRASIL',
});

const person = (taxId: string, name: string, address: string, home: Xml): { readonly [name: string]: Xml } => ({
  CNPJ: taxId,
  IE: '112233445566',
  xNome: name,
  fone: '1933334444',
  [address]: home,
});

export const SENDER = person(
  SELLER,
  'Remetente Inventada de Ferragens Ltda',
  'enderReme',
  place('Rua da Origem', 'Campinas', 'SP'),
);
export const RECIPIENT = person(
  BUYER,
  'Destinatária Fictícia S.A.',
  'enderDest',
  place('Avenida do Destino', 'Curitiba', 'PR'),
);
export const DISPATCHER = person(
  FIRST_CARRIER,
  'Expedidora de Amostra Ltda',
  'enderExped',
  place('Rua do Expedidor', 'Jundiaí', 'SP'),
);
export const RECEIVER = person(
  SELLER_WITH_LETTERS,
  'Recebedora com Letras Ltda',
  'enderReceb',
  place('Rua do Recebedor', 'Pinhais', 'PR'),
);
export const TAKER = person(
  BUYER,
  'Tomadora Imaginária Comércio Ltda',
  'enderToma',
  place('Alameda do Tomador', 'São Paulo', 'SP'),
);

export interface CteOptions {
  readonly modal?: string;
  /** infModal's content. */
  readonly inModal?: Xml;
  readonly notes?: number;
  readonly carrier?: string;
  readonly emission?: string;
}

const ICMS = { ICMS00: { CST: '00', vBC: '1500.00', pICMS: '12.00', vICMS: '180.00' } };
const IBS_CBS = {
  CST: '000',
  cClassTrib: '000001',
  gIBSCBS: {
    vBC: '1320.00',
    gIBSUF: { pIBSUF: '0.1000', vIBSUF: '1.32' },
    gIBSMun: { pIBSMun: '0.0000', vIBSMun: '0.00' },
    vIBS: '1.32',
    gCBS: { pCBS: '0.9000', vCBS: '11.88' },
  },
};

const QUANTITIES = [
  { cUnid: '01', tpMed: 'PESO BRUTO', qCarga: '12345.6780' },
  { cUnid: '01', tpMed: 'PESO BASE DE CALCULO', qCarga: '12500.0000' },
  { cUnid: '00', tpMed: 'CUBAGEM', qCarga: '38.2500' },
  { cUnid: '03', tpMed: 'CAIXAS', qCarga: '420.0000' },
];

const COMPONENTS = [
  { xNome: 'FRETE PESO', vComp: '1100.00' },
  { xNome: 'FRETE VALOR', vComp: '250.55' },
  { xNome: 'PEDAGIO', vComp: '99.45' },
  { xNome: 'GRIS', vComp: '50.00' },
];

/** infCte of a CT-e with everything that a usual one has. */
export function sampleCte(options: CteOptions = {}): CteParts {
  const { modal = '01', inModal = { rodo: { RNTRC: '45678912' } }, notes = 2 } = options;
  return {
    ...frame('57', options),
    ide: { ...ide('57', options), modal, tpServ: '0', toma3: { toma: '3' } },
    compl: {
      xObs: 'Mercadoria de teste, sem qualquer valor. Entregar no depósito 2.',
      ObsCont: { '@xCampo': 'Placa', xTexto: 'ABC1D23' },
      ObsFisco: { '@xCampo': 'Regime', xTexto: 'Crédito presumido de 20%' },
    },
    rem: SENDER,
    dest: RECIPIENT,
    vPrest: { vTPrest: '1500.00', vRec: '1480.25', Comp: COMPONENTS },
    imp: { ICMS, IBSCBS: IBS_CBS, vTotDFe: '1513.20' },
    infCTeNorm: {
      infCarga: { vCarga: '98765.43', proPred: 'FERRAGENS', xOutCat: 'CARGA SECA', infQ: QUANTITIES },
      infDoc: { infNFe: Array.from({ length: notes }, (_, at) => ({ chave: noteKey(at + 1) })) },
      infModal: { '@versaoModal': '4.00', ...(inModal as object) },
    },
  };
}

/** infCte of a CT-e OS. */
export function sampleCteOs(options: CteOptions = {}): CteParts {
  return {
    ...frame('67', options),
    ide: {
      ...ide('67', options),
      modal: '01',
      tpServ: '6',
      infPercurso: [{ UFPer: 'SP' }, { UFPer: 'PR' }, { UFPer: 'SC' }],
    },
    compl: { xObs: 'Fretamento inventado para a amostra.' },
    toma: TAKER,
    vPrest: { vTPrest: '2750.00', vRec: '2750.00', Comp: [{ xNome: 'FRETAMENTO', vComp: '2750.00' }] },
    imp: { ICMS, infTribFed: { vPIS: '17.88', vCOFINS: '82.50', vINSS: '302.50' }, IBSCBS: IBS_CBS },
    infCTeNorm: {
      infServico: { xDescServ: 'Fretamento de pessoas', infQ: { qCarga: '42.0000' } },
      infDocRef: [
        { nDoc: '778', serie: '1', dEmi: '2026-11-30', vDoc: '210.00' },
        { chBPe: keyOf({ taxId: CARRIER, model: '63', number: '99' }) },
      ],
      seg: { respSeg: '4', xSeg: 'Seguradora Imaginária', nApol: 'APO-4455' },
      infModal: {
        '@versaoModal': '4.00',
        rodoOS: {
          TAF: '123456789012',
          veic: {
            placa: 'XYZ9K88',
            RENAVAM: '00998877665',
            prop: {
              CNPJ: BUYER,
              TAF: '210987654321',
              xNome: 'Dona do Ônibus Ltda',
              IE: '5544332211',
              UF: 'SP',
              tpProp: '2',
            },
            UF: 'SP',
          },
          infFretamento: { tpFretamento: '1', dhViagem: '2026-12-04T06:30:00-03:00' },
        },
      },
    },
  };
}

/** infCte of a CT-e Simplificado with a number of deliveries. */
export function sampleCteSimp(deliveries: readonly Xml[], options: CteOptions = {}): CteParts {
  return {
    ...frame('57', options),
    ide: {
      ...ide('57', options),
      tpCTe: '5',
      modal: '01',
      tpServ: '0',
      xMunIni: undefined,
      xMunFim: undefined,
      cMunIni: undefined,
      cMunFim: undefined,
    },
    compl: { xObs: 'Coleta e entrega fracionada.' },
    toma: { toma: '0', indIEToma: '1', ...TAKER },
    infCarga: {
      vCarga: '45000.00',
      proPred: 'DIVERSOS',
      infQ: [
        { cUnid: '01', tpMed: '03', qCarga: '812.5000' },
        { cUnid: '03', tpMed: '07', qCarga: '55.0000' },
      ],
    },
    det: deliveries,
    infModal: { '@versaoModal': '4.00', rodo: { RNTRC: '45678912' } },
    imp: { ICMS: { ICMS45: { CST: '40' } } },
    total: { vTPrest: '3210.98', vTRec: '3210.98', vTotDFe: '3244.44' },
  };
}

export function delivery(number: number, notes: readonly number[]): { readonly [name: string]: Xml } {
  return {
    '@nItem': String(number),
    cMunIni: '3509502',
    xMunIni: 'Campinas',
    cMunFim: '4106902',
    xMunFim: 'Curitiba',
    vPrest: `${100 + number}.50`,
    vRec: `${100 + number}.50`,
    infNFe: notes.map((each) => ({ chNFe: noteKey(each) })),
  };
}

function frame(
  model: string,
  { carrier = CARRIER, emission = '1' }: CteOptions,
): { '@versao': string; '@Id': string; emit: Xml } {
  return {
    '@versao': '4.00',
    '@Id': `CTe${cteKey({ carrier, model, emission })}`,
    emit: {
      CNPJ: carrier,
      IE: '998877665544',
      xNome: 'Transportes Imaginários e Logística Ltda',
      xFant: 'Imaginários',
      enderEmit: { ...place('Rodovia BR Fictícia km 7', 'Guarulhos', 'SP'), fone: '1144445555' },
      CRT: '3',
    },
  };
}

function ide(model: string, options: CteOptions): Record<string, Xml | undefined> {
  return {
    cUF: '35',
    cCT: '50607080',
    CFOP: '6353',
    natOp: 'Prestação de serviço de transporte a estabelecimento comercial',
    mod: model,
    serie: '12',
    nCT: '8123',
    dhEmi: '2026-12-01T08:09:10-03:00',
    tpImp: '1',
    tpEmis: options.emission ?? '1',
    cDV: '0',
    tpAmb: '1',
    tpCTe: '0',
    procEmi: '0',
    verProc: 'amostra 1',
    cMunIni: '3509502',
    xMunIni: 'Campinas',
    UFIni: 'SP',
    cMunFim: '4106902',
    xMunFim: 'Curitiba',
    UFFim: 'PR',
    retira: '1',
    indIEToma: '1',
  };
}

export type CteElement = 'CTe' | 'CTeOS' | 'CTeSimp' | 'GTVe';

export interface CteEnvelope {
  readonly element?: CteElement;
  /** null: nobody has authorized it. */
  readonly protocol?: { readonly cStat?: string; readonly key?: string } | null;
  /** null: without (layouts before 3.00). */
  readonly qrCode?: string | null;
}

export function qrCodeOf(cte: Xml & object): string {
  return `https://cte.exemplo.gov.br/consulta/qrCode?chCTe=${(cte as CteParts)['@Id'].slice(3)}&tpAmb=1`;
}

/** The whole document around infCte. */
export function procCte(
  cte: Xml & object,
  { element = 'CTe', protocol = {}, qrCode = qrCodeOf(cte) }: CteEnvelope = {},
): string {
  const root = element === 'GTVe' ? 'GTVeProc' : `${element.replace('CTe', 'cte')}Proc`;
  const approval = protocol && {
    '@versao': '4.00',
    infProt: {
      tpAmb: '1',
      verAplic: 'AMOSTRA',
      chCTe: protocol.key ?? (cte as CteParts)['@Id'].slice(3),
      dhRecbto: '2026-12-01T08:10:11-03:00',
      nProt: '135260000008123',
      digVal: 'q83vEjRWeJCrze8SNFZ4kKvN7xI=',
      cStat: protocol.cStat ?? '100',
      xMotivo: 'Autorizado o uso do CT-e',
    },
  };
  return `<?xml version="1.0" encoding="UTF-8"?>${write(root, {
    '@xmlns': 'http://www.portalfiscal.inf.br/cte',
    '@versao': '4.00',
    [element]: { infCte: cte, infCTeSupl: qrCode === null ? undefined : { qrCodCTe: qrCode } },
    protCTe: approval ?? undefined,
  })}`;
}

export interface CteLetterOptions {
  readonly changes?: readonly Xml[];
  readonly type?: string;
  readonly cStat?: string;
  readonly key?: string;
}

/** procEventoCTe of a correction letter. */
export function cteLetterXml(options: CteLetterOptions = {}): string {
  const {
    type = '110110',
    cStat = '135',
    key = cteKey(),
    changes = [CHANGE, { ...CHANGE, nroItemAlterado: '2', valorAlterado: 'Depósito 3' }],
  } = options;
  return write('procEventoCTe', {
    '@versao': '4.00',
    eventoCTe: {
      infEvento: {
        '@Id': `ID${type}${key}001`,
        cOrgao: '35',
        tpAmb: '1',
        CNPJ: CARRIER,
        chCTe: key,
        dhEvento: '2026-12-02T09:08:07-03:00',
        tpEvento: type,
        nSeqEvento: '1',
        detEvento: {
          '@versaoEvento': '4.00',
          evCCeCTe: {
            descEvento: 'Carta de Correção',
            infCorrecao: changes,
            xCondUso:
              `Condições de uso inventadas para a amostra. ${'A correção não muda valores nem pessoas. '.repeat(12)}`.trim(),
          },
        },
      },
    },
    retEventoCTe: {
      infEvento: {
        tpAmb: '1',
        cStat,
        xMotivo: 'Evento registrado e vinculado a CT-e',
        chCTe: key,
        dhRegEvento: '2026-12-02T09:08:10-03:00',
        nProt: '135260000054321',
      },
    },
  });
}

const CHANGE = {
  grupoAlterado: 'compl',
  campoAlterado: 'xObs',
  valorAlterado: 'Entregar no depósito 3, e não no depósito 2',
};
