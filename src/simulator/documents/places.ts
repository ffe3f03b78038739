import type { Uf } from '../../documents/uf.js';

/** A capital. */
export interface Place {
  readonly uf: Uf;
  /** IBGE code of the municipality. */
  readonly code: string;
  readonly city: string;
  readonly postalCode: string;
  /** Hours from UTC, as the state's clocks (and dhEmi) show it. */
  readonly utcOffset: number;
}

const CAPITALS: readonly (readonly [Uf, string, string, string, number])[] = [
  ['RO', '1100205', 'Porto Velho', '76801000', -4],
  ['AC', '1200401', 'Rio Branco', '69900000', -5],
  ['AM', '1302603', 'Manaus', '69005000', -4],
  ['RR', '1400100', 'Boa Vista', '69301000', -4],
  ['PA', '1501402', 'Belém', '66010000', -3],
  ['AP', '1600303', 'Macapá', '68900000', -3],
  ['TO', '1721000', 'Palmas', '77001000', -3],
  ['MA', '2111300', 'São Luís', '65010000', -3],
  ['PI', '2211001', 'Teresina', '64000000', -3],
  ['CE', '2304400', 'Fortaleza', '60010000', -3],
  ['RN', '2408102', 'Natal', '59010000', -3],
  ['PB', '2507507', 'João Pessoa', '58010000', -3],
  ['PE', '2611606', 'Recife', '50010000', -3],
  ['AL', '2704302', 'Maceió', '57010000', -3],
  ['SE', '2800308', 'Aracaju', '49010000', -3],
  ['BA', '2927408', 'Salvador', '40010000', -3],
  ['MG', '3106200', 'Belo Horizonte', '30110000', -3],
  ['ES', '3205309', 'Vitória', '29010000', -3],
  ['RJ', '3304557', 'Rio de Janeiro', '20010000', -3],
  ['SP', '3550308', 'São Paulo', '01001000', -3],
  ['PR', '4106902', 'Curitiba', '80010000', -3],
  ['SC', '4205407', 'Florianópolis', '88010000', -3],
  ['RS', '4314902', 'Porto Alegre', '90010000', -3],
  ['MS', '5002704', 'Campo Grande', '79002000', -4],
  ['MT', '5103403', 'Cuiabá', '78005000', -4],
  ['GO', '5208707', 'Goiânia', '74003000', -3],
  ['DF', '5300108', 'Brasília', '70040000', -3],
];

export const PLACES: readonly Place[] = CAPITALS.map(([uf, code, city, postalCode, utcOffset]) => ({
  uf,
  code,
  city,
  postalCode,
  utcOffset,
}));

/** The capital of a federal unit. */
export function placeOf(uf: Uf): Place {
  const place = PLACES.find((candidate) => candidate.uf === uf);
  if (place === undefined) throw new RangeError(`No place for UF ${uf}`);
  return place;
}
