import { z } from 'zod';
import { bytes } from '../api.js';
import type { ProblemCode } from '../error-catalogue.js';

/** The good answers of a route that gives a file. */
export const fileAnswers = (...contentTypes: readonly string[]) => ({
  200: bytes('The file; `ETag` is its SHA-256', ...contentTypes),
  206: bytes('The part that `Range` asks for', ...contentTypes),
  304: z.undefined().describe('Unchanged'),
});

export const FILE_PROBLEMS = ['range_not_satisfiable', 'content_damaged'] as const satisfies ProblemCode[];

export const PDF_PROBLEMS = [
  ...FILE_PROBLEMS,
  'summary_only',
  'no_pdf',
  'pdf_not_possible',
  'pdf_failed',
  'pdf_too_slow',
  'pdf_busy',
] as const satisfies ProblemCode[];
