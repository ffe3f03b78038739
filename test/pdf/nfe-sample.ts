import { buildAccessKey, cnpjCheckDigits, cpfCheckDigits } from '../../src/documents/index.js';

/** Made-up notes as objects: tests change any part of them and compare the page with the same object. */

/** An element's content: a text, elements by name (`@name`: an attribute), or several elements of the same name. */
export type Xml = string | readonly Xml[] | { readonly [name: string]: Xml | undefined };

export interface NoteParts {
  [name: string]: Xml | undefined;
  readonly '@Id': string;
  readonly ide: Record<string, Xml | undefined>;
  readonly emit?: Xml;
  readonly dest?: Xml;
  readonly det: readonly Xml[];
  readonly total: { readonly ICMSTot: Record<string, string>; readonly [name: string]: Xml | undefined };
}

const cnpj = (first12: string): string => first12 + cnpjCheckDigits(first12);
export const SELLER = cnpj('101112130001');
export const SELLER_WITH_LETTERS = cnpj('AB12CD340001');
export const BUYER = cnpj('202122230001');
export const FARMER = `135792468${cpfCheckDigits('135792468')}`;

export interface SampleOptions {
  readonly items?: number;
  readonly seller?: string;
  /** tpEmis. */
  readonly emission?: string;
  readonly model?: '55' | '65';
  readonly issued?: string;
  /** Ordinary regime: ICMS with its base and rate. Otherwise Simples Nacional. */
  readonly ordinary?: boolean;
  /** Groups of IBS and CBS in items and totals. */
  readonly reform?: boolean;
  /** Discount, tax substitution and IPI in each item. */
  readonly allTaxes?: boolean;
}

export function sampleKey({ seller = SELLER, emission = '1', model = '55' }: SampleOptions = {}): string {
  return buildAccessKey({
    ufCode: '35',
    yearMonth: '2612',
    taxId: seller,
    model,
    series: '7',
    number: '4711',
    emissionType: emission,
    randomCode: '40302010',
  });
}

/** infNFe of a note with everything that a usual one has. */
export function sampleNote(options: SampleOptions = {}): NoteParts {
  const { items = 1, issued = '2026-12-02T15:50:07-03:00', emission = '1', model = '55', seller = SELLER } = options;
  const key = sampleKey(options);
  const lines = Array.from({ length: items }, (_, at) => sampleItem(at + 1, options));
  const sum = (path: readonly string[]) => total(lines.map((line) => cents(line, path)));
  const icms = (name: string) =>
    sum(['imposto', 'ICMS', 'ICMS10', name]) ?? sum(['imposto', 'ICMS', 'ICMS00', name]) ?? '0.00';
  return {
    '@versao': '4.00',
    '@Id': `NFe${key}`,
    ide: {
      cUF: '35',
      cNF: '40302010',
      natOp: 'Venda de mercadoria adquirida de terceiros',
      mod: model,
      serie: '7',
      nNF: '4711',
      dhEmi: issued,
      dhSaiEnt: '2026-12-02T17:05:00-03:00',
      tpNF: '1',
      idDest: '1',
      cMunFG: '3550308',
      tpImp: model === '65' ? '4' : '1',
      tpEmis: emission,
      cDV: key.slice(43),
      tpAmb: '1',
      finNFe: '1',
      indFinal: '0',
      indPres: '9',
      procEmi: '0',
      verProc: 'amostra 1',
    },
    emit: {
      [seller.length === 11 ? 'CPF' : 'CNPJ']: seller,
      xNome: 'Vendedora Inventada de Ferragens e Materiais Ltda',
      enderEmit: {
        xLgr: 'Rua das Amostras',
        nro: '1234',
        xCpl: 'Galpão B',
        xBairro: 'Distrito Industrial',
        cMun: '3550308',
        xMun: 'São Paulo',
        UF: 'SP',
        CEP: '01001000',
        cPais: '1058',
        xPais: 'BRASIL',
        fone: '1133334444',
      },
      IE: '0043763020020',
      IEST: '998877665544',
      CRT: options.ordinary === false ? '1' : '3',
    },
    dest: {
      CNPJ: BUYER,
      xNome: 'Compradora Fictícia Indústria e Comércio S.A.',
      enderDest: {
        xLgr: 'Avenida do Exemplo',
        nro: '99',
        xCpl: 'Bloco 2',
        xBairro: 'Centro',
        cMun: '4106902',
        xMun: 'Curitiba',
        UF: 'PR',
        CEP: '80010000',
        cPais: '1058',
        xPais: 'BRASIL',
        fone: '41988887777',
      },
      indIEDest: '1',
      IE: '9012345678',
    },
    det: lines,
    total: {
      ICMSTot: {
        vBC: icms('vBC'),
        vICMS: icms('vICMS'),
        vICMSDeson: '0.00',
        vFCP: '0.00',
        vBCST: sum(['imposto', 'ICMS', 'ICMS10', 'vBCST']) ?? '0.00',
        vST: sum(['imposto', 'ICMS', 'ICMS10', 'vICMSST']) ?? '0.00',
        vFCPST: '0.00',
        vFCPSTRet: '0.00',
        vProd: sum(['prod', 'vProd']) ?? '0.00',
        vFrete: '35.10',
        vSeg: '12.34',
        vDesc: sum(['prod', 'vDesc']) ?? '0.00',
        vII: '0.00',
        vIPI: sum(['imposto', 'IPI', 'IPITrib', 'vIPI']) ?? '0.00',
        vIPIDevol: '0.00',
        vPIS: '3.21',
        vCOFINS: '14.56',
        vOutro: '1.07',
        vNF: '1234567.89',
        vTotTrib: '432.10',
      },
      ...(options.reform && {
        IBSCBSTot: {
          vBCIBSCBS: sum(['prod', 'vProd']) ?? '0.00',
          gIBS: {
            gIBSUF: { vDif: '0.00', vDevTrib: '0.00', vIBSUF: '77.01' },
            gIBSMun: { vDif: '0.00', vDevTrib: '0.00', vIBSMun: '0.02' },
            vIBS: '77.03',
          },
          gCBS: { vDif: '0.00', vDevTrib: '0.00', vCBS: '693.27' },
        },
      }),
    },
    transp: {
      modFrete: '0',
      transporta: {
        CNPJ: cnpj('303132330001'),
        xNome: 'Transportes Imaginários Ltda',
        IE: '112233445566',
        xEnder: 'Rodovia BR Fictícia km 7',
        xMun: 'Guarulhos',
        UF: 'SP',
      },
      veicTransp: { placa: 'ABC1D23', UF: 'SP', RNTC: '12345678' },
      vol: { qVol: '3', esp: 'CAIXAS', marca: 'INVENTADA', nVol: '1 A 3', pesoL: '12.500', pesoB: '13.750' },
    },
    pag: { detPag: { indPag: '1', tPag: '15', vPag: '1234567.89' } },
    infAdic: { infCpl: 'Pedido 8899. Mercadoria de teste, sem qualquer valor.' },
  };
}

/** One `det`. The description says which item it is, so that a page can be searched for it. */
export function sampleItem(number: number, options: SampleOptions = {}): { readonly [name: string]: Xml | undefined } {
  const quantity = 1 + (number % 9);
  const price = 1050 + number * 7;
  const value = money(quantity * price);
  const share = (perThousand: number) => money(Math.round((quantity * price * perThousand) / 1000));
  const icms = { orig: '0', CST: '00', modBC: '3', vBC: value, pICMS: '18.00', vICMS: share(180) };
  const substitution = { modBCST: '4', vBCST: share(1400), pICMSST: '18.00', vICMSST: share(72) };
  return {
    '@nItem': String(number),
    prod: {
      cProd: `COD-${String(number).padStart(4, '0')}`,
      cEAN: 'SEM GTIN',
      xProd: `Produto inventado número ${number} caixa com 12 peças`,
      NCM: '73181500',
      CFOP: '6102',
      uCom: 'CX',
      qCom: `${quantity}.0000`,
      vUnCom: `${money(price)}00000000`,
      vProd: value,
      cEANTrib: 'SEM GTIN',
      uTrib: 'CX',
      qTrib: `${quantity}.0000`,
      vUnTrib: `${money(price)}00000000`,
      vDesc: options.allTaxes ? money(100 + number) : undefined,
      indTot: '1',
    },
    imposto: {
      ICMS:
        options.ordinary === false
          ? { ICMSSN102: { orig: '0', CSOSN: '102' } }
          : options.allTaxes
            ? { ICMS10: { ...icms, CST: '10', ...substitution } }
            : { ICMS00: icms },
      IPI: options.allTaxes
        ? { cEnq: '999', IPITrib: { CST: '50', vBC: value, pIPI: '5.00', vIPI: share(50) } }
        : undefined,
      IBSCBS: options.reform
        ? {
            CST: '000',
            cClassTrib: '000001',
            gIBSCBS: {
              vBC: value,
              gIBSUF: { pIBSUF: '0.1000', vIBSUF: share(1) },
              gIBSMun: { pIBSMun: '0.0000', vIBSMun: '0.00' },
              vIBS: share(1),
              gCBS: { pCBS: '0.9000', vCBS: share(9) },
            },
          }
        : undefined,
    },
  };
}

export interface ProtocolOptions {
  readonly cStat?: string;
  readonly key?: string;
}

/** nfeProc around infNFe. `protocol` null: nobody has authorized it. */
export function procNfe(note: Xml & object, protocol: ProtocolOptions | null = {}, supplement?: Xml): string {
  const id = (note as NoteParts)['@Id'].slice(3);
  const approval = protocol && {
    '@versao': '4.00',
    infProt: {
      tpAmb: '1',
      verAplic: 'AMOSTRA',
      chNFe: protocol.key ?? id,
      dhRecbto: '2026-12-02T22:57:07-03:00',
      nProt: '135260000004711',
      digVal: 'q83vEjRWeJCrze8SNFZ4kKvN7xI=',
      cStat: protocol.cStat ?? '100',
      xMotivo: 'Autorizado o uso da NF-e',
    },
  };
  return `<?xml version="1.0" encoding="UTF-8"?>${write('nfeProc', {
    '@xmlns': 'http://www.portalfiscal.inf.br/nfe',
    '@versao': '4.00',
    NFe: { infNFe: note, infNFeSupl: supplement },
    protNFe: approval ?? undefined,
  })}`;
}

export function write(name: string, content: Xml | undefined): string {
  if (content === undefined) return '';
  if (typeof content === 'string') return `<${name}>${escaped(content)}</${name}>`;
  if (isList(content)) return content.map((each) => write(name, each)).join('');
  const entries = Object.entries(content);
  const attributes = entries
    .filter(([inner, value]) => inner.startsWith('@') && value !== undefined)
    .map(([inner, value]) => ` ${inner.slice(1)}="${escaped(String(value))}"`);
  const inside = entries.filter(([inner]) => !inner.startsWith('@')).map(([inner, value]) => write(inner, value));
  return `<${name}${attributes.join('')}>${inside.join('')}</${name}>`;
}

/** The text at a path of an object; empty when it is not there. */
export function textAt(content: Xml | undefined, path: readonly string[]): string {
  const [step, ...rest] = path;
  if (content === undefined || typeof content === 'string') return step === undefined ? (content ?? '') : '';
  if (isList(content) || step === undefined) return '';
  return textAt(content[step], rest);
}

function isList(content: Xml): content is readonly Xml[] {
  return Array.isArray(content);
}

function cents(content: Xml, path: readonly string[]): number | null {
  const text = textAt(content, path);
  return text === '' ? null : Math.round(Number(text) * 100);
}

function total(values: readonly (number | null)[]): string | null {
  return values.some((value) => value !== null)
    ? money(values.reduce<number>((sum, value) => sum + (value ?? 0), 0))
    : null;
}

function money(cents: number): string {
  return `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
