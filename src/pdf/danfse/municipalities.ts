import { readFileSync } from 'node:fs';
import { type Uf, ufByCode } from '../../documents/uf.js';
import { joined } from '../kit/formats.js';

/**
 * An address in a DPS names its municipality by its IBGE code only, and the DANFSe prints the name. The file has the 5,571 municipalities
 * of 2025, one a line: code, blank, name.
 */
const FILE = new URL('municipalities.txt', import.meta.url);
let names: ReadonlyMap<string, string> | undefined;

/** Name of a municipality; empty for a code that is none. */
export function municipalityName(code: string): string {
  names ??= new Map(
    readFileSync(FILE, 'utf8')
      .split('\n')
      .map((line) => [line.slice(0, 7), line.slice(8)] as const),
  );
  return names.get(code) ?? '';
}

/** Its federal unit, which is in the code; undefined for a code that is no municipality's. */
export function ufOfMunicipality(code: string): Uf | undefined {
  return /^\d{7}$/.test(code) ? ufByCode(code.slice(0, 2)) : undefined;
}

/** `Curitiba / PR / BR`: a place in Brazil unless `country` says otherwise. Only what is known of it. */
export function place(name: string, code: string, country: string): string {
  const uf = ufOfMunicipality(code);
  return joined([name || municipalityName(code), uf ?? '', country || (uf === undefined ? '' : 'BR')], ' / ');
}
