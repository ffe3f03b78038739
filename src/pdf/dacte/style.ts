import type { FormStyle } from '../kit/fields.js';
import { FORM } from '../kit/style.js';
import type { TableStyle } from '../kit/table.js';

/** Letters of the DACTE: those of the DANFE, a little smaller, since its sheet has more to say. */
export const DACTE: FormStyle = { ...FORM, value: { largest: 9, smallest: 6 }, row: 18 };

/** Lists: up to 2,000 access keys, so lines lie close. */
export const LIST: TableStyle = {
  regular: FORM.regular,
  bold: FORM.bold,
  size: 6.5,
  smallest: 5,
  title: 5,
  padding: 0.7,
};
