import { LRUCache } from 'lru-cache';
import { buildAccessKey } from '../../documents/access-key.js';
import { ufCode } from '../../documents/uf.js';
import { type Item, makeItems, usualItems } from './goods.js';
import { makePerson, type Person } from './people.js';
import { SeededRandom, seededBytes } from './random.js';
import { localTime } from './text.js';

/** What the company that asks is in a note. The issuer gets no document of its own, only other people's events about it. */
export type Role = 'recipient' | 'carrier' | 'autXML' | 'issuer';

/** Everything that the documents about one NF-e must agree on. */
export interface Note {
  readonly key: string;
  readonly model: '55' | '65';
  readonly series: number;
  readonly number: number;
  readonly randomCode: string;
  readonly issuer: Person;
  /** Series 890 to 899: issued by a tax office for somebody; the key carries the office's CNPJ, not the issuer's. */
  readonly office: Person | null;
  readonly recipient: Person | 'foreign';
  readonly carrier: Person | null;
  /** autXML. */
  readonly authorized: readonly string[];
  /** Milliseconds. */
  readonly issuedAt: number;
  readonly authorizedAt: number;
  /** Hours from UTC at the issuer. */
  readonly utcOffset: number;
  readonly protocol: string;
  readonly digest: string;
  /** cSitNFe: 1 authorized, 2 denied, 3 cancelled before it reached the national environment. */
  readonly situation: '1' | '2' | '3';
  /** tpNF: 0 inbound, 1 outbound, as the issuer sees it. */
  readonly operation: '0' | '1';
  readonly items: readonly Item[];
  readonly totalCents: number;
  /** tpAmb. */
  readonly environmentCode: '1' | '2';
}

/** Who asks, and the others that its documents come from. */
export interface Cast {
  readonly seed: string;
  readonly company: Person;
  readonly issuers: readonly Person[];
  readonly office: Person;
  readonly environmentCode: '1' | '2';
}

/** What a note is made from. */
export interface NoteRequest {
  /** Position in the company's sequence; gives the number of the note, and is found again from it. */
  readonly index: number;
  readonly role: Role;
  /** When the national environment received it. */
  readonly receivedAt: number;
  /** Number of items; absent: the usual mix. */
  readonly items?: { readonly min: number; readonly max: number };
}

const NUMBERS = 999_999_999;

/** nNF of the note at `index`: different for all, and {@link indexOfNumber} is the way back. */
export function numberAt(seed: string, index: number): number {
  return 1 + ((firstNumber(seed) + index) % NUMBERS);
}

/** The position of a note in its sequence, from its number. */
export function indexOfNumber(seed: string, number: number): number {
  return (number - 1 - firstNumber(seed) + NUMBERS) % NUMBERS;
}

function firstNumber(seed: string): number {
  return seededBytes(`${seed}/first number`, 4).readUInt32LE() % 900_000;
}

/** The note at one position, made from nothing but the cast's seed and the request. */
export function makeNote(cast: Cast, request: NoteRequest): Note {
  const { index, role } = request;
  const random = new SeededRandom(`${cast.seed}/note/${index}`);
  const issuer = role === 'issuer' ? cast.company : random.pick(cast.issuers);
  const natural = issuer.taxId.length === 11;
  const office = natural && role !== 'issuer' && random.oneIn(4) ? cast.office : null;
  const model = role === 'autXML' && !natural && random.oneIn(8) ? '65' : '55';
  const series = office !== null ? random.between(890, 899) : natural ? random.between(920, 969) : random.between(1, 3);
  const number = numberAt(cast.seed, index);
  const randomCode = random.digits(8);

  const utcOffset = issuer.place.utcOffset;
  const authorizedAt = request.receivedAt - random.between(2, 600) * 1000;
  const issuedAt = authorizedAt - random.between(5, 7200) * 1000;
  const key = buildAccessKey({
    ufCode: ufCode(issuer.place.uf),
    yearMonth: localTime(issuedAt, utcOffset).slice(2, 7).replace('-', ''),
    taxId: (office ?? issuer).taxId,
    model,
    series: String(series),
    number: String(number),
    emissionType: '1',
    randomCode,
  });

  const [usualMin, usualMax] = usualItems(random);
  const items = makeItems(random, request.items?.min ?? usualMin, request.items?.max ?? usualMax);
  const year = localTime(authorizedAt, utcOffset).slice(2, 4);
  return {
    key,
    model,
    series,
    number,
    randomCode,
    issuer,
    office,
    recipient: recipientOf(cast, role, random, index),
    carrier: role === 'carrier' ? cast.company : random.oneIn(3) ? random.pick(cast.issuers) : null,
    authorized: role === 'autXML' ? [cast.company.taxId] : [],
    issuedAt,
    authorizedAt,
    utcOffset,
    protocol: `1${ufCode(issuer.place.uf)}${year}${random.digits(10)}`,
    digest: seededBytes(`${cast.seed}/digest/${index}`, 20).toString('base64'),
    situation: role === 'recipient' ? random.weighted([['1', 97] as const, ['2', 2] as const, ['3', 1] as const]) : '1',
    operation: random.oneIn(12) ? '0' : '1',
    items,
    totalCents: items.reduce((sum, item) => sum + item.totalCents, 0),
    environmentCode: cast.environmentCode,
  };
}

function recipientOf(cast: Cast, role: Role, random: SeededRandom, index: number): Person | 'foreign' {
  if (role === 'recipient') return cast.company;
  if (role !== 'issuer' && random.oneIn(5)) return 'foreign';
  return makePerson(`${cast.seed}/recipient/${index % 40}`, random.oneIn(4) ? 'natural_person' : 'company');
}

const pools = new LRUCache<string, Pick<Cast, 'issuers' | 'office'>>({ max: 50 });

/**
 * The cast around a company. The issuers belong to `worldSeed` and are shared by all its companies: 48, half of them in São Paulo,
 * some with letters in the CNPJ, some rural producers with a CPF.
 */
export function makeCast(worldSeed: string, company: Person, environmentCode: '1' | '2'): Cast {
  let pool = pools.get(worldSeed);
  if (pool === undefined) {
    const issuers = Array.from({ length: 48 }, (_, at) =>
      makePerson(
        `${worldSeed}/issuer/${at}`,
        at % 6 === 5 ? 'natural_person' : at % 6 === 2 ? 'company_with_letters' : 'company',
        at % 2 === 0 ? 'SP' : undefined,
      ),
    );
    pool = { issuers, office: makePerson(`${worldSeed}/office`, 'company', 'SP') };
    pools.set(worldSeed, pool);
  }
  return { seed: `${worldSeed}/${company.taxId}/${environmentCode}`, company, ...pool, environmentCode };
}
