import type { FormStyle } from './fields.js';
import type { TableStyle } from './table.js';

/**
 * Letters of the DANFE (MOC annex II), and of what is kept with it: Times; values of 10 points, which shrink to 6 rather than be cut off; labels of 6; columns'
 * titles of 5; lines of products of 6 at least.
 */
export const FORM: FormStyle = {
  regular: 'Times-Roman',
  bold: 'Times-Bold',
  label: { largest: 6, smallest: 5 },
  value: { largest: 10, smallest: 6 },
  title: 6.5,
  row: 19.5,
};

export const PRODUCTS: TableStyle = {
  regular: 'Times-Roman',
  bold: 'Times-Bold',
  size: 6.5,
  smallest: 4.5,
  title: 5,
};
