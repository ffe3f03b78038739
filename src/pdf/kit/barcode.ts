import bwip from 'bwip-js/node';
import { type Area, mm, type Sheet } from './sheet.js';

/** A code as it is drawn: widths of bars and gaps in turn, in modules. */
export interface Bars {
  readonly widths: readonly number[];
  readonly modules: number;
}

const START_C = 105;
const TO_A = 101;
const TO_C = 99;

/** Blank room that a reader needs on either side. */
const QUIET_MODULES = 10;

/**
 * CODE-128 of an access key: digits in pairs (set C), stretches with letters in set A, as the joint technical note on keys with letters
 * has it (NT 2025.001 section 6; C would be left for set B by other encoders, with other bars).
 *
 * @param text digits and upper-case letters, beginning with at least two digits
 * @returns null for a text that is no such key
 */
export function code128(text: string): Bars | null {
  if (!/^\d\d[0-9A-Z]*$/.test(text)) return null;
  const raw = codewords(text)
    .map((codeword) => `^${String(codeword).padStart(3, '0')}`)
    .join('');
  const [drawn] = bwip.raw('code128', raw, 'raw');
  if (drawn === undefined || !('sbs' in drawn)) return null;
  return { widths: drawn.sbs, modules: drawn.sbs.reduce((sum, width) => sum + width, 0) };
}

/** Start character and data, without check and stop characters. */
export function codewords(text: string): number[] {
  const words = [START_C];
  let set: 'C' | 'A' = 'C';
  for (let at = 0; at < text.length; ) {
    const digits = /^\d*/.exec(text.slice(at))?.[0].length ?? 0;
    const wanted: 'C' | 'A' = pairsPay(digits, set, at + digits === text.length) ? 'C' : 'A';
    if (wanted !== set) {
      words.push(wanted === 'C' ? TO_C : TO_A);
      set = wanted;
    }
    if (set === 'C') {
      words.push(Number(text.slice(at, at + 2)));
      at += 2;
    } else {
      words.push(text.charCodeAt(at) - 0x20);
      at += 1;
    }
  }
  return words;
}

/** Whether the next digits are better written in pairs: going to set C and back again costs two characters. */
function pairsPay(digits: number, set: 'C' | 'A', last: boolean): boolean {
  if (set === 'C') return digits >= 2;
  return digits % 2 === 0 && digits >= (last ? 2 : 6);
}

/**
 * Room for an access key's barcode, in points. A key of digits has 277 modules, to each of which 84 mm give 0.28 mm. The bars of one with
 * letters must be 115 mm wide or more (NT 2025.001 section 6), which makes at most 123 mm with their quiet zones.
 */
export function keyWidth(key: string): number {
  return mm(/[A-Z]/.test(key) ? 123 : 84);
}

/** Draws bars over `width`, quiet zones included. */
export function drawBars(sheet: Sheet, bars: Bars, [x, y, width, height]: Area): void {
  const unit = width / (bars.modules + 2 * QUIET_MODULES);
  let at = x + QUIET_MODULES * unit;
  const areas = bars.widths.flatMap((modules, index): Area[] => {
    const from = at;
    at += modules * unit;
    return index % 2 === 0 ? [[from, y, modules * unit, height]] : [];
  });
  sheet.fill(areas);
}

/** Draws a QR code into a square, with its blank margin of 4 modules; 0: the margin is around the square. */
export function drawQr(sheet: Sheet, text: string, x: number, y: number, size: number, margin: 4 | 0 = 4): void {
  const [drawn] = bwip.raw('qrcode', text, 'eclevel=M');
  if (drawn === undefined || !('pixs' in drawn)) return;
  const { pixs, pixx } = drawn;
  const unit = size / (pixx + 2 * margin);
  const areas: Area[] = [];
  for (let row = 0; row * pixx < pixs.length; row++) {
    // Neighbours become one rectangle: thin white seams between squares would cost readers their patience.
    for (let column = 0; column < pixx; column++) {
      let run = 0;
      while (column + run < pixx && pixs[row * pixx + column + run] === 1) run++;
      if (run > 0) areas.push([x + (column + margin) * unit, y + (row + margin) * unit, run * unit, unit]);
      column += run;
    }
  }
  sheet.fill(areas);
}
