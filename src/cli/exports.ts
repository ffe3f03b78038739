import { type Command, Option } from 'commander';
import { EXPORT_STATUSES } from '../model/words.js';
import { type ApiClient, apiOf } from './api-client.js';
import { dayOrInstant, documentTypeOption, environmentOption, limitOption } from './arguments.js';
import { CompanyNames } from './capture-table.js';
import { CliFailure } from './failure.js';
import { localTime, printFields, printJson, printList, say, sayWarnings, type Warning, wantsJson } from './output.js';
import { followed } from './progress.js';

interface Export {
  readonly id: string;
  readonly companyId: string;
  readonly documentType: string;
  readonly environment: string;
  readonly from: string;
  readonly to: string;
  readonly status: string;
  readonly progress: { readonly documents: number; readonly total: number | null };
  readonly counts: { readonly xmlFiles: number; readonly pdfFiles: number; readonly problems: number };
  readonly file: { readonly size: number; readonly url: string; readonly expiresAt: string } | null;
  readonly createdAt: string;
  readonly finishedAt: string | null;
}

type Ordered = Export & { readonly warnings: readonly Warning[] };

const EXPORT_ID = 'id of "malote export list"';

export function exportCommands(program: Command): void {
  const group = program
    .command('export')
    .description('put the documents of a period into a ZIP file')
    .usage('<company> --from <day> --to <day> | [command]');
  start(group);

  group
    .command('list')
    .description('list exports, newest first')
    .option('--company <company>', 'id or tax ID')
    .addOption(documentTypeOption())
    .addOption(environmentOption())
    .addOption(new Option('--status <status>', 'only those').choices(EXPORT_STATUSES))
    .addOption(limitOption())
    .action(async ({ company, type, environment, status, limit }, command: Command) => {
      const api = apiOf(command);
      const companyId = company === undefined ? undefined : await api.companyId(company);
      const rows = await api.list<Export>('/v1/exports', { companyId, documentType: type, environment, status }, limit);
      const names = new CompanyNames(api);
      if (!wantsJson(command)) await names.learn(rows.map((row) => row.companyId));
      printList(command, rows, {
        columns: [
          { title: 'ID', value: ({ id }) => id },
          { title: 'COMPANY', value: (row) => names.of(row.companyId) },
          { title: 'TYPE', value: ({ documentType }) => documentType },
          { title: 'STATUS', value: (row) => row.status },
          { title: 'DOCUMENTS', value: documentsOf, right: true },
          { title: 'MADE', value: ({ createdAt }) => localTime(createdAt) },
          { title: 'FILE UNTIL', value: ({ file }) => localTime(file?.expiresAt ?? null) },
        ],
        none: 'No export. Start one with "malote export <company> --from … --to …".',
        limit,
      });
    });

  group
    .command('show')
    .description('show how far an export is, with a link to its file that needs no key')
    .argument('<export>', EXPORT_ID)
    .action(async (id: string, _options, command: Command) => {
      show(await apiOf(command).get<Export>(pathOf(id)), command);
    });

  group
    .command('download')
    .description('save the file of an export that is done')
    .argument('<export>', EXPORT_ID)
    .option('-o, --output <file>', 'default: a file named by type and id, here')
    .action(async (id: string, { output }, command: Command) => {
      const savedAs = await apiOf(command).download(`${pathOf(id)}/file`, output);
      if (wantsJson(command)) return printJson({ id, savedAs });
      printFields({ file: savedAs });
    });

  group
    .command('cancel')
    .description('cancel an export; of one that is done, delete its file')
    .argument('<export>', EXPORT_ID)
    .action(async (id: string, _options, command: Command) => {
      const answer = await apiOf(command).send<Ordered>('DELETE', pathOf(id));
      show(answer, command);
      if (!wantsJson(command)) sayWarnings(answer.warnings);
    });
}

function start(group: Command): void {
  group
    .command('start', { isDefault: true })
    .description('start one, wait, and save its file; the word "start" can be left out')
    .argument('<company>', 'id or tax ID')
    .addOption(documentTypeOption().default('nfe'))
    .addOption(environmentOption())
    .requiredOption(
      '--from <day>',
      'issued on this day or later, such as 2026-11-01; days are those of Brasília',
      dayOrInstant,
    )
    .requiredOption(
      '--to <day>',
      'issued on this day or before, such as 2026-11-30; or before an instant',
      dayOrInstant,
    )
    .option('--pdf', 'with a PDF beside each XML that has a printed form')
    .option('--no-wait', 'only start it: "malote export download" saves its file later')
    .option('-o, --output <file>', 'default: a file named by type and id, here')
    .action(async (company, { type, environment, from, to, pdf, wait, output }, command: Command) => {
      const api = apiOf(command);
      const order = { companyId: await api.companyId(company), documentType: type, environment, from, to, pdf };
      const started = await api.send<Ordered>('POST', '/v1/exports', order);
      sayWarnings(started.warnings);
      if (wait === false) return show(started, command);
      const { done, savedAs } = await finished(api, started, output);
      if (wantsJson(command)) return printJson({ ...done, savedAs });
      const { xmlFiles, pdfFiles, problems } = done.counts;
      printFields({ file: savedAs, XML: String(xmlFiles), PDF: pdf ? String(pdfFiles) : undefined });
      if (problems > 0)
        say(`Warning: ${problems} documents could not be read or printed; problemas.csv in the ZIP names each.`);
    });
}

/** Waits for an export and saves its file. */
async function finished(api: ApiClient, { id }: Export, output?: string): Promise<{ done: Export; savedAs: string }> {
  const done = await followed(
    () => api.get<Export>(pathOf(id)),
    ({ status, progress: { documents, total } }) => ({
      ...{ done: documents, total, unit: 'documents' },
      over: status !== 'pending' && status !== 'running',
    }),
  );
  if (done.file === null)
    throw new CliFailure(`the export is ${done.status}: the log of the worker says more, by its id ${id}`);
  return { done, savedAs: await api.download(`${pathOf(id)}/file`, output) };
}

function pathOf(id: string): string {
  return `/v1/exports/${encodeURIComponent(id)}`;
}

function documentsOf({ progress: { documents, total } }: Export): string {
  return total === null || total === documents ? String(documents) : `${documents} of ${total}`;
}

function show(row: Export, command: Command): void {
  if (wantsJson(command)) {
    printJson(row);
    return;
  }
  const { counts, file, finishedAt } = row;
  printFields({
    id: row.id,
    company: row.companyId,
    type: `${row.documentType}, ${row.environment}`,
    from: localTime(row.from),
    'to, not included': localTime(row.to),
    status: row.status,
    documents: documentsOf(row),
    files: `${counts.xmlFiles} XML, ${counts.pdfFiles} PDF`,
    'not read or printed': counts.problems === 0 ? null : String(counts.problems),
    'made at': localTime(row.createdAt),
    'finished at': finishedAt && localTime(finishedAt),
    'file until': file && localTime(file.expiresAt),
    'link, 15 minutes': file?.url,
  });
}
