import type { DocumentKind } from '../../src/model/document.js';
import type { Situation } from '../../src/pdf/index.js';
import {
  CARRIER_WITH_LETTERS,
  type CteElement,
  type CteEnvelope,
  type CteParts,
  cteKey,
  cteLetterXml,
  DISPATCHER,
  delivery,
  noteKey,
  previousKey,
  procCte,
  qrCodeOf,
  RECEIVER,
  sampleCte,
  sampleCteOs,
  sampleCteSimp,
  TAKER,
} from './cte-sample.js';
import { BUYER, SELLER, type Xml } from './nfe-sample.js';
import type { OtherCase } from './other-cases.js';

/** CT-e that differ in everything a DACTE can differ in, and their correction letters. */

const KINDS: Readonly<Record<CteElement, DocumentKind>> = {
  CTe: 'procCTe',
  CTeOS: 'procCTeOS',
  CTeSimp: 'procCTeSimp',
  GTVe: 'procGTVe',
};

interface More extends CteEnvelope {
  readonly sheets?: number;
  readonly situation?: Situation;
}

function cteCase(name: string, cte: CteParts, texts: readonly string[], more: More = {}): OtherCase {
  const { sheets = 1, situation = { state: 'authorized' }, ...envelope } = more;
  const key = cte['@Id'].slice(3);
  return {
    name: `CT-e: ${name}`,
    kind: KINDS[envelope.element ?? 'CTe'],
    xml: procCte(cte, envelope),
    situation,
    sheets,
    texts,
    codes: envelope.qrCode === null ? [key] : [key, qrCodeOf(cte)],
  };
}

const withIde = (cte: CteParts, ide: Record<string, Xml | undefined>): CteParts => ({
  ...cte,
  ide: { ...cte.ide, ...ide },
});
const withNormal = (cte: CteParts, more: Record<string, Xml | undefined>): CteParts => ({
  ...cte,
  infCTeNorm: { ...(cte.infCTeNorm as object), ...more },
});

const road = withNormal(
  sampleCte({
    inModal: {
      rodo: {
        RNTRC: '45678912',
        occ: {
          serie: '1',
          nOcc: '7788',
          dEmi: '2026-11-29',
          emiOcc: { CNPJ: BUYER, cInt: 'COL-9', IE: '1234567890', UF: 'SP', fone: '1133332222' },
        },
      },
    },
    notes: 5,
  }),
  {
    docAnt: {
      emiDocAnt: {
        CNPJ: SELLER,
        IE: '776655443322',
        UF: 'SP',
        xNome: 'Primeira Transportadora de Amostra Ltda',
        idDocAnt: [
          { idDocAntEle: [1, 2, 3].map((number) => ({ chCTe: previousKey(number) })) },
          { idDocAntPap: { tpDoc: '11', serie: '1', nDoc: '4455', dEmi: '2026-11-28' } },
        ],
      },
    },
    cobr: {
      fat: { nFat: 'FAT-9', vOrig: '1500.00', vDesc: '19.75', vLiq: '1480.25' },
      dup: [{ nDup: '001', dVenc: '2026-12-30', vDup: '1480.25' }],
    },
    veicNovos: [
      {
        chassi: '9BW00000000000001',
        cCor: '01',
        xCor: 'Azul inventado',
        cMod: '554433',
        vUnit: '80000.00',
        vFrete: '900.00',
      },
      {
        chassi: '9BW00000000000002',
        cCor: '02',
        xCor: 'Verde inventado',
        cMod: '554433',
        vUnit: '81000.00',
        vFrete: '910.00',
      },
    ],
  },
);

const air = sampleCte({
  modal: '02',
  inModal: {
    aereo: {
      nMinu: '000123456',
      nOCA: '95712345675',
      dPrevAereo: '2026-12-03',
      natCarga: { xDime: '0120X0080X0060', cInfManu: ['02', '06', '99'] },
      tarifa: { CL: 'G', cTar: 'T12', vTar: '7.35' },
      peri: [
        { nONU: '1845', qTotEmb: '2', infTotAP: { qTotProd: '12.5000', uniAP: '1' } },
        { nONU: '3480', qTotEmb: '10', infTotAP: { qTotProd: '10.0000', uniAP: '5' } },
      ],
    },
  },
});

const water = withNormal(
  sampleCte({
    modal: '03',
    inModal: {
      aquav: {
        vPrest: '1500.00',
        vAFRMM: '375.00',
        xNavio: 'Navio da Amostra',
        balsa: [{ xBalsa: 'BALSA-1' }, { xBalsa: 'BALSA-2' }],
        nViag: '77',
        direc: 'N',
        irin: '4455667788',
        detCont: Array.from({ length: 3 }, (_, at) => ({
          nCont: `AMOU1234${560 + at}`,
          lacre: [{ nLacre: `LACRE-${at}A` }, { nLacre: `LACRE-${at}B` }],
          infDoc: { infNFe: [{ chave: noteKey(10 + at), unidRat: '12.50' }, { chave: noteKey(20 + at) }] },
        })),
        tpNav: '1',
      },
    },
  }),
  { infDoc: undefined },
);

const rail = sampleCte({
  modal: '04',
  inModal: {
    ferrov: {
      tpTraf: '1',
      trafMut: {
        respFat: '1',
        ferrEmi: '2',
        vFrete: '640.00',
        chCTeFerroOrigem: previousKey(9),
        ferroEnv: ['Ferrovia Norte Inventada S.A.', 'Ferrovia Sul Inventada S.A.'].map((xNome, at) => ({
          CNPJ: at === 0 ? SELLER : BUYER,
          cInt: `FER-${at}`,
          IE: `99887766554${at}`,
          xNome,
          enderFerro: { xLgr: 'Pátio', cMun: '3550308', xMun: 'São Paulo', CEP: '01001000', UF: 'SP' },
        })),
      },
      fluxo: 'FLX-2026',
    },
  },
});

const pipeline = sampleCte({
  modal: '05',
  inModal: {
    duto: {
      vTar: '0.125000',
      dIni: '2026-12-01',
      dFim: '2026-12-31',
      classDuto: '1',
      tpContratacao: '0',
      codPontoEntrada: 'PE-1',
      codPontoSaida: 'PS-2',
      nContrato: 'CON-33',
    },
  },
});

const multimodal = withNormal(
  withIde(
    sampleCte({
      modal: '06',
      inModal: {
        multimodal: {
          COTM: 'COTM-0042',
          indNegociavel: '0',
          seg: { infSeg: { xSeg: 'Seguradora Imaginária', CNPJ: BUYER }, nApol: 'APO-1', nAver: 'AVE-2' },
        },
      },
    }),
    { tpServ: '4', toma3: undefined, toma4: { toma: '4', ...TAKER }, indGlobalizado: '1' },
  ),
  {
    infGlobalizado: { xObs: 'Procedimento efetuado conforme resolução inventada.' },
    infServVinc: { infCTeMultimodal: [{ chCTeMultimodal: previousKey(31) }] },
  },
);

const crowded: CteParts = {
  ...sampleCte({ notes: 4 }),
  exped: DISPATCHER,
  receb: RECEIVER,
  compl: {
    xCaracAd: 'URGENTE',
    xEmi: 'Fulano Inventado',
    fluxo: { xOrig: 'CPQ', pass: [{ xPass: 'GRU' }, { xPass: 'JOI' }], xDest: 'CWB', xRota: 'R-116' },
    Entrega: { comData: { tpPer: '2', dProg: '2026-12-05' }, comHora: { tpHor: '2', hProg: '18:00:00' } },
    xObs: 'Observação da amostra.',
  },
};

const complement: CteParts = {
  ...withIde(sampleCte(), { tpCTe: '1' }),
  infCTeNorm: undefined,
  infCteComp: [{ chCTe: previousKey(71) }, { chCTe: previousKey(72) }],
};

/** Layout 2.00: other names, no time zone, no QR code. */
const old: CteParts = {
  ...withNormal(
    withIde(sampleCte({ modal: '01' }), {
      dhEmi: '2015-03-04T05:06:07',
      forPag: '1',
      toma3: undefined,
      toma03: { toma: '0' },
      retira: '0',
      xDetRetira: 'Na filial',
    }),
    {
      infDoc: {
        infNF: [
          {
            nRoma: 'ROM-1',
            nPed: 'PED-2',
            mod: '01',
            serie: '1',
            nDoc: '3344',
            dEmi: '2015-03-01',
            vNF: '1234.56',
            nCFOP: '5102',
            nPeso: '12.500',
          },
        ],
        infOutros: {
          tpDoc: '00',
          descOutros: 'Declaração de conteúdo',
          nDoc: 'DC-7',
          dEmi: '2015-03-02',
          vDocFisc: '99.90',
        },
      },
      docAnt: {
        emiDocAnt: {
          CNPJ: SELLER,
          IE: '776655443322',
          UF: 'SP',
          xNome: 'Primeira de Amostra',
          idDocAnt: { idDocAntEle: { chave: previousKey(1) } },
        },
      },
      seg: { respSeg: '4', xSeg: 'Seguradora Imaginária', nApol: 'APO-1', nAver: 'AVE-2', vCarga: '98765.43' },
      peri: {
        nONU: '1203',
        xNomeAE: 'COMBUSTÍVEL',
        xClaRisco: '3',
        grEmb: 'II',
        qTotProd: '300 L',
        qVolTipo: '3 TAMBORES',
      },
      infModal: {
        rodo: {
          RNTRC: '45678912',
          dPrev: '2015-03-06',
          lota: '1',
          CIOT: '123456789012',
          valePed: { CNPJForn: BUYER, nCompra: '889900', CNPJPg: SELLER, vValePed: '55.10' },
          veic: { RENAVAM: '00998877665', placa: 'ABC1234', UF: 'SP' },
          lacRodo: { nLacre: 'LAC-5' },
          moto: { xNome: 'Motorista Inventado', CPF: '13579246800' },
        },
      },
    },
  ),
  imp: { ICMS: { ICMSSN: { indSN: '1' } } },
};

const taxed: CteParts = {
  ...sampleCte(),
  imp: {
    ICMS: { ICMS60: { CST: '60', vBCSTRet: '1500.00', vICMSSTRet: '180.00', pICMSSTRet: '12.00', vCred: '36.00' } },
    vTotTrib: '210.99',
    infAdFisco: 'Substituição conforme norma inventada.',
    ICMSUFFim: {
      vBCUFFim: '1500.00',
      pFCPUFFim: '2.00',
      pICMSUFFim: '18.00',
      pICMSInter: '12.00',
      vFCPUFFim: '30.00',
      vICMSUFFim: '90.00',
      vICMSUFIni: '0.00',
    },
    IBSCBS: {
      CST: '200',
      cClassTrib: '200014',
      gIBSCBS: {
        vBC: '1320.00',
        gIBSUF: { pIBSUF: '0.1000', gRed: { pRedAliq: '60.0000', pAliqEfet: '0.0400' }, vIBSUF: '0.53' },
        gIBSMun: { pIBSMun: '0.0000', vIBSMun: '0.00' },
        gCBS: { pCBS: '0.9000', gRed: { pRedAliq: '60.0000', pAliqEfet: '0.3600' }, vCBS: '4.75' },
      },
    },
  },
};

const wordy: CteParts = {
  ...sampleCte(),
  compl: {
    xObs: Array.from({ length: 46 }, (_, at) =>
      `trecho${String(at + 1).padStart(2, '0')} `.padEnd(110, 'observação sem maior sentido '),
    ).join(''),
  },
};

const stressed: CteParts = {
  ...sampleCte({ notes: 3 }),
  rem: {
    CNPJ: SELLER,
    xNome: 'X'.repeat(120),
    enderReme: { xLgr: 'Y'.repeat(120), nro: '1', xMun: 'Z'.repeat(60), UF: 'SP' },
  },
  dest: {
    CNPJ: BUYER,
    xNome: 'Caminhão 😀 中文 Żółć “aspas”',
    enderDest: { xLgr: 'Rua '.repeat(40), xMun: 'EXTERIOR', UF: 'EX' },
  },
  vPrest: {
    vTPrest: '1234567890123.45',
    vRec: '1234567890123.45',
    Comp: Array.from({ length: 25 }, (_, at) => ({ xNome: `COMPONENTE ${at + 1}`, vComp: `${at}.10` })),
  },
  compl: {
    xObs: `a${'B'.repeat(1500)}z`,
    ObsCont: Array.from({ length: 10 }, (_, at) => ({ '@xCampo': `Campo ${at}`, xTexto: 'W'.repeat(160) })),
  },
};

const bare: CteParts = { '@versao': '4.00', '@Id': `CTe${cteKey()}`, ide: {} };
const unknownModal = withNormal(withIde(sampleCte(), { modal: '07' }), { infModal: { espacial: { orbita: 'BAIXA' } } });

const COUNT = 2000;
const many = sampleCte({ notes: COUNT });
const allOf = (count: number) => Array.from({ length: count }, (_, at) => at + 1);

export const LETTER_CHANGES = Array.from({ length: 80 }, (_, at) => ({
  grupoAlterado: 'infQ',
  campoAlterado: 'qCarga',
  valorAlterado: `novo valor ${at + 1}, por extenso para a amostra`,
  nroItemAlterado: String((at % 9) + 1),
}));

function letter(
  name: string,
  options: Parameters<typeof cteLetterXml>[0],
  sheets: number,
  texts: readonly string[],
): OtherCase {
  return {
    name: `CT-e: ${name}`,
    kind: 'procEventoCTe',
    xml: cteLetterXml(options),
    situation: { state: 'authorized' },
    sheets,
    texts,
    codes: [options?.key ?? cteKey()],
  };
}

const PARTIES = [
  'Transportes Imaginários e Logística Ltda',
  'Remetente Inventada de Ferragens Ltda',
  'Destinatária Fictícia S.A.',
];

export const DACTE_CASES: readonly OtherCase[] = [
  cteCase('road', road, [
    ...PARTIES,
    '45678912',
    '000.008.123',
    '01/12/2026 08:09:10',
    '135260000008123 - 01/12/2026 08:10:11',
    '3 - DESTINATÁRIO',
    'Conhecimento avulso série 1 nº 4455 28/11/2026',
    'FRETE PESO',
    '1.480,25',
    '7788',
    'Azul inventado',
    'FAT-9',
  ]),
  cteCase('air', air, [...PARTIES, '95712345675', 'AÉREO', 'G - GERAL', 'gelo seco', '1845', '12,50 KG']),
  cteCase('water', water, [
    ...PARTIES,
    'Navio da Amostra',
    'BALSA-1, BALSA-2',
    'AMOU1234562',
    'LACRE-2A, LACRE-2B',
    '375,00',
  ]),
  cteCase('rail', rail, [...PARTIES, '1 - MÚTUO', 'Ferrovia Sul Inventada S.A.', 'FLX-2026', '640,00']),
  cteCase('pipeline', pipeline, [...PARTIES, '31/12/2026', '0,125', '1 - GASODUTO', 'CON-33']),
  cteCase('multimodal', multimodal, [
    ...PARTIES,
    'COTM-0042',
    'Tomadora Imaginária Comércio Ltda',
    '4 - OUTROS',
    'SIM',
    'AVE-2',
  ]),
  cteCase('every party', crowded, [
    'Expedidora de Amostra Ltda',
    'Recebedora com Letras Ltda',
    'GRU / JOI',
    'até 05/12/2026',
    'R-116',
  ]),
  cteCase('across', withIde(crowded, { tpImp: '2' }), ['Expedidora de Amostra Ltda', 'Recebedora com Letras Ltda']),
  cteCase(
    'OS',
    sampleCteOs(),
    ['DACTE OS', 'Fretamento de pessoas', 'SP / PR / SC', '123456789012', 'Dona do Ônibus Ltda', 'APO-4455', '302,50'],
    {
      element: 'CTeOS',
    },
  ),
  cteCase(
    'simplified',
    sampleCteSimp([delivery(1, [1, 2, 3]), delivery(2, [4])]),
    ['3.210,98', '101,50', '0 - REMETENTE', 'PESO BRUTO AFERIDO'],
    {
      element: 'CTeSimp',
    },
  ),
  cteCase(
    'simplified, 999 deliveries',
    sampleCteSimp(allOf(999).map((number) => delivery(number, [number]))),
    ['1.099,50'],
    {
      element: 'CTeSimp',
      sheets: 15,
    },
  ),
  cteCase('simplified, 2,000 notes of one delivery', sampleCteSimp([delivery(1, allOf(COUNT))]), ['101,50'], {
    element: 'CTeSimp',
    sheets: 13,
  }),
  cteCase('2,000 notes', many, [...PARTIES, 'DOCUMENTOS ORIGINÁRIOS (CONTINUAÇÃO)'], { sheets: 10 }),
  cteCase('complement of others', complement, ['1 - COMPLEMENTO DE VALORES', 'CT-e COMPLEMENTADOS']),
  cteCase('taxes of all kinds', taxed, [
    '60 - COBRADO POR SUBSTITUIÇÃO TRIBUTÁRIA',
    '0,36%',
    '210,99',
    '90,00',
    '4,75',
    '36,00',
  ]),
  cteCase(
    'layout 2.00',
    old,
    ['SIMPLES NACIONAL', '0 - REMETENTE', 'NF mod. 01 série 1 nº 3344', 'COMBUSTÍVEL', 'LAC-5', '04/03/2015 05:06:07'],
    {
      qrCode: null,
    },
  ),
  cteCase('key with letters', sampleCte({ carrier: CARRIER_WITH_LETTERS }), PARTIES),
  cteCase('key with letters, across', withIde(sampleCte({ carrier: CARRIER_WITH_LETTERS }), { tpImp: '2' }), PARTIES),
  cteCase('test environment', withIde(sampleCte(), { tpAmb: '2' }), [
    'EMITIDO EM AMBIENTE DE HOMOLOGAÇÃO – SEM VALOR FISCAL',
  ]),
  cteCase('cancelled', sampleCte(), ['CONHECIMENTO CANCELADO EM 03/12/2026 08:01:02 PROTOCOLO 135260000009999'], {
    situation: {
      state: 'cancelled',
      cancelledAt: '2026-12-03T08:01:02-03:00',
      cancellationProtocol: '135260000009999',
    },
  }),
  cteCase('replaced', sampleCte(), ['CT-e SUBSTITUÍDO POR OUTRO'], { situation: { state: 'replaced' } }),
  cteCase(
    'contingency',
    withIde(sampleCte({ emission: '4' }), { dhCont: '2026-12-01T07:00:00-03:00', xJust: 'Sem comunicação' }),
    ['EMITIDO EM CONTINGÊNCIA (EPEC)', '01/12/2026 07:00:00 - Sem comunicação'],
  ),
  cteCase('without protocol', sampleCte(), ['SEM PROTOCOLO DE AUTORIZAÇÃO'], {
    protocol: null,
    situation: { state: 'unknown' },
  }),
  cteCase('5,000 characters of remark', wordy, ['trecho01', 'trecho46']),
  cteCase(
    'long words and foreign letters',
    stressed,
    ['COMPONENTE 25', '1.234.567.890.123,45', 'Caminhão ? ?? Zólc “aspas”'],
    { sheets: 2 },
  ),
  cteCase('unknown modal', unknownModal, [...PARTIES, '07']),
  cteCase('bare', bare, ['SEM PROTOCOLO DE AUTORIZAÇÃO'], { protocol: null, situation: { state: 'unknown' } }),
  letter('correction letter', {}, 1, [
    'CC-e de um CT-e',
    'Depósito 3',
    'Entregar no depósito 3, e não no depósito 2',
    '135260000054321',
  ]),
  letter('80 corrections', { changes: LETTER_CHANGES }, 2, [
    'CORREÇÃO (CONTINUAÇÃO)',
    'novo valor 80, por extenso para a amostra',
  ]),
  letter('refused correction letter', { cStat: '631' }, 1, ['SEM VALOR FISCAL']),
];

/** One of each means of transport, with all that is peculiar to it. */
export const EVERY_MODAL: readonly CteParts[] = [road, air, water, rail, pipeline, multimodal, crowded, old, taxed];
