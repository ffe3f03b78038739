import { stripVTControlCharacters } from 'node:util';
import type { Command } from 'commander';
import colors from 'picocolors';
import type { GlobalOptions } from './connection.js';

/** True when the command was asked for JSON. */
export function wantsJson(command: Command): boolean {
  return command.optsWithGlobals<GlobalOptions>().json === true;
}

/** Prints a value as JSON: one line, so that a list of commands gives a list of lines. */
export function printJson(value: unknown): void {
  print(JSON.stringify(value));
}

export function print(line = ''): void {
  process.stdout.write(`${line}\n`);
}

/** What happened, for people. Goes to standard error, so that standard output holds results alone. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string;
  /** Numbers. */
  readonly right?: boolean;
}

/** Rows under their titles, as wide as their longest value. */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[] {
  const cells = rows.map((row) => columns.map(({ value }) => value(row)));
  const widths = columns.map(({ title }, i) =>
    Math.max(title.length, ...cells.map((row) => visibleLength(row[i] ?? ''))),
  );
  const line = (row: readonly string[]) =>
    row
      .map((cell, i) => {
        const padding = ' '.repeat(Math.max(0, (widths[i] ?? 0) - visibleLength(cell)));
        return columns[i]?.right ? padding + cell : cell + padding;
      })
      .join('  ')
      .trimEnd();
  return [colors.dim(line(columns.map(({ title }) => title))), ...cells.map(line)];
}

/** A table, or in its place one line that says what is not there. */
export function printTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], none: string): void {
  if (rows.length === 0) say(none);
  else for (const line of table(columns, rows)) print(line);
}

/** What did not work along the way although the request was taken. */
export interface Warning {
  readonly message: string;
}

/** Each warning once, however many answers have it. */
export function sayWarnings(warnings: readonly Warning[]): void {
  for (const message of new Set(warnings.map((one) => one.message))) say(`Warning: ${message}`);
}

/** A list as it was asked for: JSON, one object a line, or a table that says when it may not be all. */
export function printList<Row>(
  command: Command,
  rows: readonly Row[],
  { columns, none, limit }: { readonly columns: readonly Column<Row>[]; readonly none: string; readonly limit: number },
): void {
  if (wantsJson(command)) {
    rows.forEach(printJson);
    return;
  }
  printTable(columns, rows, none);
  if (rows.length === limit) say(`The first ${limit}: --limit shows more.`);
}

/** Names and values of one thing, one a line. */
export function printFields(fields: Readonly<Record<string, string | null | undefined>>): void {
  const given = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined && value !== '');
  const width = Math.max(...given.map(([name]) => name.length));
  for (const [name, value] of given) print(`${colors.dim(name.padEnd(width))}  ${value}`);
}

const LONGEST_NAME = 32;

/** A name as it fits into a table. */
export function shortened(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1)}…` : name;
}

/** An instant as a person on this machine reads it; a dash where there is none. */
export function localTime(instant: string | null): string {
  if (instant === null) return '–';
  const at = new Date(instant);
  const two = (part: number) => String(part).padStart(2, '0');
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** A CNPJ or CPF with its usual punctuation. */
export function shownTaxId(taxId: string): string {
  return taxId.length === 14
    ? taxId.replace(/^(..)(...)(...)(....)(..)$/, '$1.$2.$3/$4-$5')
    : taxId.replace(/^(...)(...)(...)(..)$/, '$1.$2.$3-$4');
}

function visibleLength(text: string): number {
  return stripVTControlCharacters(text).length;
}
