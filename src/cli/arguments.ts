import { Argument, InvalidArgumentError, Option } from 'commander';
import { DOCUMENT_TYPES, ENVIRONMENTS } from '../model/words.js';

/** For an option that may be given several times. */
export function collected(value: string, before: readonly string[]): string[] {
  return [...before, value];
}

/** Most rows of a list. */
export function mostRows(text: string): number {
  const rows = Number(text);
  if (!/^\d{1,6}$/.test(text) || rows < 1) throw new InvalidArgumentError('Expected a whole number from 1 to 999999.');
  return rows;
}

/** An instant: RFC 3339, or a day, which begins at midnight on this machine. */
export function instantArgument(text: string): string {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00:00`) : new Date(text);
  const hasOffset = /T.*(Z|[+-]\d{2}:\d{2})$/.test(text) || /^\d{4}-\d{2}-\d{2}$/.test(text);
  if (Number.isNaN(at.getTime()) || !hasOffset) {
    throw new InvalidArgumentError(
      'Expected a day such as 2026-11-30, or an instant such as 2026-11-30T10:00:00-03:00.',
    );
  }
  return at.toISOString();
}

export function documentTypeArgument(): Argument {
  return new Argument('[type]', 'document type').choices(DOCUMENT_TYPES).default('nfe');
}

/** For filters. */
export function documentTypeOption(): Option {
  return new Option('--type <type>', 'document type').choices(DOCUMENT_TYPES);
}

export function environmentOption(): Option {
  return new Option('--environment <environment>').choices(ENVIRONMENTS);
}
