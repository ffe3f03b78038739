import type { Command } from 'commander';
import { apiOf } from './api-client.js';
import { collected, mostRows } from './arguments.js';
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
