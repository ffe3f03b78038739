import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { MANIFESTATION_RULES, MANIFESTATION_STATUSES } from '../model/manifestation.js';
import { apiOf } from './api-client.js';
import { environmentOption, limitOption } from './arguments.js';
import { CliFailure, wrongUse } from './failure.js';
import {
  type Column,
  localTime,
  printFields,
  printJson,
  printList,
  printTable,
  say,
  sayWarnings,
  type Warning,
  wantsJson,
} from './output.js';

interface Manifestation {
  readonly id: string;
  readonly key: string;
  readonly type: string;
  readonly description: string;
  readonly reasonCode: string | null;
  readonly sequence: number;
  readonly origin: string;
  readonly status: string;
  readonly requestedAt: string;
  readonly nextAttemptAt: string | null;
  readonly deadline: string | null;
  readonly late: boolean;
  readonly statusCode: string | null;
  readonly statusText: string | null;
  readonly protocol: string | null;
  readonly registeredAt: string | null;
}

interface BatchAnswer {
  readonly data: readonly {
    readonly key: string;
    readonly manifestation: Manifestation | null;
    readonly error: { readonly detail: string; readonly errors: readonly { field: string; message: string }[] } | null;
  }[];
  readonly warnings: readonly Warning[];
}

const TYPES = [...MANIFESTATION_RULES.values()].map(({ type, description }) => `  ${type}  ${description}`).join('\n');
/** Items of one request. */
const BATCH = 200;

export function manifestationCommands(program: Command): void {
  const manifest = program.command('manifest').description('say something about received documents');

  manifest
    .command('request')
    .description('request a manifestation of one or more documents; asking twice makes one event')
    .argument('<company>', 'id or tax ID')
    .argument('<keys...>', 'access keys')
    .requiredOption('--type <type>', 'event type, six digits')
    .option('--justification <text>', '15 to 255 characters; for 210240, 610110 and 203206')
    .option(
      '--fields <file>',
      'JSON file with the elements of a Tax Reform event by their XSD names, or the protocol that a 610111 takes back',
    )
    .option('--reason-code <code>', 'of 203206: 1, 2, 3, 4, 5 or 9')
    .option('--confirm', 'required for NFS-e: what is registered cannot be taken back')
    .addOption(environmentOption())
    .addHelpText('after', `\nTypes:\n${TYPES}`)
    .action(
      async (
        company,
        keys,
        { type, justification, fields: file, reasonCode, confirm, environment },
        command: Command,
      ) => {
        const api = apiOf(command);
        const fields = file === undefined ? undefined : fieldsOf(file);
        const path = `/v1/companies/${await api.companyId(company)}/manifestations/batch`;
        let refused = 0;
        for (let from = 0; from < keys.length; from += BATCH) {
          const items = keys
            .slice(from, from + BATCH)
            .map((key: string) => ({ key, type, justification, fields, reasonCode, confirm, environment }));
          const { data, warnings } = await api.send<BatchAnswer>('POST', path, { items });
          refused += data.filter(({ error }) => error !== null).length;
          if (wantsJson(command)) data.forEach(printJson);
          else printAnswers(data);
          sayWarnings(warnings);
        }
        if (refused > 0) throw new CliFailure(`${refused} of ${keys.length} requests were not taken`);
      },
    );

  manifest
    .command('list')
    .description('list manifestations, newest first')
    .option('--company <company>', 'id or tax ID')
    .option('--key <key>', 'access key')
    .option('--type <type>', 'event type, six digits')
    .addOption(new Option('--status <status>', 'only those').choices(MANIFESTATION_STATUSES))
    .addOption(environmentOption())
    .addOption(limitOption())
    .action(async ({ company, key, type, status, environment, limit }, command: Command) => {
      const api = apiOf(command);
      const companyId = company === undefined ? undefined : await api.companyId(company);
      const filter = { companyId, key, type, status, environment };
      const rows = await api.list<Manifestation>('/v1/manifestations', filter, limit);
      printList(command, rows, { columns: COLUMNS, none: 'No manifestation.', limit });
    });

  manifest
    .command('show')
    .description('show what became of one')
    .argument('<manifestation>', 'id of "malote manifest list"')
    .action(async (id, _, command: Command) => {
      const row = await apiOf(command).get<Manifestation>(`/v1/manifestations/${encodeURIComponent(id)}`);
      if (wantsJson(command)) return printJson(row);
      printFields({
        id: row.id,
        key: row.key,
        event: `${row.type} ${row.description}, number ${row.sequence}`,
        reason: row.reasonCode,
        status: statusOf(row),
        answer: answerOf(row),
        protocol: row.protocol,
        'registered at': row.registeredAt && localTime(row.registeredAt),
        'requested at': localTime(row.requestedAt),
        'next attempt': row.nextAttemptAt && localTime(row.nextAttemptAt),
        'in time until': row.deadline && localTime(row.deadline),
      });
    });
}

function printAnswers(data: BatchAnswer['data']): void {
  printTable(
    COLUMNS,
    data.flatMap(({ manifestation }) => (manifestation ? [manifestation] : [])),
    'Nothing was taken.',
  );
  for (const { key, error } of data) {
    if (!error) continue;
    const faults = error.errors.map(({ field, message }) => `${field} ${message}`).join('; ');
    say(`${key}: ${faults || error.detail}`);
  }
}

const COLUMNS: readonly Column<Manifestation>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'KEY', value: ({ key }) => key },
  { title: 'TYPE', value: ({ type }) => type },
  { title: 'STATUS', value: (row) => statusOf(row) },
  { title: 'ANSWER', value: (row) => answerOf(row) ?? '–' },
];

const statusOf = ({ status, late }: Manifestation) => (late ? `${status}, late` : status);
const answerOf = ({ statusCode, statusText }: Manifestation) =>
  [statusCode, statusText].filter((part) => part !== null && part !== '').join(' ') || null;

function fieldsOf(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw wrongUse(
      `--fields: ${file} cannot be read as JSON: ${error instanceof Error ? error.message : 'unknown error'}`,
    );
  }
}
