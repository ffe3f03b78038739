import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { apiOf } from './api-client.js';
import { limitOption } from './arguments.js';
import { CompanyNames } from './capture-table.js';
import { printList, wantsJson } from './output.js';

interface Usage {
  readonly companyId: string;
  readonly documentType: string;
  readonly documents: number;
  readonly kinds: Readonly<Record<string, number>>;
}

export function usageCommand(program: Command): void {
  program
    .command('usage')
    .description('documents of a month per company and type; a document counts when its webhook becomes due')
    .option('--month <month>', 'such as 2026-11, by the clock of Brasília; default: the current one', month)
    .option('--company <company>', 'id or tax ID')
    .addOption(limitOption())
    .action(async ({ month: of, company, limit }, command: Command) => {
      const api = apiOf(command);
      const companyId = company === undefined ? undefined : await api.companyId(company);
      const rows = await api.list<Usage>('/v1/usage', { month: of, companyId }, limit);
      const names = new CompanyNames(api);
      if (!wantsJson(command)) await names.learn(rows.map((row) => row.companyId));
      printList(command, rows, {
        columns: [
          { title: 'COMPANY', value: (row) => names.of(row.companyId) },
          { title: 'TYPE', value: ({ documentType }) => documentType },
          { title: 'DOCUMENTS', value: ({ documents }) => String(documents), right: true },
          {
            title: 'KINDS',
            value: ({ kinds }) =>
              Object.entries(kinds)
                .map((one) => one.join(' '))
                .join(', '),
          },
        ],
        none: `No document counts in ${of ?? 'the current month'}.`,
        limit,
      });
    });
}

function month(text: string): string {
  if (!/^(?!0000)\d{4}-(0[1-9]|1[0-2])$/.test(text))
    throw new InvalidArgumentError('Expected a month such as 2026-11.');
  return text;
}
