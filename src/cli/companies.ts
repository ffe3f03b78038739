import type { Command } from 'commander';
import { apiOf } from './api-client.js';
import { collected, limitOption } from './arguments.js';
import { deletionCommands } from './company-deletion.js';
import { companyImportCommand } from './company-import.js';
import { wrongUse } from './failure.js';
import { localTime, printFields, printJson, printList, shortened, shownTaxId, wantsJson } from './output.js';

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
    .requiredOption('--name <name>', 'as you want to see it')
    .requiredOption('--uf <state>', 'its state in two letters, such as SP')
    .option('--external-id <id>', 'your own id of it')
    .option('--tag <tag>', 'may be given several times', collected, [])
    .action(async ({ taxId, name, uf, externalId, tag }, command: Command) => {
      const body = { taxId, name, uf: uf.toUpperCase(), externalId, tags: tag };
      showCompany(await apiOf(command).send<Company>('POST', '/v1/companies', body), command);
    });

  companyImportCommand(company);

  company
    .command('list')
    .description('list companies, newest first')
    .option('--tax-id <taxId>', 'CNPJ or CPF, with or without punctuation')
    .option('--root <root>', 'first 8 characters of a CNPJ, or a CPF')
    .option('--external-id <id>', 'your own id of it')
    .option('--tag <tag>', 'with this tag')
    .addOption(limitOption())
    .action(async ({ limit, ...filter }, command: Command) => {
      printList(command, await apiOf(command).list<Company>('/v1/companies', filter, limit), {
        columns: [
          { title: 'ID', value: ({ id }) => id },
          { title: 'TAX ID', value: ({ taxId }) => shownTaxId(taxId) },
          { title: 'UF', value: ({ uf }) => uf },
          { title: 'NAME', value: ({ name }) => shortened(name) },
          { title: 'TAGS', value: ({ tags }) => tags.join(', ') },
        ],
        none: 'No company. Add one with "malote company add --tax-id … --name … --uf …".',
        limit,
      });
    });

  company
    .command('show')
    .description('show a company')
    .argument('<company>', 'id or tax ID')
    .action(async (idOrTaxId, _options, command: Command) => {
      const api = apiOf(command);
      showCompany(await api.get<Company>(`/v1/companies/${await api.companyId(idOrTaxId)}`), command);
    });

  company
    .command('update')
    .description('change what is given of a company; the rest stays. A tax ID never changes')
    .argument('<company>', 'id or tax ID')
    .option('--name <name>', 'as you want to see it')
    .option('--uf <state>', 'its state in two letters, such as SP')
    .option('--external-id <id>', 'your own id of it')
    .option('--no-external-id', 'without one')
    .option('--tag <tag>', 'may be given several times; they replace the ones before', collected)
    .option('--no-tag', 'without tags')
    .action(async (idOrTaxId, { name, uf, externalId, tag }, command: Command) => {
      const patch = {
        name,
        uf: uf?.toUpperCase(),
        externalId: externalId === false ? null : externalId,
        tags: tag === false ? [] : tag,
      };
      if (Object.values(patch).every((value) => value === undefined)) {
        throw wrongUse('nothing to change: give --name, --uf, --external-id or --tag');
      }
      const api = apiOf(command);
      showCompany(await api.send<Company>('PATCH', `/v1/companies/${await api.companyId(idOrTaxId)}`, patch), command);
    });

  deletionCommands(company, showCompany);
  events(company);
}

interface FeedEvent {
  readonly id: string;
  readonly type: string;
  readonly action: string;
  readonly createdAt: string;
  readonly sequence: number;
}

function events(company: Command): void {
  company
    .command('events')
    .description('what webhooks would tell of a company, in order; --json prints the bodies')
    .argument('<company>', 'id or tax ID')
    .option('--after <sequence>', 'only what came after this sequence; default: from the beginning')
    .addOption(limitOption())
    .action(async (idOrTaxId, { after, limit }, command: Command) => {
      const api = apiOf(command);
      const path = `/v1/companies/${await api.companyId(idOrTaxId)}/events`;
      printList(command, await api.list<FeedEvent>(path, { after }, limit), {
        columns: [
          { title: 'SEQUENCE', value: ({ sequence }) => String(sequence), right: true },
          { title: 'CREATED', value: ({ createdAt }) => localTime(createdAt) },
          { title: 'TYPE', value: ({ type }) => type },
          { title: 'ACTION', value: ({ action }) => action },
          { title: 'ID', value: ({ id }) => id },
        ],
        none: 'No event.',
        limit,
      });
    });
}

function showCompany(company: Company, command: Command): void {
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
