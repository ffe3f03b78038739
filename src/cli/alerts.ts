import { type Command, Option } from 'commander';
import colors from 'picocolors';
import { ALERT_CODES } from '../model/words.js';
import { apiOf } from './api-client.js';
import { documentTypeOption, limitOption } from './arguments.js';
import { CompanyNames } from './capture-table.js';
import { localTime, printList, say, wantsJson } from './output.js';

interface Alert {
  readonly code: string;
  readonly companyId: string | null;
  readonly documentType: string | null;
  readonly detail: string;
  readonly whatToDo: string | null;
  readonly severity: string;
  readonly openedAt: string;
  readonly closedAt: string | null;
}

export function alertCommands(program: Command): void {
  program
    .command('alert')
    .description('what operators have to look at')
    .command('list')
    .description('list open alerts, newest first. Each closes by itself once its reason is gone')
    .option('--company <company>', 'id or tax ID')
    .addOption(documentTypeOption())
    .addOption(new Option('--code <code>', 'only alerts of this kind').choices(ALERT_CODES))
    .addOption(new Option('--closed', 'those that are over').conflicts('all'))
    .option('--all', 'open ones and those that are over')
    .addOption(limitOption())
    .action(async ({ company, type, code, closed, all, limit }, command: Command) => {
      const api = apiOf(command);
      const companyId = company === undefined ? undefined : await api.companyId(company);
      const open = all ? undefined : closed !== true;
      const rows = await api.list<Alert>('/v1/alerts', { companyId, documentType: type, code, open }, limit);
      const names = new CompanyNames(api);
      if (!wantsJson(command)) await names.learn(rows.flatMap((row) => row.companyId ?? []));
      printList(command, rows, {
        columns: [
          { title: 'SEVERITY', value: shownSeverity },
          { title: 'CODE', value: (row) => row.code },
          { title: 'COMPANY', value: (row) => (row.companyId === null ? '–' : names.of(row.companyId)) },
          { title: 'TYPE', value: ({ documentType }) => documentType ?? '–' },
          { title: 'OPENED', value: ({ openedAt }) => localTime(openedAt) },
          ...(open === true ? [] : [{ title: 'CLOSED', value: ({ closedAt }: Alert) => localTime(closedAt) }]),
          { title: 'WHAT', value: ({ detail }) => detail },
        ],
        none: open === false ? 'No alert has closed.' : open ? 'No alert is open.' : 'No alert.',
        limit,
      });
      if (!wantsJson(command)) sayWhatToDo(rows.filter(({ closedAt }) => closedAt === null));
    });
}

/** Once for each kind: in every row it would hide what differs. */
function sayWhatToDo(open: readonly Alert[]): void {
  const guide = new Map(open.flatMap(({ code, whatToDo }) => (whatToDo === null ? [] : [[code, whatToDo]])));
  for (const [code, whatToDo] of guide) say(`${code}: ${whatToDo}`);
}

function shownSeverity({ severity, closedAt }: Alert): string {
  if (closedAt !== null) return colors.dim(severity);
  return severity === 'critical' ? colors.red(severity) : colors.yellow(severity);
}
