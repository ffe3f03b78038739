import type { Item } from './goods.js';
import type { Note } from './note.js';
import { escaped, money } from './text.js';

/** Sums over a note's items, in cents. */
export interface TaxTotals {
  readonly base: number;
  readonly icms: number;
  readonly pis: number;
  readonly cofins: number;
  /** IBS and CBS at the test rates of 2026; null for issuers who do not state them. */
  readonly reform: { readonly ibs: number; readonly cbs: number } | null;
}

// Rates in hundred-thousandths, so that all stays whole numbers: ICMS 18 %, PIS 1.65 %, COFINS 7.6 %, IBS 0.1 %, CBS 0.9 %.
const share = (cents: number, perHundredThousand: number) => Math.round((cents * perHundredThousand) / 100_000);
const icmsOf = (item: Item) => share(item.totalCents, 18_000);
const pisOf = (item: Item) => share(item.totalCents, 1_650);
const cofinsOf = (item: Item) => share(item.totalCents, 7_600);
const ibsOf = (item: Item) => share(item.totalCents, 100);
const cbsOf = (item: Item) => share(item.totalCents, 900);

/** Issuers in the ordinary regime state ICMS, PIS, COFINS, and since August 2026 IBS and CBS; the others state none. */
function isOrdinary(note: Note): boolean {
  return note.issuer.regime === '3';
}

/** Sums over the items of a note; zero in a note that is not an ordinary one. */
export function totalsOf(note: Note): TaxTotals {
  if (!isOrdinary(note)) return { base: 0, icms: 0, pis: 0, cofins: 0, reform: null };
  const sum = (of: (item: Item) => number) => note.items.reduce((total, item) => total + of(item), 0);
  return {
    base: note.totalCents,
    icms: sum(icmsOf),
    pis: sum(pisOf),
    cofins: sum(cofinsOf),
    reform: { ibs: sum(ibsOf), cbs: sum(cbsOf) },
  };
}

/** One `det`. */
export function itemXml(note: Note, item: Item, position: number): string {
  const value = money(item.totalCents);
  const price = `${money(item.unitCents)}00000000`;
  const inside = note.recipient !== 'foreign' && note.recipient.place.uf === note.issuer.place.uf;
  const cfop = note.recipient === 'foreign' ? '7102' : inside ? '5102' : '6102';
  return (
    `<det nItem="${position}"><prod><cProd>${item.code}</cProd><cEAN>SEM GTIN</cEAN>` +
    `<xProd>${escaped(item.description)}</xProd><NCM>${item.ncm}</NCM><CFOP>${cfop}</CFOP><uCom>${item.unit}</uCom>` +
    `<qCom>${item.quantity}.0000</qCom><vUnCom>${price}</vUnCom><vProd>${value}</vProd><cEANTrib>SEM GTIN</cEANTrib>` +
    `<uTrib>${item.unit}</uTrib><qTrib>${item.quantity}.0000</qTrib><vUnTrib>${price}</vUnTrib><indTot>1</indTot></prod>` +
    `<imposto>${isOrdinary(note) ? ordinaryTaxes(item, value) : simpleTaxes()}</imposto>` +
    `${position % 7 === 0 ? `<infAdProd>Lote ${position}/2026 validade 12/2027</infAdProd>` : ''}</det>`
  );
}

function simpleTaxes(): string {
  return (
    '<ICMS><ICMSSN102><orig>0</orig><CSOSN>102</CSOSN></ICMSSN102></ICMS>' +
    '<PIS><PISNT><CST>07</CST></PISNT></PIS><COFINS><COFINSNT><CST>07</CST></COFINSNT></COFINS>'
  );
}

function ordinaryTaxes(item: Item, value: string): string {
  const ibs = money(ibsOf(item));
  return (
    `<ICMS><ICMS00><orig>0</orig><CST>00</CST><modBC>3</modBC><vBC>${value}</vBC><pICMS>18.00</pICMS>` +
    `<vICMS>${money(icmsOf(item))}</vICMS></ICMS00></ICMS>` +
    `<PIS><PISAliq><CST>01</CST><vBC>${value}</vBC><pPIS>1.65</pPIS><vPIS>${money(pisOf(item))}</vPIS></PISAliq></PIS>` +
    `<COFINS><COFINSAliq><CST>01</CST><vBC>${value}</vBC><pCOFINS>7.60</pCOFINS>` +
    `<vCOFINS>${money(cofinsOf(item))}</vCOFINS></COFINSAliq></COFINS>` +
    `<IBSCBS><CST>000</CST><cClassTrib>000001</cClassTrib><gIBSCBS><vBC>${value}</vBC>` +
    `<gIBSUF><pIBSUF>0.1000</pIBSUF><vIBSUF>${ibs}</vIBSUF></gIBSUF>` +
    `<gIBSMun><pIBSMun>0.0000</pIBSMun><vIBSMun>0.00</vIBSMun></gIBSMun><vIBS>${ibs}</vIBS>` +
    `<gCBS><pCBS>0.9000</pCBS><vCBS>${money(cbsOf(item))}</vCBS></gCBS></gIBSCBS></IBSCBS>`
  );
}
