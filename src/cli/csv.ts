import { wrongUse } from './failure.js';

/** A line of a table, under the titles of its first line. */
export interface CsvLine {
  /** In the file, for messages. */
  readonly number: number;
  readonly values: Readonly<Record<string, string>>;
}

/**
 * Reads a table as spreadsheets save it: titles in the first line, values between commas or (as in Brazil) semicolons, in double
 * quotes where they hold one of those. Empty lines are passed over.
 *
 * @param columns the titles that there may be
 * @param required those without which no line says anything
 * @throws {CliFailure} wrong use, naming the line
 */
export function readCsv(text: string, columns: readonly string[], required: readonly string[]): CsvLine[] {
  const lines = split(text.replace(/^\uFEFF/, ''));
  const [head, ...rest] = lines;
  const titles = (head?.cells ?? []).map((title) => title.trim());
  const unknown = titles.find((title) => !columns.includes(title));
  if (unknown !== undefined) throw wrongUse(`line 1: there is no column "${unknown}": expected ${columns.join(', ')}`);
  const missing = required.find((title) => !titles.includes(title));
  if (missing !== undefined)
    throw wrongUse(`line 1: the column "${missing}" is missing: the first line has the titles`);
  return rest.map(({ number, cells }) => {
    if (cells.length !== titles.length) {
      throw wrongUse(`line ${number}: ${cells.length} values under ${titles.length} titles`);
    }
    return { number, values: Object.fromEntries(titles.map((title, i) => [title, (cells[i] ?? '').trim()])) };
  });
}

function split(text: string): { number: number; cells: string[] }[] {
  const separator = /^[^\r\n]*;/.test(text) ? ';' : ',';
  const cell = new RegExp(`"((?:[^"]|"")*)"|([^"\\r\\n${separator}][^\\r\\n${separator}]*)?`, 'y');
  const lines: { number: number; cells: string[] }[] = [];
  let number = 1;
  for (let at = 0; at < text.length; ) {
    const cells: string[] = [];
    const begin = at;
    do {
      // Behind a separator, or where a line begins.
      if (cells.length > 0) at += 1;
      cell.lastIndex = at;
      const [whole = '', quoted, plain = ''] = cell.exec(text) ?? [];
      at += whole.length;
      cells.push(quoted?.replaceAll('""', '"') ?? plain);
    } while (text[at] === separator);
    const [end] = /^(?:\r?\n|\r|$)/.exec(text.slice(at, at + 2)) ?? [];
    if (end === undefined) throw wrongUse(`line ${number}: a double quote is not closed, or something follows it`);
    at += end.length;
    if (cells.some((one) => one !== '')) lines.push({ number, cells });
    number += text.slice(begin, at).match(/\r\n|\r|\n/g)?.length ?? 0;
  }
  return lines;
}
