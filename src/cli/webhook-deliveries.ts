import { type Command, Option } from 'commander';
import { DELIVERY_STATUSES } from '../model/words.js';
import { apiOf } from './api-client.js';
import { dayOrInstant, documentTypeOption, endOf, limitOption, startOf } from './arguments.js';
import { wrongUse } from './failure.js';
import {
  localTime,
  print,
  printFields,
  printJson,
  printList,
  printTable,
  say,
  sayWarnings,
  shortened,
  type Warning,
  wantsJson,
} from './output.js';

interface Delivery {
  readonly id: string;
  readonly eventId: string;
  readonly endpointId: string;
  readonly companyId: string;
  readonly type: string | null;
  readonly action: string | null;
  readonly documentId: string | null;
  readonly status: string;
  readonly attempts: number;
  readonly nextAttemptAt: string | null;
  readonly lastStatusCode: number | null;
  readonly lastError: string | null;
  readonly createdAt: string;
  readonly deliveredAt: string | null;
}

interface Attempt {
  readonly at: string;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly durationMs: number;
}

interface Resent {
  readonly count: number;
  readonly warnings: readonly Warning[];
}

const DELIVERY_ID = 'id of "malote webhook deliveries"';

/** What was sent to endpoints, and sending it again. */
export function deliveryCommands(webhook: Command): void {
  webhook
    .command('deliveries')
    .description('list what was or is to be sent, newest first')
    .option('--endpoint <endpoint>', 'only to this one; id of "malote webhook list"')
    .option('--company <company>', 'id or tax ID')
    .option('--document <document>', 'what tells of this one; id of "malote document list"')
    .option('--event <id>', 'the webhook-id')
    .addOption(new Option('--status <status>', 'only those').choices(DELIVERY_STATUSES))
    .addOption(limitOption())
    .action(async ({ endpoint, company, document, event, status, limit }, command: Command) => {
      const api = apiOf(command);
      const companyId = company === undefined ? undefined : await api.companyId(company);
      const filter = { endpointId: endpoint, companyId, documentId: document, eventId: event, status };
      printList(command, await api.list<Delivery>('/v1/webhook-deliveries', filter, limit), {
        columns: [
          { title: 'ID', value: ({ id }) => id },
          { title: 'STATUS', value: (row) => row.status },
          { title: 'TYPE', value: ({ type }) => type ?? '–' },
          { title: 'ATTEMPTS', value: ({ attempts }) => String(attempts), right: true },
          { title: 'CREATED', value: ({ createdAt }) => localTime(createdAt) },
          { title: 'NEXT', value: ({ nextAttemptAt }) => localTime(nextAttemptAt) },
          { title: 'LAST ANSWER', value: (row) => shortened(answerOf(row.lastStatusCode, row.lastError)) },
        ],
        none: 'No delivery.',
        limit,
      });
    });

  webhook
    .command('delivery')
    .description('show one delivery with its attempts')
    .argument('<delivery>', DELIVERY_ID)
    .action(async (id: string, _options, command: Command) => {
      const path = `/v1/webhook-deliveries/${encodeURIComponent(id)}`;
      const delivery = await apiOf(command).get<Delivery & { attemptLog: readonly Attempt[] }>(path);
      if (wantsJson(command)) return printJson(delivery);
      const { nextAttemptAt, deliveredAt } = delivery;
      printFields({
        id: delivery.id,
        'webhook-id': delivery.eventId,
        event: [delivery.type, delivery.action].filter(Boolean).join(', '),
        status: delivery.status,
        endpoint: delivery.endpointId,
        company: delivery.companyId,
        document: delivery.documentId,
        'created at': localTime(delivery.createdAt),
        'delivered at': deliveredAt && localTime(deliveredAt),
        'next attempt': nextAttemptAt && localTime(nextAttemptAt),
      });
      printTable(
        [
          { title: 'ATTEMPT AT', value: ({ at }) => localTime(at) },
          { title: 'MS', value: ({ durationMs }) => String(durationMs), right: true },
          { title: 'ANSWER', value: ({ statusCode, error }) => answerOf(statusCode, error) },
        ],
        delivery.attemptLog,
        'No attempt in the last 30 days.',
      );
    });

  webhook
    .command('resend')
    .description('send again: one delivery, an access key, or the period of a company')
    .argument('[delivery]', DELIVERY_ID)
    .option('--key <key>', 'everything that was told about this access key')
    .option('--company <company>', 'id or tax ID; with --from and --to')
    .option('--from <day>', 'events made on this day or later; days are those of Brasília', dayOrInstant)
    .option('--to <day>', 'events made on this day or before; or before an instant', dayOrInstant)
    .addOption(documentTypeOption())
    .action(async (delivery, options, command: Command) => {
      const api = apiOf(command);
      const { key, company, from, to, type } = options;
      requireOneWay(delivery, options);
      const resent =
        delivery === undefined
          ? await api.send<Resent>(
              'POST',
              '/v1/webhook-deliveries/resend',
              key === undefined
                ? { companyId: await api.companyId(company), from: startOf(from), to: endOf(to), documentType: type }
                : { key },
            )
          : await api.send<Resent>('POST', `/v1/webhook-deliveries/${encodeURIComponent(delivery)}/resend`);
      if (wantsJson(command)) return printJson(resent);
      print(`${resent.count === 1 ? '1 delivery' : `${resent.count} deliveries`} queued again.`);
      if (resent.count === 0 && company !== undefined) {
        const end = to.includes('T') ? `before ${to}` : `up to ${to}, that day included`;
        say(`No event made from ${from} ${end} (days of Brasília) is for an endpoint that is there now.`);
      }
      sayWarnings(resent.warnings);
    });
}

function answerOf(statusCode: number | null, error: string | null): string {
  return [statusCode, error].filter((part) => part !== null).join(' ') || '–';
}

interface Period {
  readonly key?: string;
  readonly company?: string;
  readonly from?: string;
  readonly to?: string;
  readonly type?: string;
}

function requireOneWay(delivery: string | undefined, { key, company, from, to, type }: Period): void {
  const ways = [delivery, key, company].filter((given) => given !== undefined);
  const period = [from, to].filter((given) => given !== undefined);
  if (ways.length !== 1 || (company !== undefined && period.length !== 2)) {
    throw wrongUse('name one of: a delivery, --key, or --company with --from and --to');
  }
  if (company === undefined && (period.length > 0 || type !== undefined)) {
    throw wrongUse('--from, --to and --type go with --company');
  }
}
