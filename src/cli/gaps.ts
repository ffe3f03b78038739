import { type Command, Option } from 'commander';
import { GAP_STATUSES } from '../model/recovery.js';
import { apiOf } from './api-client.js';
import { captureEnvironmentOption, documentTypeOption, limitOption } from './arguments.js';
import { localTime, print, printJson, printList, say, sayWarnings, type Warning, wantsJson } from './output.js';

interface Gap {
  readonly id: string;
  readonly fromNsu: string;
  readonly toNsu: string;
  readonly status: string;
  readonly cause: string;
  readonly attempts: number;
  readonly nextAttemptAt: string | null;
  readonly lastStatusCode: string | null;
}

export function gapCommands(program: Command): void {
  const gaps = program.command('gaps').description('numbers that should exist and did not come');

  gaps
    .command('list')
    .description('missing numbers of a company, in their order')
    .argument('<company>', 'id or tax ID')
    .addOption(documentTypeOption().default('nfe'))
    .addOption(captureEnvironmentOption())
    .addOption(new Option('--status <status>', 'only those').choices(GAP_STATUSES))
    .addOption(limitOption())
    .action(async (idOrTaxId, { type, environment, status, limit }, command: Command) => {
      const api = apiOf(command);
      const path = `/v1/companies/${await api.companyId(idOrTaxId)}/captures/${type}/gaps`;
      printList(command, await api.list<Gap>(path, { environment, status }, limit), {
        columns: [
          { title: 'ID', value: ({ id }) => id },
          { title: 'NUMBERS', value: numbersOf, right: true },
          { title: 'STATUS', value: ({ status: of }) => of },
          { title: 'CAUSE', value: ({ cause }) => cause },
          { title: 'ATTEMPTS', value: ({ attempts }) => String(attempts), right: true },
          { title: 'ANSWER', value: ({ lastStatusCode }) => lastStatusCode ?? '–', right: true },
          { title: 'NEXT', value: ({ nextAttemptAt }) => localTime(nextAttemptAt) },
        ],
        none: 'Nothing is missing.',
        limit,
      });
    });

  gaps
    .command('recover')
    .description('ask for a missing number, or for every number of a range, from now on')
    .argument('<company>', 'id or tax ID')
    .argument('<gap>', 'id of "malote gaps list"')
    .addOption(documentTypeOption().default('nfe'))
    .addOption(captureEnvironmentOption())
    .action(async (idOrTaxId, gap, { type, environment }, command: Command) => {
      const api = apiOf(command);
      const path = `/v1/companies/${await api.companyId(idOrTaxId)}/captures/${type}/gaps/${encodeURIComponent(gap)}/recover`;
      const answer = await api.send<Gap & { warnings: readonly Warning[] }>('POST', path, undefined, { environment });
      if (wantsJson(command)) printJson(answer);
      else print(`${numbersOf(answer)} is asked for from now on, 20 documents an hour at most.`);
      sayWarnings(answer.warnings);
    });

  gaps
    .command('run')
    .description('look for missing numbers of all captures now, as every night at 23:00 in São Paulo')
    .action(async (_options, command: Command) => {
      const answer = await apiOf(command).send<{ started: true }>('POST', '/v1/gaps/run');
      if (wantsJson(command)) printJson(answer);
      else say('Looking for missing numbers. "malote gaps list <company>" shows what is found.');
    });
}

function numbersOf({ fromNsu, toNsu }: Gap): string {
  const [from, to] = [BigInt(fromNsu), BigInt(toNsu)];
  return from === to ? `${from}` : `${from}–${to}`;
}
