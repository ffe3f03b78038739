/** The 27 federal units and their IBGE codes, as they stand in cUF, cUFAutor and the first two digits of an access key. */
const CODES = {
  RO: '11',
  AC: '12',
  AM: '13',
  RR: '14',
  PA: '15',
  AP: '16',
  TO: '17',
  MA: '21',
  PI: '22',
  CE: '23',
  RN: '24',
  PB: '25',
  PE: '26',
  AL: '27',
  SE: '28',
  BA: '29',
  MG: '31',
  ES: '32',
  RJ: '33',
  SP: '35',
  PR: '41',
  SC: '42',
  RS: '43',
  MS: '50',
  MT: '51',
  GO: '52',
  DF: '53',
} as const;

/** A federal unit, two letters. */
export type Uf = keyof typeof CODES;

export const UFS = Object.keys(CODES) as readonly Uf[];

const BY_CODE = new Map<string, Uf>(UFS.map((uf) => [CODES[uf], uf]));

/** Whether the two letters are a federal unit's. */
export function isUf(text: string): text is Uf {
  return Object.hasOwn(CODES, text);
}

/** `SP` → `35`. */
export function ufCode(uf: Uf): string {
  return CODES[uf];
}

/** `35` → `SP`; undefined for a code that is no federal unit (91 is the national environment). */
export function ufByCode(code: string): Uf | undefined {
  return BY_CODE.get(code);
}
