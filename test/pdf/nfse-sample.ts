import { cnpjCheckDigits } from '../../src/documents/index.js';
import { nfseKeyCheckDigit } from '../../src/documents/nfse-key.js';
import { BUYER, SELLER, write, type Xml } from './nfe-sample.js';

/** Made-up NFS-e as objects: tests replace any part of them. */

export type Group = Readonly<Record<string, Xml | undefined>>;

export interface ServiceNoteOptions {
  /** Replace children of infNFSe, or of infDPS. */
  readonly note?: Group;
  readonly dps?: Group;
  readonly provider?: string;
  readonly layout?: '1.00' | '1.01';
  /** Groups of IBS and CBS. */
  readonly reform?: boolean;
}

export const PROVIDER_WITH_LETTERS = `12ABC34501DE${cnpjCheckDigits('12ABC34501DE')}`;

export function serviceKey(provider = SELLER): string {
  const first49 = `355030822${provider}00000000047112612135792468`;
  return first49 + nfseKeyCheckDigit(first49);
}

export const TAKER: Group = {
  CNPJ: BUYER,
  IM: '7654321',
  xNome: 'Compradora Fictícia Indústria e Comércio S.A.',
  end: {
    endNac: { cMun: '4106902', CEP: '80010000' },
    xLgr: 'Avenida do Exemplo',
    nro: '99',
    xCpl: 'Bloco 2',
    xBairro: 'Centro',
  },
  fone: '41988887777',
  email: 'fiscal@compradora.example',
};

export const FOREIGNER: Group = {
  NIF: 'DE-998877665',
  xNome: 'Beispielhandel GmbH',
  end: {
    endExt: { cPais: 'DE', cEndPost: '10117', xCidade: 'Berlin', xEstProvReg: 'Berlin' },
    xLgr: 'Musterstraße',
    nro: '1',
    xBairro: 'Mitte',
  },
  email: 'office@beispiel.example',
};

/** infDPS of a note with what a usual one has. */
export function declaration({ provider = SELLER, reform = true }: ServiceNoteOptions = {}): Group {
  return {
    '@Id': `DPS35503082${provider}00001000000000004711`,
    tpAmb: '1',
    dhEmi: '2026-12-02T23:29:00-03:00',
    verAplic: 'amostra 1',
    serie: '00001',
    nDPS: '4711',
    dCompet: '2026-12-01',
    tpEmit: '1',
    cLocEmi: '3550308',
    prest: {
      CNPJ: provider,
      IM: '12345678',
      fone: '1133334444',
      email: 'contato@prestadora.example',
      regTrib: { opSimpNac: '1', regEspTrib: '0' },
    },
    toma: TAKER,
    serv: {
      locPrest: { cLocPrestacao: '4106902' },
      cServ: {
        cTribNac: '010501',
        cTribMun: '003',
        xDescServ: 'Licenciamento de uso de programa de computador, competência dezembro de 2026, conforme contrato.',
        cNBS: '115022000',
      },
      infoCompl: {
        docRef: 'Contrato 77/2026',
        xPed: 'PED-9',
        xInfComp: 'Vencimento em 15 dias. Pix: chave da amostra.',
      },
    },
    valores: {
      vServPrest: { vServ: '12345.67' },
      vDescCondIncond: { vDescIncond: '345.67', vDescCond: '10.00' },
      trib: {
        tribMun: { tribISSQN: '1', tpRetISSQN: '2', pAliq: '2.90' },
        tribFed: {
          piscofins: { CST: '01', vBCPisCofins: '12000.00', vPis: '78.00', vCofins: '360.00', tpRetPisCofins: '0' },
          vRetCP: '1320.00',
          vRetIRRF: '180.00',
          vRetCSLL: '120.00',
        },
        totTrib: { vTotTrib: { vTotTribFed: '1614.00', vTotTribEst: '0.00', vTotTribMun: '348.00' } },
      },
    },
    IBSCBS: reform
      ? {
          finNFSe: '0',
          indFinal: '0',
          cIndOp: '100301',
          indDest: '0',
          valores: { trib: { gIBSCBS: { CST: '000', cClassTrib: '000001' } } },
        }
      : undefined,
  };
}

/** infNFSe without its DPS. */
export function computation({ provider = SELLER, reform = true }: ServiceNoteOptions = {}): Group {
  return {
    '@Id': `NFS${serviceKey(provider)}`,
    xLocEmi: 'São Paulo',
    xLocPrestacao: 'Curitiba',
    nNFSe: '4711',
    cLocIncid: '3550308',
    xLocIncid: 'São Paulo',
    xTribNac: 'Licenciamento ou cessão de direito de uso de programas de computação.',
    xNBS: 'Licenciamento de direitos de uso de programas de computador',
    verAplic: 'AMOSTRA',
    ambGer: '2',
    tpEmis: '1',
    procEmi: '1',
    cStat: '100',
    dhProc: '2026-12-02T23:30:07-03:00',
    nDFSe: '123',
    emit: {
      CNPJ: provider,
      IM: '12345678',
      xNome: 'Prestadora Inventada de Programas Ltda',
      enderNac: {
        xLgr: 'Rua das Amostras',
        nro: '1234',
        xCpl: 'Sala 5',
        xBairro: 'Bela Vista',
        cMun: '3550308',
        UF: 'SP',
        CEP: '01001000',
      },
      fone: '1199990000',
      email: 'cadastro@prestadora.example',
    },
    valores: { vBC: '12000.00', pAliqAplic: '2.90', vISSQN: '348.00', vTotalRet: '1968.00', vLiq: '10032.00' },
    IBSCBS: reform
      ? {
          cLocalidadeIncid: '4106902',
          xLocalidadeIncid: 'Curitiba',
          valores: {
            vBC: '11214.00',
            uf: { pIBSUF: '0.10', pRedAliqUF: '60.00', pAliqEfetUF: '0.04' },
            mun: { pIBSMun: '0.00', pAliqEfetMun: '0.00' },
            fed: { pCBS: '0.90', pRedAliqCBS: '60.00', pAliqEfetCBS: '0.36' },
          },
          totCIBS: {
            vTotNF: '10076.86',
            gIBS: { vIBSTot: '4.49', gIBSUFTot: { vIBSUF: '4.49' }, gIBSMunTot: { vIBSMun: '0.00' } },
            gCBS: { vCBS: '40.37' },
          },
        }
      : undefined,
  };
}

export function serviceNote(options: ServiceNoteOptions = {}): string {
  const { layout = '1.01' } = options;
  const dps = { ...declaration(options), ...options.dps };
  return `<?xml version="1.0" encoding="UTF-8"?>${write('NFSe', {
    '@xmlns': 'http://www.sped.fazenda.gov.br/nfse',
    '@versao': layout,
    infNFSe: { ...computation(options), DPS: { '@versao': layout, infDPS: dps }, ...options.note },
  })}`;
}
