import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { type ApiClient, apiOf } from './api-client.js';
import { type CsvLine, readCsv } from './csv.js';
import { CliFailure, wrongUse } from './failure.js';
import { print, printJson, printTable, wantsJson } from './output.js';

const REQUIRED = ['taxId', 'name', 'uf'];
const COLUMNS = [...REQUIRED, 'externalId', 'tags'];

interface Result {
  readonly line: number;
  readonly taxId: string;
  readonly result: 'added' | 'already_there' | 'refused';
  /** Id of one that was added. */
  readonly companyId: string | null;
  readonly error: string | null;
}

export function companyImportCommand(company: Command): void {
  company
    .command('import')
    .description('register the companies of a table (CSV); those that are there stay as they are')
    .argument('<file>', 'titles in its first line; "-" reads standard input')
    .addHelpText(
      'after',
      `\nColumns: ${COLUMNS.join(', ')}; the first three are needed. Several tags stand between "|".` +
        '\nValues between commas or semicolons, in UTF-8.',
    )
    .action(async (file, _options, command: Command) => {
      const lines = readCsv(readText(file), COLUMNS, REQUIRED);
      const api = apiOf(command);
      const results: Result[] = [];
      for (const line of lines) {
        const result = await added(api, line);
        if (wantsJson(command)) printJson(result);
        results.push(result);
      }
      const refused = results.filter(({ result }) => result === 'refused');
      if (!wantsJson(command)) tell(results, refused);
      if (refused.length > 0) throw new CliFailure(`${refused.length} of ${lines.length} companies were refused`);
    });
}

function readText(file: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file === '-' ? 0 : file);
  } catch (error) {
    throw wrongUse(`cannot read ${file} (${(error as NodeJS.ErrnoException).code}): check the path`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw wrongUse(`${file} is not UTF-8: save it as "CSV UTF-8"`);
  }
}

async function added(api: ApiClient, { number, values }: CsvLine): Promise<Result> {
  const { taxId = '', name, uf = '', externalId, tags = '' } = values;
  const done = { line: number, taxId, companyId: null, error: null };
  const body = {
    ...{ taxId, name, uf: uf.toUpperCase() },
    ...(externalId && { externalId }),
    tags: tags
      .split('|')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
  };
  try {
    const { id } = await api.send<{ id: string }>('POST', '/v1/companies', body);
    return { ...done, result: 'added', companyId: id };
  } catch (error) {
    if (!(error instanceof CliFailure)) throw error;
    if (error.code === 'company_exists') return { ...done, result: 'already_there' };
    if (error.code === 'invalid_input') return { ...done, result: 'refused', error: error.message };
    throw error;
  }
}

function tell(results: readonly Result[], refused: readonly Result[]): void {
  const count = (wanted: Result['result']) => results.filter(({ result }) => result === wanted).length;
  print(`${count('added')} added, ${count('already_there')} there already, ${refused.length} refused`);
  if (refused.length === 0) return;
  printTable(
    [
      { title: 'LINE', value: ({ line }) => String(line), right: true },
      { title: 'TAX ID', value: ({ taxId }) => taxId },
      { title: 'WHY', value: ({ error }) => error ?? '–' },
    ],
    refused,
    '',
  );
}
