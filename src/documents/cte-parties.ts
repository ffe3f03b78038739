import type { Party } from '../model/document.js';
import { party } from './party.js';
import type { FieldsWith } from './xml/paths.js';

/** Who stands in a CT-e, and which of them pays for the service (the taker). */

/** `*`: the element is called CTe, CTeOS, CTeSimp or GTVe; what is inside has the same names in all of them. */
export const DOCUMENT = '*/infCte';

const PLACES = {
  issuer: { at: 'emit', address: 'enderEmit' },
  sender: { at: 'rem', address: 'enderReme' },
  dispatcher: { at: 'exped', address: 'enderExped' },
  receiver: { at: 'receb', address: 'enderReceb' },
  recipient: { at: 'dest', address: 'enderDest' },
  /** CT-e: nobody of the above. */
  toma4: { at: 'ide/toma4', address: 'enderToma' },
  /** GTV-e: nobody of the above. */
  tomaTerceiro: { at: 'ide/tomaTerceiro', address: 'enderToma' },
  /** CT-e OS, where it is the only party besides the issuer, and CT-e Simplificado. */
  toma: { at: 'toma', address: 'enderToma' },
} as const;

type Place = keyof typeof PLACES;
const PARTY_FIELDS = { cnpj: 'CNPJ', cpf: 'CPF', name: 'xNome', ie: 'IE' } as const;
type PartyField = keyof typeof PARTY_FIELDS | 'uf';

/** Code of the taker, and where it stands: the same digit means somebody else in a GTV-e. */
const TAKER_CODES = {
  toma3Code: `${DOCUMENT}/ide/toma3/toma`,
  /** Layouts 1.04 and 2.00. */
  toma03Code: `${DOCUMENT}/ide/toma03/toma`,
  toma4Code: `${DOCUMENT}/ide/toma4/toma`,
  simplifiedCode: `${DOCUMENT}/toma/toma`,
  gtveCode: `${DOCUMENT}/ide/toma/toma`,
  gtveOtherCode: `${DOCUMENT}/ide/tomaTerceiro/toma`,
} as const;

export type PartyPath = `${Place}.${PartyField}` | keyof typeof TAKER_CODES;

/** Where the people of a CT-e stand, and the codes that say which of them pays. */
export const PARTY_PATHS = {
  ...TAKER_CODES,
  ...Object.fromEntries(
    Object.entries(PLACES).flatMap(([place, { at, address }]) => [
      [`${place}.uf`, `${DOCUMENT}/${at}/${address}/UF`],
      ...Object.entries(PARTY_FIELDS).map(([field, element]) => [`${place}.${field}`, `${DOCUMENT}/${at}/${element}`]),
    ]),
  ),
} as Record<PartyPath, string>;

type Role = 'sender' | 'dispatcher' | 'receiver' | 'recipient';
/** As which of the others the taker takes part; `other`: as none of them. */
type TakerRole = Role | 'other';

/** Parties by role; what the document does not have is absent. */
export type CteParties = {
  readonly [role in Role | 'issuer' | 'taker']?: Party | undefined;
} & { readonly takerRole?: TakerRole };

/** The people of a CT-e; the taker is found by its code, or is named by itself. */
export function readParties(xml: FieldsWith<PartyPath>): { parties: CteParties; warnings: readonly string[] } {
  const at = (place: Place) => partyAt(xml, place);
  const named = {
    issuer: at('issuer'),
    sender: at('sender'),
    dispatcher: at('dispatcher'),
    receiver: at('receiver'),
    recipient: at('recipient'),
  };
  const own = at('toma4') ?? at('tomaTerceiro') ?? at('toma');
  const takerRole = takerRoleOf(xml);
  if (takerRole === undefined) return { parties: { ...named, taker: own }, warnings: [] };
  // A CT-e Simplificado has the taker's data beside its role: then the taker is that party as well.
  const taker = takerRole === 'other' ? own : (named[takerRole] ?? own);
  return {
    parties: { ...named, ...(takerRole !== 'other' && { [takerRole]: taker }), taker, takerRole },
    // Not guessed from another party: it is who pays (case C63).
    warnings: taker ? [] : [`taker_missing: the taker is called "${takerRole}", and the document has none`],
  };
}

const BY_CODE: ReadonlyMap<string, TakerRole> = new Map([
  ['0', 'sender'],
  ['1', 'dispatcher'],
  ['2', 'receiver'],
  ['3', 'recipient'],
  ['4', 'other'],
]);
/** Between sender and recipient of a GTV-e there is nobody. */
const BY_GTVE_CODE: ReadonlyMap<string, TakerRole> = new Map([
  ['0', 'sender'],
  ['1', 'recipient'],
  ['4', 'other'],
]);

/** Undefined in a CT-e OS, whose taker has no part besides paying. */
function takerRoleOf(xml: FieldsWith<PartyPath>): TakerRole | undefined {
  const gtve = xml.text('gtveCode') ?? xml.text('gtveOtherCode');
  if (gtve !== undefined) return BY_GTVE_CODE.get(gtve);
  const code = xml.text('toma3Code') ?? xml.text('toma03Code') ?? xml.text('toma4Code') ?? xml.text('simplifiedCode');
  return BY_CODE.get(code ?? '');
}

function partyAt(xml: FieldsWith<PartyPath>, place: Place): Party | undefined {
  const written = xml.text(`${place}.cnpj`) ?? xml.text(`${place}.cpf`);
  const uf = xml.text(`${place}.uf`);
  // Who is not established in Brazil has a CNPJ of zeros, or an empty one.
  const nobodys = written === undefined || /^0+$/.test(written);
  return party({
    taxId: nobodys ? undefined : written,
    name: xml.text(`${place}.name`),
    uf,
    stateRegistration: xml.text(`${place}.ie`),
    foreign: (nobodys && (written !== undefined || uf === 'EX')) || undefined,
  });
}
