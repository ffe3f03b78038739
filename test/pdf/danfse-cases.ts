import type { Situation } from '../../src/pdf/index.js';
import { write } from './nfe-sample.js';
import {
  computation,
  declaration,
  FOREIGNER,
  type Group,
  PROVIDER_WITH_LETTERS,
  type ServiceNoteOptions,
  serviceKey,
  serviceNote,
  TAKER,
} from './nfse-sample.js';
import type { OtherCase } from './other-cases.js';

/** Service notes of every kind. The page of each is one sheet. */

const LOOKUP = 'https://www.nfse.gov.br/ConsultaPublica/?tpc=1&chave=';
const TEST_LOOKUP = 'https://www.producaorestrita.nfse.gov.br/ConsultaPublica/?tpc=1&chave=';

function danfseCase(
  name: string,
  options: ServiceNoteOptions,
  texts: readonly string[],
  state: Situation['state'] = 'authorized',
): OtherCase {
  const lookup = options.dps?.tpAmb === '2' ? TEST_LOOKUP : LOOKUP;
  const codes = [lookup + serviceKey(options.provider)];
  return { name, kind: 'NFSe', xml: serviceNote(options), situation: { state }, sheets: 1, texts, codes };
}

const usual = declaration();
const service = usual.serv as Group;
const values = usual.valores as Group;
const taxes = values.trib as Group;

export const LONG_DESCRIPTION = Array.from({ length: 200 }, (_, at) => `Etapa ${at + 1} do serviço`).join('; ');
export const LONG_REMARK = Array.from({ length: 300 }, (_, at) => `Observação ${at + 1}`).join(', ');

/** As much as the layout allows: four parties, each tax, each kind of remark. */
const everything: ServiceNoteOptions = {
  note: {
    xTribMun: 'Licenciamento de programas, código municipal com uma descrição própria e comprida. '.repeat(4),
    cStat: '102',
    xOutInf: 'Nota sujeita a verificação pela fiscalização municipal.',
    valores: {
      vCalcDR: '100.00',
      tpBM: '2',
      vCalcBM: '1200.00',
      vBC: '10700.00',
      pAliqAplic: '2.90',
      vISSQN: '310.30',
      vTotalRet: '1930.30',
      vLiq: '10069.70',
    },
  },
  dps: {
    subst: { chSubstda: serviceKey(PROVIDER_WITH_LETTERS), cMotivo: '99', xMotivo: 'Erro de digitação na amostra' },
    prest: {
      ...(usual.prest as Group),
      xNome: 'Prestadora de Serviços com um Nome Empresarial Extraordinariamente Comprido e Inventado da Amostra Ltda',
      regTrib: { opSimpNac: '3', regApTribSN: '2', regEspTrib: '6' },
    },
    interm: { CPF: '13579246810', xNome: 'Intermediária Fictícia', IM: '998', fone: '1122223333', end: TAKER.end },
    serv: {
      ...service,
      cServ: { ...(service.cServ as Group), xDescServ: LONG_DESCRIPTION },
      obra: { inscImobFisc: 'IMOB-1', cObra: 'OBRA-2' },
      atvEvento: { xNome: 'Feira', dtIni: '2026-12-01', dtFim: '2026-12-03', idAtvEvt: 'EVT-3' },
      infoCompl: {
        idDocTec: 'ART-4',
        docRef: 'Contrato 77/2026',
        xPed: 'PED-9',
        gItemPed: { xItemPed: ['10', '20', '30'] },
        xInfComp: LONG_REMARK,
      },
    },
    valores: {
      ...values,
      vDedRed: { pDR: '1.00' },
      trib: {
        ...taxes,
        tribMun: {
          tribISSQN: '2',
          tpImunidade: '4',
          exigSusp: { tpSusp: '1', nProcesso: '123456789012345678901234567890' },
          BM: { nBM: '35503080200001', pRedBCBM: '10.00' },
          tpRetISSQN: '3',
        },
      },
    },
    IBSCBS: { ...(usual.IBSCBS as Group), indDest: '1', dest: { ...FOREIGNER, fone: '493012345678' } },
  },
};

export const DANFSE_CASES: readonly OtherCase[] = [
  danfseCase('NFS-e: usual', {}, [
    'DANFSe v2.0',
    'Município: São Paulo / SP',
    'Prestadora Inventada de Programas Ltda',
    'Rua das Amostras, 1234, Sala 5, Bela Vista',
    'contato@prestadora.example',
    '3550308 / 01.001-000',
    'Curitiba / PR',
    '(41) 98888-7777',
    '01.05.01 / 003',
    '1.1502.20.00',
    'Curitiba / PR / BR',
    'São Paulo / SP / BR',
    'Retido pelo Tomador',
    'PIS/COFINS/CSLL Não Retidos',
    '000 / 000001',
    '100301 / 4106902 / Curitiba / PR',
    'R$ 1.131,67',
    '60,00% / - / 60,00%',
    'R$ 44,86',
    'R$ 10.076,86',
    'O DESTINATÁRIO É O PRÓPRIO TOMADOR/ADQUIRENTE DA OPERAÇÃO',
    'INTERMEDIÁRIO DA OPERAÇÃO NÃO IDENTIFICADO NA NFS-e',
    'Inf. Cont.: Vencimento em 15 dias. Pix: chave da amostra. | Doc. Ref.: Contrato 77/2026 | Núm. Ped.: PED-9',
    'Federais: R$ 1.614,00 ; Estaduais: R$ 0,00 ; Municipais: R$ 348,00',
  ]),
  danfseCase('NFS-e: layout 1.00, nobody identified', { layout: '1.00', reform: false, dps: { toma: undefined } }, [
    'TOMADOR/ADQUIRENTE DA OPERAÇÃO NÃO IDENTIFICADO NA NFS-e',
    'DESTINATÁRIO DA OPERAÇÃO NÃO IDENTIFICADO NA NFS-e',
    'TRIBUTAÇÃO FEDERAL (EXCETO CBS)',
  ]),
  danfseCase('NFS-e: cancelled', {}, ['CANCELADA'], 'cancelled'),
  danfseCase(
    'NFS-e: replaced',
    { layout: '1.00', reform: false, note: { valores: { vLiq: '12345.67', xOutInf: 'Emitida pela prefeitura.' } } },
    ['SUBSTITUÍDA', 'Inf. A. T. Mun.: Emitida pela prefeitura.'],
    'replaced',
  ),
  danfseCase('NFS-e: key with letters, test environment', { provider: PROVIDER_WITH_LETTERS, dps: { tpAmb: '2' } }, [
    'NFS-e SEM VALIDADE JURÍDICA',
    'Tipo de Ambiente: Homologação',
    '12.ABC.345/01DE-35',
  ]),
  danfseCase(
    'NFS-e: emitted by the taker',
    {
      note: {
        xLocEmi: 'Curitiba',
        xLocPrestacao: '',
        cLocIncid: '4106902',
        xLocIncid: 'Curitiba',
        emit: { CNPJ: TAKER.CNPJ },
      },
      dps: {
        tpEmit: '2',
        cLocEmi: '4106902',
        cMotivoEmisTI: '1',
        prest: { ...FOREIGNER, regTrib: { opSimpNac: '1', regEspTrib: '0' } },
        serv: { ...service, locPrest: { cPaisPrestacao: 'DE' } },
      },
    },
    ['DE-998877665', 'Beispielhandel GmbH', 'Berlin / Berlin / DE', '10117 (ext)', 'Musterstraße, 1, Mitte'],
  ),
  danfseCase(
    'NFS-e: taker abroad',
    {
      dps: {
        toma: FOREIGNER,
        valores: { ...values, trib: { ...taxes, tribMun: { tribISSQN: '3', cPaisResult: 'DE', tpRetISSQN: '1' } } },
      },
    },
    ['Exportação de Serviço', 'São Paulo / SP / DE', 'Não Retido', 'DE-998877665'],
  ),
  danfseCase('NFS-e: everything there is', everything, [
    'NFS-e de Decisão Judicial ou Administrativa',
    'Optante - Microempresa ou Empresa de Pequeno Porte (ME/EPP)',
    'Tributos federais pelo SN e ISSQN por fora do SN',
    'Sociedade de Profissionais',
    'Livros, jornais, periódicos e o papel (CF 150, VI, d)',
    'Exigibilidade Suspensa por Decisão Judicial',
    '123456789012345678901234567890',
    'R$ 1.200,00',
    'DESTINATÁRIO DA OPERAÇÃO',
    'INTERMEDIÁRIO DA OPERAÇÃO',
    'Federais: R$ 1.614,00',
  ]),
  danfseCase(
    'NFS-e: what is no service',
    {
      note: { valores: { vLiq: '12345.67' } },
      dps: { serv: { ...service, cServ: { ...(service.cServ as Group), cTribNac: '990101' } } },
    },
    ['TRIBUTAÇÃO MUNICIPAL (ISSQN) - OPERAÇÃO NÃO SUJEITA AO ISSQN', '99.01.01 / 003'],
  ),
  danfseCase(
    'NFS-e: 2027, Simples Nacional',
    {
      note: { cStat: '107', dhProc: '2027-02-01T08:00:00-03:00' },
      dps: {
        dCompet: '2027-01-31',
        prest: { ...(usual.prest as Group), regTrib: { opSimpNac: '2', regEspTrib: '0' } },
        valores: { ...values, trib: { ...taxes, totTrib: { pTotTribSN: '6.00' } } },
      },
    },
    ['31/01/2027', 'NFS-e MEI', 'Optante - Microempreendedor Individual (MEI)', 'Simples Nacional: 6,00%'],
  ),
  danfseCase(
    'NFS-e: long words and foreign letters',
    {
      note: { xTribNac: 'X'.repeat(600), xLocEmi: 'São José do Vale do Rio Preto das Amostras Inventadas' },
      dps: {
        toma: { ...TAKER, xNome: 'W'.repeat(150), email: `${'m'.repeat(70)}@exemplo.example`, IM: '9'.repeat(40) },
        serv: {
          ...service,
          cServ: {
            ...(service.cServ as Group),
            xDescServ: `Emoji 😀👩‍🔧, 中文, naïve, “aspas” – e travessão\n${'Y'.repeat(120)} ${'SERVIÇO PRESTADO EM MAIÚSCULAS '.repeat(60)}`,
          },
          infoCompl: { xInfComp: 'Z'.repeat(2000) },
        },
      },
    },
    ['Emoji ???, ??, naïve, “aspas” – e travessão', 'XXX…', 'Lei nº 12.741/2012'],
  ),
  danfseCase(
    'NFS-e: nonsense',
    {
      note: { cStat: '999', ambGer: '', valores: { vBC: '1e5', pAliqAplic: '.5', vISSQN: 'N/A', vLiq: '-1.5' } },
      dps: {
        dCompet: 'amanhã',
        toma: '',
        prest: { cNaoNIF: '2', regTrib: { opSimpNac: '9', regEspTrib: '' } },
        valores: { vServPrest: { vServ: '1,234.56' }, vDescCondIncond: { vDescIncond: 'nada' }, trib: '' },
        serv: { cServ: { cTribNac: '7', cNBS: 'x', xDescServ: '' }, locPrest: { cLocPrestacao: '9999999' } },
      },
    },
    ['999', '1e5', '1,234.56', 'amanhã', 'TOMADOR/ADQUIRENTE DA OPERAÇÃO NÃO IDENTIFICADO NA NFS-e'],
  ),
  {
    name: 'NFS-e: bare',
    kind: 'NFSe',
    xml: write('NFSe', { infNFSe: { '@Id': computation()['@Id'] } }),
    situation: { state: 'unknown' },
    sheets: 1,
    texts: [serviceKey(), 'Federais: - ; Estaduais: - ; Municipais: -'],
    codes: [LOOKUP + serviceKey()],
  },
];
