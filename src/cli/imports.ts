import type { Command } from 'commander';
import { type ApiClient, apiOf } from './api-client.js';
import { environmentOption, limitOption } from './arguments.js';
import { CompanyNames } from './capture-table.js';
import { CliFailure } from './failure.js';
import {
  type Column,
  localTime,
  print,
  printFields,
  printJson,
  printList,
  printTable,
  sayWarnings,
  type Warning,
  wantsJson,
} from './output.js';
import { followed } from './progress.js';

interface Import {
  readonly id: string;
  readonly companyId: string;
  readonly fileName: string | null;
  readonly status: string;
  readonly error: string | null;
  readonly progress: { readonly files: number; readonly total: number | null };
  readonly counts: Readonly<
    Record<'imported' | 'alreadyThere' | 'notADocument' | 'notOfCompany' | 'unreadable', number>
  >;
  readonly createdAt: string;
}

type Ordered = Import & { readonly warnings: readonly Warning[] };

interface ImportedFile {
  readonly name: string;
  readonly result: string;
  readonly reason: string | null;
  readonly documentId: string | null;
}

const IMPORT_ID = 'id of "malote import list"';
/** Files of a result or reason that are named one by one at the end of an import. */
const SHOWN = 20;
/** Why a file is no document, where somebody may have meant it to be one. The PDFs and tables of an export are only counted. */
const REFUSED = ['without_protocol', 'unknown_root', 'nested_zip', 'not_xml'];

export function importCommands(program: Command): void {
  const group = program
    .command('import')
    .description('take in documents from ZIP or XML files')
    .usage('<company> <files...> | [command]');
  start(group);

  group
    .command('list')
    .description('list imports, newest first')
    .option('--company <company>', 'id or tax ID')
    .option('--status <status>', 'pending, running, done or failed')
    .addOption(limitOption())
    .action(async ({ company, status, limit }, command: Command) => {
      const api = apiOf(command);
      const companyId = company === undefined ? undefined : await api.companyId(company);
      const rows = await api.list<Import>('/v1/imports', { companyId, status }, limit);
      const names = new CompanyNames(api);
      if (!wantsJson(command)) await names.learn(rows.map((row) => row.companyId));
      printList(command, rows, {
        columns: [
          { title: 'ID', value: ({ id }) => id },
          { title: 'COMPANY', value: (row) => names.of(row.companyId) },
          { title: 'STATUS', value: statusOf },
          { title: 'FILES', value: filesOf, right: true },
          { title: 'IMPORTED', value: ({ counts }) => String(counts.imported), right: true },
          { title: 'MADE', value: ({ createdAt }) => localTime(createdAt) },
          { title: 'FILE', value: ({ fileName }) => fileName ?? '–' },
        ],
        none: 'No import. Start one with "malote import <company> <files>".',
        limit,
      });
    });

  group
    .command('show')
    .description('show how far an import is, and what became of its files')
    .argument('<import>', IMPORT_ID)
    .action(async (id: string, _options, command: Command) => {
      const found = await apiOf(command).get<Import>(pathOf(id));
      if (wantsJson(command)) printJson(found);
      else printCounts(found);
    });

  group
    .command('files')
    .description('what became of each file, in the order of the ZIP')
    .argument('<import>', IMPORT_ID)
    .option('--result <result>', 'imported, already_there, not_a_document, not_of_company or unreadable')
    .option('--reason <reason>', 'only those; docs/exports.md explains each')
    .addOption(limitOption())
    .action(async (id: string, { result, reason, limit }, command: Command) => {
      const rows = await apiOf(command).list<ImportedFile>(`${pathOf(id)}/files`, { result, reason }, limit);
      const columns = [...COLUMNS, { title: 'DOCUMENT', value: (row: ImportedFile) => row.documentId ?? '–' }];
      printList(command, rows, { columns, none: 'No such file.', limit });
    });
}

function start(group: Command): void {
  group
    .command('start', { isDefault: true })
    .description('take in files, one after the other, and wait; the word "start" can be left out')
    .argument('<company>', 'id or tax ID')
    .argument('<files...>', 'ZIP or XML files')
    .addOption(environmentOption())
    .option('--notify', 'send webhooks of what is imported')
    .action(async (company, files: string[], { environment, notify }, command: Command) => {
      const api = apiOf(command);
      const companyId = await api.companyId(company);
      let failed = 0;
      let unreadable = 0;
      for (const file of files) {
        const done = await imported(api, { companyId, environment, notify }, file);
        if (done.status !== 'done') failed += 1;
        unreadable += done.counts.unreadable;
        if (wantsJson(command)) printJson(done);
        else await tell(file, done, (filter) => api.list(`${pathOf(done.id)}/files`, filter, SHOWN));
      }
      if (failed > 0) throw new CliFailure(`${failed} of ${files.length} files could not be worked off to their end`);
      if (unreadable > 0)
        throw new CliFailure(`${unreadable} of the files inside could not be read; the others were worked off`);
    });
}

/** Uploads a file and waits for what becomes of it. */
async function imported(
  api: ApiClient,
  order: { readonly companyId: string; readonly environment?: string; readonly notify?: boolean },
  file: string,
): Promise<Import> {
  const { id, warnings } = await api.upload<Ordered>('/v1/imports', order, file);
  sayWarnings(warnings);
  return followed(
    () => api.get<Import>(pathOf(id)),
    ({ status, progress }) => ({
      ...{ done: progress.files, total: progress.total, unit: 'files' },
      over: status !== 'pending' && status !== 'running',
    }),
  );
}

const COLUMNS: readonly Column<ImportedFile>[] = [
  { title: 'FILE', value: ({ name }) => name },
  { title: 'RESULT', value: ({ result }) => result },
  { title: 'REASON', value: ({ reason }) => reason ?? '–' },
];

async function tell(
  file: string,
  done: Import,
  list: (filter: { result: string; reason?: string }) => Promise<ImportedFile[]>,
): Promise<void> {
  print(file);
  printCounts(done);
  const { counts } = done;
  const filters = [
    ...(counts.unreadable > 0 ? [{ result: 'unreadable' }] : []),
    ...(counts.notADocument > 0 ? REFUSED.map((reason) => ({ result: 'not_a_document', reason })) : []),
    ...(counts.notOfCompany > 0 ? [{ result: 'not_of_company' }] : []),
  ];
  const left = (await Promise.all(filters.map(list))).flat();
  if (left.length > 0) printTable(COLUMNS, left, '');
}

function printCounts(done: Import): void {
  const { counts } = done;
  printFields({
    id: done.id,
    status: statusOf(done),
    files: filesOf(done),
    imported: String(counts.imported),
    'already there': String(counts.alreadyThere),
    'not a document': String(counts.notADocument),
    "not this company's": String(counts.notOfCompany),
    unreadable: String(counts.unreadable),
  });
}

function statusOf({ status, error }: Import): string {
  return error === null ? status : `${status} (${error.replaceAll('_', ' ')})`;
}

function filesOf({ progress: { files, total } }: Import): string {
  return total === null || total === files ? String(files) : `${files} of ${total}`;
}

function pathOf(id: string): string {
  return `/v1/imports/${encodeURIComponent(id)}`;
}
