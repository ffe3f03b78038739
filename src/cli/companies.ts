import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { apiOf } from './api-client.js';
import { collected, mostRows } from './arguments.js';
import { wrongUse } from './failure.js';
import { localTime, printFields, printJson, printTable, say, shortened, shownTaxId, wantsJson } from './output.js';

interface Company {
  readonly id: string;
  readonly taxId: string;
  readonly name: string;
  readonly uf: string;
  readonly externalId: string | null;
  readonly tags: readonly string[];
  readonly createdAt: string;
  readonly deletingAt: string | null;
}

interface Deletion {
  readonly companyId: string;
  readonly status: string;
  readonly dueAt: string;
  readonly finishedAt: string | null;
  readonly rowsDeleted: number;
  readonly objectsDeleted: number;
  readonly warnings?: readonly { readonly message: string }[];
}

export function companyCommands(program: Command): void {
  const company = program.command('company').description('companies that documents are captured for');

  company
    .command('add')
    .description('register a company')
    .requiredOption('--tax-id <taxId>', 'CNPJ or CPF, with or without punctuation')
    .requiredOption('--name <name>')
    .requiredOption('--uf <state>', 'its state in two letters, such as SP')
    .option('--external-id <id>', 'your own id of it')
    .option('--tag <tag>', 'may be given several times', collected, [])
    .action(async ({ taxId, name, uf, externalId, tag }, command: Command) => {
      const body = { taxId, name, uf: uf.toUpperCase(), externalId, tags: tag };
      show(await apiOf(command).send<Company>('POST', '/v1/companies', body), command);
    });

  company
    .command('list')
    .description('list companies, newest first')
    .option('--tax-id <taxId>')
    .option('--root <root>', 'first 8 characters of a CNPJ')
    .option('--external-id <id>')
    .option('--tag <tag>')
    .option('--limit <rows>', 'most rows (default 50)', mostRows, 50)
    .action(async ({ limit, ...filter }, command: Command) => {
      const rows = await apiOf(command).list<Company>('/v1/companies', filter, limit);
      if (wantsJson(command)) return rows.forEach(printJson);
      printTable(
        [
          { title: 'ID', value: ({ id }) => id },
          { title: 'TAX ID', value: ({ taxId }) => shownTaxId(taxId) },
          { title: 'UF', value: ({ uf }) => uf },
          { title: 'NAME', value: ({ name }) => shortened(name) },
          { title: 'TAGS', value: ({ tags }) => tags.join(', ') },
        ],
        rows,
        'No company. Add one with "malote company add --tax-id … --name … --uf …".',
      );
      if (rows.length === limit) say(`The first ${limit}: --limit shows more.`);
    });

  company
    .command('show')
    .description('show a company')
    .argument('<company>', 'id or tax ID')
    .action(async (idOrTaxId, _options, command: Command) => {
      const api = apiOf(command);
      show(await api.get<Company>(`/v1/companies/${await api.companyId(idOrTaxId)}`), command);
    });

  company
    .command('remove')
    .description('delete a company with everything that is kept of it, after 7 days of grace')
    .argument('<company>', 'id or tax ID')
    .option('--confirm <ending>', 'the last 4 characters of its tax ID; asked for on a terminal')
    .option('--immediately', 'without the days of grace: there is no way back')
    .action(async (idOrTaxId, { confirm, immediately }, command: Command) => {
      const api = apiOf(command);
      const { id, name, taxId } = await api.get<Company>(`/v1/companies/${await api.companyId(idOrTaxId)}`);
      const typed = confirm ?? (await typedEnding(`${name} (${shownTaxId(taxId)})`, immediately === true));
      const path = `/v1/companies/${id}?confirm=${encodeURIComponent(typed)}`;
      showDeletion(await api.send<Deletion>('DELETE', path, { immediately: immediately === true }), command);
    });

  company
    .command('deletion')
    .description('show how far the deletion of a company is')
    .argument('<company>', 'its id, which stays valid after the deletion')
    .action(async (idOrTaxId, _options, command: Command) => {
      const api = apiOf(command);
      const id = await api.companyId(
        idOrTaxId,
        'if it was deleted already, only its id is known: "malote company remove" has printed it',
      );
      showDeletion(await api.get<Deletion>(`/v1/companies/${id}/deletion`), command);
    });

  company
    .command('restore')
    .description('take the deletion of a company back while its grace lasts')
    .argument('<company>', 'id or tax ID')
    .action(async (idOrTaxId, _options, command: Command) => {
      const api = apiOf(command);
      const id = await api.companyId(idOrTaxId);
      await api.send('POST', `/v1/companies/${id}/restore`);
      show(await api.get<Company>(`/v1/companies/${id}`), command);
      say('Its captures are stopped: start them with "malote capture start".');
    });
}

/** @throws {CliFailure} wrong use: there is nobody to ask */
async function typedEnding(company: string, immediately: boolean): Promise<string> {
  if (!process.stdin.isTTY) throw wrongUse('a deletion is confirmed: add --confirm <last 4 characters of the tax ID>');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const when = immediately ? 'NOW, without a way back' : 'in 7 days';
    return (
      await terminal.question(`Everything of ${company} is deleted ${when}. Last 4 characters of its tax ID: `)
    ).trim();
  } finally {
    terminal.close();
  }
}

function showDeletion(deletion: Deletion, command: Command): void {
  if (wantsJson(command)) {
    printJson(deletion);
    return;
  }
  printFields({
    company: deletion.companyId,
    deletion: deletion.status,
    'due at': localTime(deletion.dueAt),
    'finished at': deletion.finishedAt === null ? null : localTime(deletion.finishedAt),
    'rows deleted': String(deletion.rowsDeleted),
    'objects deleted': String(deletion.objectsDeleted),
  });
  for (const { message } of deletion.warnings ?? []) say(`Warning: ${message}`);
}

function show(company: Company, command: Command): void {
  if (wantsJson(command)) {
    printJson(company);
    return;
  }
  printFields({
    id: company.id,
    'tax ID': shownTaxId(company.taxId),
    name: company.name,
    UF: company.uf,
    'external id': company.externalId,
    tags: company.tags.join(', '),
    'registered at': localTime(company.createdAt),
    'being deleted since': company.deletingAt === null ? null : localTime(company.deletingAt),
  });
}
