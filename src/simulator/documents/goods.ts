import type { SeededRandom } from './random.js';

/** One line of a note. Amounts in cents: sums must be exact. */
export interface Item {
  readonly code: string;
  readonly description: string;
  readonly ncm: string;
  readonly unit: string;
  readonly quantity: number;
  readonly unitCents: number;
  readonly totalCents: number;
}

const CATALOGUE: readonly (readonly [string, string, string, number])[] = [
  ['Parafuso sextavado 1/4" x 2"', '73181500', 'UN', 85],
  ['Caixa de papelão ondulado 40 x 30 x 20 cm', '48191000', 'UN', 412],
  ['Café torrado e moído 500 g', '09012100', 'PCT', 2190],
  ['Cabo flexível 2,5 mm² azul, rolo 100 m', '85444900', 'RL', 18990],
  ['Papel A4 75 g/m², resma', '48025610', 'RS', 2890],
  ['Queijo minas padrão', '04069020', 'KG', 4750],
  ['Filtro de óleo motor 1.0 & 1.6', '84212300', 'UN', 3240],
  ['Tecido de algodão cru, larg. 1,60 m', '52081100', 'M', 1790],
  ['Cadeira giratória com braço', '94013090', 'UN', 48900],
  ['Detergente neutro 5 L', '34022000', 'GL', 2760],
  ['Luva de proteção nitrílica, par', '40151900', 'PAR', 1290],
  ['Monitor LED 24 polegadas', '85285220', 'UN', 79900],
  ['Óleo de soja refinado 900 ml', '15079011', 'UN', 845],
  ['Disjuntor bipolar 32 A', '85362000', 'UN', 4590],
  ['Tinta acrílica branca 18 L', '32091010', 'LT', 32900],
  ['Ração para bovinos, saco 40 kg', '23099010', 'SC', 9870],
];

/** The lines of a note, `min` to `max` of them. */
export function makeItems(random: SeededRandom, min: number, max: number): Item[] {
  return Array.from({ length: random.between(min, max) }, () => {
    const at = random.between(0, CATALOGUE.length - 1);
    const [description, ncm, unit, price] = CATALOGUE[at] as (typeof CATALOGUE)[number];
    const quantity = random.between(1, 24);
    const unitCents = price + random.between(0, 99);
    return {
      code: `P${String(at + 1).padStart(4, '0')}`,
      description,
      ncm,
      unit,
      quantity,
      unitCents,
      totalCents: quantity * unitCents,
    };
  });
}

/** How many lines a note has when nobody asked for a number: mostly few, now and then very many. */
export function usualItems(random: SeededRandom): [number, number] {
  return random.weighted<[number, number]>([
    [[1, 3], 80],
    [[4, 12], 18],
    [[40, 60], 2],
  ]);
}
