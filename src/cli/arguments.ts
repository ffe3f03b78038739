import { Argument, InvalidArgumentError, Option } from 'commander';
import { DOCUMENT_TYPES, ENVIRONMENTS } from '../model/words.js';
import { endOfDay, startOfDay } from '../platform/brasilia.js';
import { wrongUse } from './failure.js';

/** For an option that may be given several times. */
export function collected(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

/** How much of a list is wanted. */
export function limitOption(): Option {
  return new Option('--limit <rows>', 'most rows').argParser(mostRows).default(50);
}

function mostRows(text: string): number {
  const rows = Number(text);
  if (!/^\d{1,6}$/.test(text) || rows < 1) throw new InvalidArgumentError('Expected a whole number from 1 to 999999.');
  return rows;
}

/** A moment: RFC 3339 with offset, or a day, which begins at midnight in Brasília, wherever this machine stands. */
export function instantArgument(text: string): string {
  return startOf(dayOrInstant(text));
}

/** Where a period begins or ends, as it was given: {@link startOf} and {@link endOf} say which instant that is. */
export function dayOrInstant(text: string): string {
  const hasOffset = /T.*(Z|[+-]\d{2}:\d{2})$/.test(text);
  // The 30th of February would be read as the 2nd of March.
  const day = Date.parse(text.slice(0, 10));
  const exists = !Number.isNaN(day) && new Date(day).toISOString().startsWith(text.slice(0, 10));
  if (!exists || Number.isNaN(Date.parse(text)) || !(DAY.test(text) || hasOffset)) {
    throw new InvalidArgumentError(
      'Expected a day such as 2026-11-30, or an instant such as 2026-11-30T10:00:00-03:00.',
    );
  }
  return text;
}

/** Where a period begins: with the midnight of a day in Brasília, or at an instant. */
export function startOf(given: string): string {
  return new Date(DAY.test(given) ? startOfDay(given) : given).toISOString();
}

/** Where a period is over: behind a day, which is included as a whole, or right before an instant. */
export function endOf(given: string): string {
  return new Date(DAY.test(given) ? endOfDay(given) : given).toISOString();
}

/** A calendar day that exists, such as 2026-11-30. */
export function dayArgument(text: string): string {
  if (!DAY.test(text)) throw new InvalidArgumentError('Expected a day such as 2026-11-30.');
  return dayOrInstant(text);
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** `[type]`, NF-e unless said otherwise. */
export function documentTypeArgument(): Argument {
  return new Argument('[type]', 'document type').choices(DOCUMENT_TYPES).default('nfe');
}

/** For filters. */
export function documentTypeOption(): Option {
  return new Option('--type <type>', 'document type').choices(DOCUMENT_TYPES);
}

/** The environment of a capture that is there. */
export function captureEnvironmentOption(): Option {
  return new Option('--environment <environment>', 'default: the running one, else the last').choices(ENVIRONMENTS);
}

/** @throws {CliFailure} wrong use: not one of the options was given, or more than one */
export function exactlyOne(given: Readonly<Record<string, unknown>>): void {
  if (Object.values(given).filter((value) => value !== undefined).length === 1) return;
  throw wrongUse(`name one of: ${Object.keys(given).join(', ')}`);
}

export function environmentOption(): Option {
  return new Option('--environment <environment>', "the government's production or its test environment").choices(
    ENVIRONMENTS,
  );
}

/** An NSU as it is typed. */
export function nsu(text: string): string {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Expected an NSU: 1 to 15 digits.');
  return text;
}
