import { buildAccessKey } from '../../../documents/access-key.js';
import { ufCode } from '../../../documents/uf.js';
import { type Cast, numberAt } from '../note.js';
import { makePerson, type Person } from '../people.js';
import { SeededRandom, seededBytes } from '../random.js';
import { localTime } from '../text.js';

/** The four documents that carry freight; each is one root element. */
export const FREIGHT_FORMS = ['CTe', 'CTeOS', 'CTeSimp', 'GTVe'] as const;
export type FreightForm = (typeof FREIGHT_FORMS)[number];

const PARTIES = ['sender', 'dispatcher', 'receiver', 'recipient'] as const;
export type PartyRole = (typeof PARTIES)[number];

/** What the company that asks is in it. The issuer gets no document of its own, only other people's events about it. */
export type FreightRole = PartyRole | 'taker' | 'autXML' | 'issuer';

/** Road, air, water, rail, pipeline, several. */
export const MODALS = ['01', '02', '03', '04', '05', '06'] as const;
export type Modal = (typeof MODALS)[number];

/** Everything that the documents about one transport must agree on. */
export interface Freight {
  readonly form: FreightForm;
  readonly key: string;
  readonly series: number;
  readonly number: number;
  readonly randomCode: string;
  readonly modal: Modal;
  readonly issuer: Person;
  readonly parties: { readonly [role in PartyRole]?: Person };
  /** Who pays: one of the parties, or somebody else. */
  readonly taker: Person;
  readonly takerRole: PartyRole | 'other';
  /** autXML. */
  readonly authorized: readonly string[];
  /** NF-e on board, and CT-e of carriers before; masked with nines in the copy of a third party. */
  readonly nfeKeys: readonly string[];
  readonly previousKeys: readonly string[];
  readonly totalCents: number;
  /** Milliseconds. */
  readonly issuedAt: number;
  readonly authorizedAt: number;
  /** Hours from UTC at the issuer. */
  readonly utcOffset: number;
  readonly protocol: string;
  readonly digest: string;
  /** tpAmb. */
  readonly environmentCode: '1' | '2';
}

/** What a freight is made from. */
export interface FreightRequest {
  /** Position in the company's sequence; gives the number of the document. */
  readonly index: number;
  readonly form: FreightForm;
  readonly role: FreightRole;
  /** When the national environment received it. */
  readonly receivedAt: number;
}

const MODELS: Readonly<Record<FreightForm, string>> = { CTe: '57', CTeOS: '67', CTeSimp: '57', GTVe: '64' };
const FORM_MODALS: Readonly<Record<FreightForm, readonly Modal[]>> = {
  CTe: MODALS,
  CTeOS: ['01', '02', '03', '04'],
  CTeSimp: ['01', '02', '03'],
  GTVe: ['01', '06'],
};
const MASK = '9'.repeat(44);

/** The transport at one position, made from nothing but the cast's seed and the request. */
export function makeFreight(cast: Cast, request: FreightRequest): Freight {
  const { index, form, role } = request;
  const random = new SeededRandom(`${cast.seed}/freight/${index}`);
  const carriers = cast.issuers.filter(({ taxId }) => taxId.length === 14);
  const issuer = role === 'issuer' ? cast.company : random.pick(carriers);
  const { parties, taker, takerRole } = castRoles(cast, request, random);

  const utcOffset = issuer.place.utcOffset;
  const authorizedAt = request.receivedAt - random.between(2, 600) * 1000;
  const issuedAt = authorizedAt - random.between(5, 7200) * 1000;
  const yearMonth = localTime(issuedAt, utcOffset).slice(2, 7).replace('-', '');
  const keyOf = (model: string, person: Person, number: number) =>
    buildAccessKey({
      ufCode: ufCode(person.place.uf),
      yearMonth,
      taxId: person.taxId,
      model,
      series: '1',
      number: String(number),
      emissionType: '1',
      randomCode: random.digits(8),
    });
  const series = 1;
  const number = numberAt(cast.seed, index);
  const randomCode = random.digits(8);
  const nfeKeys = Array.from({ length: random.between(1, 4) }, () =>
    keyOf('55', random.pick(carriers), random.between(1, 9e8)),
  );
  const previousKeys = random.oneIn(4) ? [keyOf('57', random.pick(carriers), random.between(1, 9e8))] : [];
  const masked = (keys: readonly string[]) => (role === 'autXML' ? keys.map(() => MASK) : keys);
  const year = localTime(authorizedAt, utcOffset).slice(2, 4);
  return {
    form,
    key: buildAccessKey({
      ufCode: ufCode(issuer.place.uf),
      yearMonth,
      taxId: issuer.taxId,
      model: MODELS[form],
      series: String(series),
      number: String(number),
      emissionType: '1',
      randomCode,
    }),
    series,
    number,
    randomCode,
    modal: random.pick(FORM_MODALS[form]),
    issuer,
    parties,
    taker,
    takerRole,
    authorized: role === 'autXML' ? [cast.company.taxId] : [],
    nfeKeys: masked(nfeKeys),
    previousKeys: masked(previousKeys),
    totalCents: random.between(5_000, 900_000),
    issuedAt,
    authorizedAt,
    utcOffset,
    protocol: `1${ufCode(issuer.place.uf)}${year}${random.digits(10)}`,
    digest: seededBytes(`${cast.seed}/digest/${index}`, 20).toString('base64'),
    environmentCode: cast.environmentCode,
  };
}

/** Who takes part: the company as what was asked for, the others made up. */
function castRoles(
  { seed, company }: Cast,
  { index, form, role }: FreightRequest,
  random: SeededRandom,
): Pick<Freight, 'parties' | 'taker' | 'takerRole'> {
  const other = (part: string) =>
    makePerson(`${seed}/${part}/${index % 40}`, random.oneIn(5) ? 'natural_person' : 'company');
  const as = (part: PartyRole) => (role === part ? company : other(part));
  if (form === 'CTeOS' || form === 'CTeSimp') {
    // Only the taker has data of its own. In a simplified one it may be any of the four.
    const asParty = PARTIES.find((part) => part === role);
    const takerRole = form === 'CTeOS' ? 'other' : (asParty ?? random.pick([...PARTIES, 'other' as const]));
    const pays = role === 'taker' || asParty !== undefined;
    return { parties: {}, taker: pays ? company : other('taker'), takerRole };
  }
  const between = form === 'CTe';
  const parties: { [part in PartyRole]?: Person } = {
    sender: as('sender'),
    ...(between && (role === 'dispatcher' || random.oneIn(4)) ? { dispatcher: as('dispatcher') } : {}),
    ...(between && (role === 'receiver' || random.oneIn(4)) ? { receiver: as('receiver') } : {}),
    recipient: as('recipient'),
  };
  if (role === 'taker') return { parties, taker: company, takerRole: 'other' };
  const takerRole = random.pick([
    ...PARTIES.filter((part) => parties[part] !== undefined && (form !== 'GTVe' || part !== 'dispatcher')),
    'other' as const,
  ]);
  return { parties, taker: (takerRole === 'other' ? undefined : parties[takerRole]) ?? other('taker'), takerRole };
}
