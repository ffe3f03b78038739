import { z } from 'zod';
import { endOfDay, startOfDay } from '../../platform/brasilia.js';

const DAY = /^\d{4}-\d{2}-\d{2}$/;
/** Beyond them no fiscal document is issued, and times have other forms (year 10000). */
const YEARS = /^(?:19|2\d)\d\d-/;
const EXPECTED = 'expected a day such as 2026-11-30, or an RFC 3339 instant such as 2026-11-30T00:00:00-03:00';

/** A day, or an instant. */
const moment = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })], { error: EXPECTED })
  .refine((value) => YEARS.test(value), 'expected a time in the years 1900 to 2999');

/** Where a period begins: a day begins at midnight in Brasília. Milliseconds. */
export const periodFrom = moment
  .transform((value) => (DAY.test(value) ? startOfDay(value) : Date.parse(value)))
  .describe('Inclusive. A day begins at midnight in Brasília (America/Sao_Paulo)');

/** Where a period ends: with the last moment of a day, or right before an instant. Milliseconds. */
export const periodTo = moment
  .transform((value) => (DAY.test(value) ? endOfDay(value) : Date.parse(value)))
  .describe('A day is included as a whole, an instant is not');
