import { cnpjCheckDigits, cpfCheckDigits } from '../../documents/tax-id.js';
import type { Uf } from '../../documents/uf.js';
import { PLACES, type Place, placeOf } from './places.js';
import { SeededRandom } from './random.js';

/** Somebody in a document. All made up: the names from lists, the numbers at random, the check digits right. */
export interface Person {
  /** CNPJ (letters possible) or CPF. */
  readonly taxId: string;
  readonly name: string;
  readonly place: Place;
  readonly street: string;
  readonly houseNumber: string;
  /** State registration; null where there is none. */
  readonly stateRegistration: string | null;
  /** 1: Simples Nacional, 3: ordinary regime. */
  readonly regime: '1' | '3';
}

const BRANDS =
  'Ipê Amarelo|Jequitibá|Araucária|Buriti|Mandacaru|Jacarandá|Sabiá|Tucano|Quero-Quero|Mantiqueira|Chapada|Pantanal|Aurora|Horizonte|Três Irmãos|Bom Retiro|Santa Clara|Serra Azul|Rio Doce|Monte Belo|Capim Dourado|Pedra Branca|Luz do Vale|Estrela do Norte'.split(
    '|',
  );
const TRADES =
  'Ferragens|Alimentos|Embalagens|Materiais Elétricos|Papelaria|Distribuidora|Autopeças|Laticínios|Tecidos|Química|Móveis|Informática'.split(
    '|',
  );
const FORMS = 'Ltda|S.A.|ME|EPP|Indústria e Comércio Ltda|& Filhos Ltda'.split('|');
const FIRST_NAMES = 'João|Maria|Antônio|Conceição|Sebastião|Inês|Otávio|Luíza'.split('|');
const LAST_NAMES = 'da Amostra|do Exemplo|Fictício|Inventado|dos Testes'.split('|');
const STREETS =
  'Rua das Amostras|Avenida do Exemplo|Rua Doze de Fevereiro|Travessa dos Ipês|Rodovia BR Fictícia km 7'.split('|');

export type PersonKind = 'company' | 'company_with_letters' | 'natural_person';

/** A made-up person; the same for the same seed. */
export function makePerson(seed: string, kind: PersonKind, uf?: Uf): Person {
  const random = new SeededRandom(seed);
  const natural = kind === 'natural_person';
  const name = natural
    ? `${random.pick(FIRST_NAMES)} ${random.pick(LAST_NAMES)}`
    : `${random.pick(BRANDS)} ${random.pick(TRADES)} ${random.pick(FORMS)}`;
  const place = uf === undefined ? random.pick(PLACES) : placeOf(uf);
  return describe(random, makeTaxId(random, kind), name, place);
}

/** A person whose tax ID (and perhaps name) is given: the company that is asked for. */
export function knownPerson(seed: string, taxId: string, name: string, uf: Uf): Person {
  return describe(new SeededRandom(`${seed}/${taxId}`), taxId, name, placeOf(uf));
}

function describe(random: SeededRandom, taxId: string, name: string, place: Place): Person {
  return {
    taxId,
    name,
    place,
    street: random.pick(STREETS),
    houseNumber: random.oneIn(8) ? 'S/N' : String(random.between(1, 4999)),
    stateRegistration: taxId.length === 11 && random.oneIn(3) ? null : random.digits(random.between(8, 13)),
    regime: taxId.length === 11 || random.oneIn(3) ? '1' : '3',
  };
}

function makeTaxId(random: SeededRandom, kind: PersonKind): string {
  if (kind === 'natural_person') {
    const first = random.digits(9);
    return first + cpfCheckDigits(first);
  }
  const branch = random.oneIn(4) ? `000${random.between(2, 9)}` : '0001';
  const root = kind === 'company' ? random.digits(8) : letters(random, 8);
  return root + branch + cnpjCheckDigits(root + branch);
}

function letters(random: SeededRandom, count: number): string {
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';
  let text = random.pick([...'ABCDEFGHJKLMNP']);
  while (text.length < count) text += random.pick([...alphabet]);
  return text;
}
