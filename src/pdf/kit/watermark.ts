import { type Font, textWidth } from './fonts.js';
import type { Sheet } from './sheet.js';

const LARGEST = 84;

interface WatermarkStyle {
  readonly font: Font;
  readonly grey: number;
}

/** So light that everything remains readable on top of it. */
const LIGHT: WatermarkStyle = { font: 'Helvetica-Bold', grey: 0.9 };

/** Words across the sheet. Drawn first, or they would cover the rest. */
export function drawWatermarks(sheet: Sheet, texts: readonly string[], { font, grey } = LIGHT): void {
  const angle = (Math.atan2(sheet.height, sheet.width) * 180) / Math.PI;
  const diagonal = Math.hypot(sheet.width, sheet.height);
  texts.forEach((text, index) => {
    const size = Math.min(LARGEST, (0.62 * diagonal) / textWidth(text, font, 1));
    const middle = sheet.height * (0.55 + 0.22 * (index - (texts.length - 1) / 2));
    sheet.slanted(text, [sheet.width / 2, middle + size * 0.35], angle, { font, size, grey });
  });
}
