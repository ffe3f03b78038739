import type { Situation } from '../../src/pdf/index.js';
import {
  FARMER,
  type NoteParts,
  procNfe,
  SELLER_WITH_LETTERS,
  sampleItem,
  sampleNote,
  type Xml,
} from './nfe-sample.js';

/** Notes that differ in everything a DANFE can differ in. */
export interface DanfeCase {
  readonly name: string;
  readonly note: NoteParts;
  readonly xml: string;
  readonly situation: Situation;
  /** Sheets that it must take: as many as needed, and no more. */
  readonly sheets: number;
}

const AUTHORIZED: Situation = { state: 'authorized' };
const BEFORE_REFORM = '2026-10-02T15:50:07-03:00';

/** 5,000 characters in which each 100 are numbered, so that a missing piece is noticed. */
export const LONG_REMARK = Array.from({ length: 50 }, (_, at) =>
  `marca${String(at + 1).padStart(2, '0')} `.padEnd(99, 'texto complementar sem maior sentido ').concat(' '),
).join('');

export const INSTALLMENTS = Array.from({ length: 120 }, (_, at) => ({
  nDup: String(at + 1).padStart(3, '0'),
  dVenc: `20${27 + Math.floor(at / 12)}-${String((at % 12) + 1).padStart(2, '0')}-15`,
  vDup: `${10_000 + at}.5${at % 10}`,
}));

function danfeCase(
  name: string,
  sheets: number,
  note: NoteParts,
  more: { protocol?: Parameters<typeof procNfe>[1]; situation?: Situation } = {},
): DanfeCase {
  const { protocol = {}, situation = AUTHORIZED } = more;
  return { name, sheets, note, xml: procNfe(note, protocol), situation };
}

const across = (note: NoteParts): NoteParts => ({ ...note, ide: { ...note.ide, tpImp: '2' } });
const test = (note: NoteParts): NoteParts => ({ ...note, ide: { ...note.ide, tpAmb: '2' } });
const withRemark = (note: NoteParts, remark: string): NoteParts => ({ ...note, infAdic: { infCpl: remark } });

const export_: NoteParts = {
  ...sampleNote({ items: 2, reform: true }),
  dest: {
    idEstrangeiro: 'PASS-998877',
    xNome: 'Sample Trading Company GmbH',
    enderDest: {
      xLgr: 'Musterstraße',
      nro: '1',
      xBairro: 'Mitte',
      cMun: '9999999',
      xMun: 'EXTERIOR',
      UF: 'EX',
      cPais: '0230',
      xPais: 'ALEMANHA',
    },
    indIEDest: '9',
  },
  exporta: { UFSaidaPais: 'SP', xLocExporta: 'Porto de Santos', xLocDespacho: 'Santos' },
};

const everything: NoteParts = {
  ...sampleNote({ items: 3, allTaxes: true, issued: BEFORE_REFORM }),
  retirada: {
    CNPJ: SELLER_WITH_LETTERS,
    xNome: 'Depósito de Retirada Ltda',
    xLgr: 'Rua do Depósito',
    nro: '5',
    xBairro: 'Vila Retirada',
    cMun: '3550308',
    xMun: 'Osasco',
    UF: 'SP',
    CEP: '06010000',
    fone: '1122223333',
    IE: '556677889900',
  },
  entrega: {
    CPF: '12345678909',
    xNome: 'Obra de Entrega',
    xLgr: 'Rua da Obra',
    nro: 'S/N',
    xBairro: 'Vila Entrega',
    cMun: '3304557',
    xMun: 'Niterói',
    UF: 'RJ',
  },
  cobr: {
    fat: { nFat: 'FAT-77', vOrig: '1300000.00', vDesc: '65432.11', vLiq: '1234567.89' },
    dup: INSTALLMENTS.slice(0, 3),
  },
  total: {
    ...sampleNote({ items: 3, allTaxes: true }).total,
    ISSQNtot: { vServ: '555.44', vBC: '500.40', vISS: '25.02', dCompet: '2026-12-02' },
    retTrib: { vRetCSLL: '5.55' },
  },
  transp: {
    modFrete: '1',
    transporta: { CPF: '12345678909', xNome: 'Motorista Autônomo da Silva Inventada' },
    veicTransp: { placa: 'ABC1D23', UF: 'SP', RNTC: '12345678' },
    reboque: [
      { placa: 'REB0Q11', UF: 'SP' },
      { placa: 'REB0Q22', UF: 'PR' },
    ],
    vol: [
      {
        qVol: '3',
        esp: 'CAIXAS',
        marca: 'INVENTADA',
        nVol: '1 A 3',
        pesoL: '12.500',
        pesoB: '13.750',
        lacres: { nLacre: 'LACRE-1' },
      },
      {
        qVol: '40',
        esp: 'FARDOS',
        pesoL: '1200.000',
        pesoB: '1234.567',
        lacres: [{ nLacre: 'LACRE-2' }, { nLacre: 'LACRE-3' }],
      },
    ],
  },
  infAdic: {
    infAdFisco: 'Texto de interesse do fisco.',
    infCpl: 'Primeira linha.\nSegunda linha com “aspas”, travessão – e € 10.',
    obsCont: { '@xCampo': 'Vendedor', xTexto: 'Fulano Inventado' },
    procRef: { nProc: '2026.0001', indProc: '0' },
  },
  compra: { xPed: 'PED-1', xCont: 'CONTRATO-2', xNEmp: 'EMPENHO-3' },
  ide: {
    ...sampleNote({ issued: BEFORE_REFORM }).ide,
    NFref: [
      { refNFe: sampleNote({ emission: '6' })['@Id'].slice(3) },
      { refECF: { mod: '2D', nECF: '001', nCOO: '000123' } },
    ],
  },
};

/** Fuel and a sin tax: groups that have no percentage, rates that are reduced. */
const fuel: NoteParts = {
  ...sampleNote({ items: 1, reform: true }),
  det: [
    {
      ...sampleItem(1, { reform: true }),
      imposto: {
        ICMS: { ICMS02: { orig: '0', CST: '02', qBCMono: '1000.0000', adRemICMS: '1.1234', vICMSMono: '1123.40' } },
        IS: {
          CSTIS: '000',
          cClassTribIS: '000001',
          vBCIS: '900.00',
          pIS: '2.5000',
          uTrib: 'L',
          qTrib: '1000.0000',
          vIS: '22.50',
        },
        IBSCBS: {
          CST: '620',
          cClassTrib: '620001',
          gIBSCBSMono: {
            gMonoPadrao: {
              qBCMono: '1000.0000',
              adRemIBS: '0.2100',
              adRemCBS: '0.4300',
              vIBSMono: '210.00',
              vCBSMono: '430.00',
            },
            vTotIBSMonoItem: '210.00',
            vTotCBSMonoItem: '430.00',
          },
        },
      },
    },
    {
      ...sampleItem(2, { reform: true }),
      imposto: {
        ICMS: { ICMS40: { orig: '0', CST: '40' } },
        IBSCBS: {
          CST: '200',
          cClassTrib: '200034',
          gIBSCBS: {
            vBC: '50.00',
            gIBSUF: { pIBSUF: '0.1000', gRed: { pRedAliq: '60.0000', pAliqEfet: '0.0400' }, vIBSUF: '0.02' },
            gIBSMun: { pIBSMun: '0.0000', gRed: { pRedAliq: '60.0000', pAliqEfet: '0.0000' }, vIBSMun: '0.00' },
            vIBS: '0.02',
            gCBS: { pCBS: '0.9000', gRed: { pRedAliq: '60.0000', pAliqEfet: '0.3600' }, vCBS: '0.18' },
          },
        },
      },
    },
  ],
  total: {
    ...sampleNote({ reform: true }).total,
    ISTot: { vIS: '22.50' },
    IBSCBSTot: {
      vBCIBSCBS: '50.00',
      gIBS: { gIBSUF: { vIBSUF: '0.02' }, gIBSMun: { vIBSMun: '0.00' }, vIBS: '0.02' },
      gCBS: { vCBS: '0.18' },
      gMono: {
        vIBSMono: '210.00',
        vCBSMono: '430.00',
        vIBSMonoReten: '1.11',
        vCBSMonoReten: '2.22',
        vIBSMonoRet: '0.00',
        vCBSMonoRet: '0.00',
      },
    },
    vNFTot: '1235230.59',
  },
};

const stress = sampleNote({ items: 3, ordinary: false, issued: BEFORE_REFORM });
const stressed: NoteParts = {
  ...stress,
  dest: { ...(stress.dest as object), xNome: 'W'.repeat(60) },
  det: [
    {
      ...sampleItem(1, { ordinary: false }),
      prod: { ...(sampleItem(1).prod as object), xProd: 'X'.repeat(120) },
      infAdProd: 'informação '.repeat(45),
    },
    {
      ...sampleItem(2, { ordinary: false }),
      prod: {
        ...(sampleItem(2).prod as object),
        cProd: 'C'.repeat(60),
        xProd: 'Emoji 😀👩‍🔧, 中文, Ωmega, naïve ﬁm, “aspas” – e travessão, A\u0301cido',
        uTrib: 'PECA',
        qTrib: '24.0000',
        vUnTrib: '0.4437500000',
        rastro: [{ nLote: 'L-77', qLote: '10.000', dFab: '2026-01-31', dVal: '2027-01-31' }],
      },
    },
    {
      ...sampleItem(3, { ordinary: false }),
      prod: {
        ...(sampleItem(3).prod as object),
        vProd: '9999999999999.99',
        vUnCom: '99999999999.9999999999',
        qCom: '99999999999.9999',
      },
    },
  ],
};

/** As little as can be called a note. */
const bare = { '@Id': sampleNote()['@Id'], ide: { mod: '55' }, transp: { transporta: '' } } as unknown as NoteParts;

/** Values that trip those who calculate with them. */
const nonsense: NoteParts = {
  ...sampleNote({ items: 1 }),
  det: [
    {
      prod: { qCom: 'abc', vUnCom: '', vProd: '-1.5', xProd: 'Valores estranhos' },
      imposto: { ICMS: { ICMS00: { vBC: '1e5', pICMS: '.5' } } },
    },
  ],
  total: { ICMSTot: { vNF: '1,234.56', vProd: '.', vBC: '00.00', vDesc: '-10.00' } },
  cobr: { dup: [{ nDup: '001' }, { vDup: '' }, { dVenc: 'amanhã' }] as Xml[] },
  transp: { modFrete: '7', vol: { qVol: 'muitos', pesoB: '' } },
};

/** Layouts up to 2.00 had dates without a time zone, and the time of leaving in an element of its own. */
const old: NoteParts = {
  ...sampleNote({ items: 2, seller: FARMER, ordinary: false, issued: '2011-05-04' }),
  ide: {
    ...sampleNote().ide,
    dhEmi: undefined,
    dEmi: '2011-05-04',
    dhSaiEnt: undefined,
    dSaiEnt: '2011-05-05',
    hSaiEnt: '06:07:08',
  },
};

export const DANFE_CASES: readonly DanfeCase[] = [
  danfeCase('one item', 1, sampleNote({ reform: true })),
  danfeCase('one item before the reform', 1, sampleNote({ issued: BEFORE_REFORM })),
  danfeCase('simples nacional', 1, sampleNote({ items: 9, ordinary: false })),
  danfeCase('41 items', 3, sampleNote({ items: 41, reform: true })),
  danfeCase('41 items before the reform', 2, sampleNote({ items: 41, allTaxes: true, issued: BEFORE_REFORM })),
  danfeCase('990 items', 53, sampleNote({ items: 990, reform: true })),
  danfeCase('across', 1, across(sampleNote({ items: 3, reform: true }))),
  danfeCase('across, 30 items', 2, across(sampleNote({ items: 30, allTaxes: true, issued: BEFORE_REFORM }))),
  danfeCase('across, long remark', 2, withRemark(across(sampleNote({ items: 12, reform: true })), LONG_REMARK)),
  danfeCase('key with letters', 1, sampleNote({ seller: SELLER_WITH_LETTERS, reform: true })),
  danfeCase('key with letters, across', 1, across(sampleNote({ seller: SELLER_WITH_LETTERS, reform: true }))),
  danfeCase('test environment', 1, test(sampleNote({ items: 4, reform: true }))),
  danfeCase('cancelled', 1, sampleNote({ items: 4, reform: true }), {
    situation: {
      state: 'cancelled',
      cancelledAt: '2026-12-03T08:01:02-03:00',
      cancellationProtocol: '135260000009999',
    },
  }),
  danfeCase('denied', 1, sampleNote({ items: 2 }), { protocol: { cStat: '302' }, situation: { state: 'denied' } }),
  danfeCase('without protocol', 1, sampleNote({ items: 2 }), { protocol: null, situation: { state: 'unknown' } }),
  danfeCase('EPEC', 1, withContingency('4')),
  danfeCase('security paper, not yet authorized', 1, withContingency('5'), { protocol: null }),
  danfeCase('test and cancelled, across', 1, across(test(sampleNote({ items: 4 }))), {
    situation: { state: 'cancelled' },
  }),
  danfeCase('120 installments', 2, { ...sampleNote({ items: 12, reform: true }), cobr: { dup: INSTALLMENTS } }),
  danfeCase('5,000 characters of remark', 1, withRemark(sampleNote({ items: 2, reform: true }), LONG_REMARK)),
  danfeCase('remark without a blank', 2, withRemark(sampleNote({ items: 12, reform: true }), `a${'B'.repeat(4998)}z`)),
  danfeCase('abroad', 1, export_),
  danfeCase('everything there is', 1, everything),
  danfeCase('fuel and reduced rates', 1, fuel),
  danfeCase('long words and foreign letters', 1, stressed),
  danfeCase('everything that is too long', 2, {
    ...withRemark(stressed, LONG_REMARK),
    cobr: { dup: INSTALLMENTS },
  }),
  danfeCase('a farmer, long ago', 1, old),
  danfeCase('bare', 1, bare, { protocol: null, situation: { state: 'unknown' } }),
  danfeCase('nonsense', 1, nonsense),
];

function withContingency(emission: string): NoteParts {
  const note = sampleNote({ items: 2, emission, reform: true });
  return { ...note, ide: { ...note.ide, dhCont: '2026-12-02T14:00:00-03:00', xJust: 'Sem comunicação com a Sefaz' } };
}
