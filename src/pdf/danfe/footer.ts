import { block, titleLine } from '../kit/fields.js';
import type { Piece, Section } from '../kit/flow.js';
import { textBox } from '../kit/lines.js';
import { mm, type Sheet } from '../kit/sheet.js';
import { FORM } from '../kit/style.js';
import { restOf, wrapAll } from '../kit/text-fit.js';
import type { Note } from './note.js';

/** What stands at the bottom of the first sheet: ISSQN, where the note has any, and "dados adicionais". */
export interface Footer {
  readonly height: number;
  /** Draws with its lower left corner at a point. */
  draw(sheet: Sheet, x: number, bottom: number): void;
  /** The remarks that do not fit, for further sheets. */
  readonly rest: Section;
}

const LEAST_BOX = mm(20);
/** No more of the first sheet when the products need several sheets anyway; and this much is left for the first of them. */
const LARGE_BOX = mm(75);
const FIRST_PRODUCTS = mm(20);
/** The smaller one only where it saves a sheet. */
const SIZES = [7, 6];
const LEADING = 1.14;
const LABEL = 9;
const SHARE = 0.72;
const PADDING = 3;
const CONTINUED = titleLine('INFORMAÇÕES COMPLEMENTARES (CONTINUAÇÃO)', FORM);

/**
 * Footers to choose from, the better looking ones first.
 *
 * @param left what the blocks above leave of the first sheet, for products and footer
 * @param products height of all products together
 */
export function footersOf(note: Note, width: number, left: number, products: number): Footer[] {
  const services = servicesBlock(note, width);
  const title = titleLine('DADOS ADICIONAIS', FORM);
  const above = [...services, title].reduce((sum, piece) => sum + piece.height, 0);
  return SIZES.flatMap((size) => {
    const lines = wrapAll(note.remarks, FORM.regular, size, width * SHARE - 2 * PADDING);
    const needed = Math.max(LEAST_BOX, LABEL + lines.length * size * LEADING + PADDING);
    const besideAll = left - products - above;
    const besideFirst = Math.min(LARGE_BOX, left - FIRST_PRODUCTS - above);
    const boxes = [Math.min(needed, Math.max(besideAll, besideFirst)), besideAll, LEAST_BOX];
    return boxes
      .filter((box, index) => box >= LEAST_BOX && boxes.indexOf(box) === index)
      .map((box) => footer(note.remarks, lines, size, box, [...services, title], width));
  });
}

function footer(
  remarks: readonly string[],
  lines: readonly string[],
  size: number,
  box: number,
  above: readonly Piece[],
  width: number,
): Footer {
  const height = above.reduce((sum, piece) => sum + piece.height, box);
  const here = lines.slice(0, Math.max(0, Math.floor((box - LABEL - PADDING) / (size * LEADING) + 0.001)));
  const left = width * SHARE;
  return {
    height,
    draw(sheet, x, bottom) {
      let y = bottom - height;
      for (const piece of above) {
        piece.draw(sheet, x, y);
        y += piece.height;
      }
      sheet.box(x, y, left, box);
      sheet.box(x + left, y, width - left, box);
      label(sheet, 'INFORMAÇÕES COMPLEMENTARES', x, y);
      label(sheet, 'RESERVADO AO FISCO', x + left, y);
      drawRemarks(sheet, here, size, x, y + LABEL);
    },
    rest: {
      ...textBox(() => CONTINUED, restOf(remarks, here), width, { font: FORM.regular, size }),
      notBefore: 1,
    },
  };
}

function label(sheet: Sheet, text: string, x: number, y: number): void {
  sheet.text(text, x + 2, y + 6.5, { font: FORM.regular, size: 6 });
}

function drawRemarks(sheet: Sheet, lines: readonly string[], size: number, x: number, y: number): void {
  lines.forEach((line, index) => {
    sheet.text(line, x + PADDING, y + size * (0.86 + index * LEADING), { font: FORM.regular, size });
  });
}

function servicesBlock({ services, issuer }: Note, width: number): Piece[] {
  if (services === null && issuer.cityRegistration === '') return [];
  const { total = '', base = '', tax = '' } = services ?? {};
  const { head, pieces } = block(
    'CÁLCULO DO ISSQN',
    [
      [
        { label: 'INSCRIÇÃO MUNICIPAL', value: issuer.cityRegistration, share: 1 },
        { label: 'VALOR TOTAL DOS SERVIÇOS', value: total, share: 1, align: 'right' },
        { label: 'BASE DE CÁLCULO DO ISSQN', value: base, share: 1, align: 'right' },
        { label: 'VALOR DO ISSQN', value: tax, share: 1, align: 'right' },
      ],
    ],
    width,
    FORM,
  );
  return head ? [head(false), ...pieces] : [...pieces];
}
