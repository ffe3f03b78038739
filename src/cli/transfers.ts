import type { Command } from 'commander';
import { apiOf } from './api-client.js';
import { dayOrInstant, documentTypeOption, environmentOption } from './arguments.js';
import { CliFailure } from './failure.js';
import { print, printFields, printJson, printTable, say, wantsJson } from './output.js';
import { followed } from './progress.js';

interface Export {
  readonly id: string;
  readonly status: string;
  readonly progress: { readonly documents: number; readonly total: number | null };
  readonly counts: { readonly xmlFiles: number; readonly pdfFiles: number; readonly problems: number };
  readonly file: { readonly size: number; readonly url: string } | null;
}

interface Import {
  readonly id: string;
  readonly status: string;
  readonly error: string | null;
  readonly progress: { readonly files: number; readonly total: number | null };
  readonly counts: Readonly<
    Record<'imported' | 'alreadyThere' | 'notADocument' | 'notOfCompany' | 'unreadable', number>
  >;
}

interface ImportedFile {
  readonly name: string;
  readonly result: string;
  readonly reason: string | null;
}

/** Files of a result or reason that are named one by one at the end of an import. */
const SHOWN = 20;
/** Why a file is no document, where somebody may have meant it to be one. The PDFs and tables of an export are only counted. */
const REFUSED = ['without_protocol', 'unknown_root', 'nested_zip', 'not_xml'];

export function transferCommands(program: Command): void {
  program
    .command('export')
    .description('put the documents of a period into a ZIP file')
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
    .option('-o, --output <file>', 'default: a file named by type and id, here')
    .action(async (company, { type, environment, from, to, pdf, output }, command: Command) => {
      const api = apiOf(command);
      const order = { companyId: await api.companyId(company), documentType: type, environment, from, to, pdf };
      const { id } = await api.send<Export>('POST', '/v1/exports', order);
      const path = `/v1/exports/${id}`;
      const done = await followed(
        () => api.get<Export>(path),
        ({ status, progress: { documents, total } }) => ({
          ...{ done: documents, total, unit: 'documents' },
          over: status !== 'pending' && status !== 'running',
        }),
      );
      if (done.file === null)
        throw new CliFailure(`the export is ${done.status}: the log of the worker says more, by its id ${id}`);
      const file = await api.download(`${path}/file`, output);
      if (wantsJson(command)) return printJson({ ...done, savedAs: file });
      const { xmlFiles, pdfFiles, problems } = done.counts;
      printFields({ file, XML: String(xmlFiles), PDF: pdf ? String(pdfFiles) : undefined });
      if (problems > 0)
        say(`Warning: ${problems} documents could not be read or printed; problemas.csv in the ZIP names each.`);
    });

  program
    .command('import')
    .description('take in documents from ZIP or XML files')
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
        const { id } = await api.upload<Import>('/v1/imports', { companyId, environment, notify }, file);
        const done = await followed(
          () => api.get<Import>(`/v1/imports/${id}`),
          ({ status, progress }) => ({
            ...{ done: progress.files, total: progress.total, unit: 'files' },
            over: status !== 'pending' && status !== 'running',
          }),
        );
        if (done.status !== 'done') failed += 1;
        unreadable += done.counts.unreadable;
        if (wantsJson(command)) printJson(done);
        else await tell(file, done, (filter) => api.list(`/v1/imports/${id}/files`, filter, SHOWN));
      }
      if (failed > 0) throw new CliFailure(`${failed} of ${files.length} files could not be worked off to their end`);
      if (unreadable > 0)
        throw new CliFailure(`${unreadable} of the files inside could not be read; the others were worked off`);
    });
}

async function tell(
  file: string,
  { status, error, counts }: Import,
  list: (filter: { result: string; reason?: string }) => Promise<ImportedFile[]>,
): Promise<void> {
  print(file);
  printFields({
    status: error === null ? status : `${status} (${error})`,
    imported: String(counts.imported),
    'already there': String(counts.alreadyThere),
    'not a document': String(counts.notADocument),
    "not this company's": String(counts.notOfCompany),
    unreadable: String(counts.unreadable),
  });
  const filters = [
    ...(counts.unreadable > 0 ? [{ result: 'unreadable' }] : []),
    ...(counts.notADocument > 0 ? REFUSED.map((reason) => ({ result: 'not_a_document', reason })) : []),
    ...(counts.notOfCompany > 0 ? [{ result: 'not_of_company' }] : []),
  ];
  const left = (await Promise.all(filters.map(list))).flat();
  if (left.length === 0) return;
  printTable(
    [
      { title: 'FILE', value: ({ name }) => name },
      { title: 'RESULT', value: ({ result }) => result },
      { title: 'REASON', value: ({ reason }) => reason ?? '–' },
    ],
    left,
    '',
  );
}
