import type { Command } from 'commander';
import { type ApiClient, apiOf } from './api-client.js';
import { collected, dayOrInstant, documentTypeOption, endOf, mostRows, startOf } from './arguments.js';
import { wrongUse } from './failure.js';
import { localTime, print, printFields, printJson, printTable, say, wantsJson } from './output.js';

interface Endpoint {
  readonly id: string;
  readonly url: string;
  readonly status: string;
  readonly events: readonly string[] | null;
  readonly companyIds: readonly string[] | null;
  readonly documentTypes: readonly string[] | null;
  readonly disabledReason: string | null;
  readonly failingSince: string | null;
  readonly description: string | null;
}

interface Resent {
  readonly count: number;
  readonly warnings: readonly { readonly message: string }[];
}

export function webhookCommands(program: Command): void {
  const webhook = program.command('webhook').description('webhook endpoints, and sending again');

  webhook
    .command('add')
    .description('add an endpoint; its secret is shown once')
    .argument('<url>')
    .option('--company <company>', 'only events of this company; may be given several times', collected, [])
    .option('--event <type>', 'only events of this type; may be given several times', collected, [])
    .option('--description <text>')
    .action(async (url, { company, event, description }, command: Command) => {
      const api = apiOf(command);
      const companyIds = await idsOf(api, company);
      const body = {
        url,
        description,
        ...(companyIds.length > 0 && { companyIds }),
        ...(event.length > 0 && { events: event }),
      };
      const made = await api.send<Endpoint & { secret: string }>('POST', '/v1/webhook-endpoints', body);
      if (wantsJson(command)) return printJson(made);
      printFields({ id: made.id, url: made.url, 'secret, shown only now': made.secret });
    });

  webhook
    .command('list')
    .description('list endpoints, newest first')
    .option('--limit <rows>', 'most rows (default 50)', mostRows, 50)
    .action(async ({ limit }, command: Command) => {
      const rows = await apiOf(command).list<Endpoint>('/v1/webhook-endpoints', {}, limit);
      if (wantsJson(command)) return rows.forEach(printJson);
      printTable(
        [
          { title: 'ID', value: ({ id }) => id },
          {
            title: 'STATUS',
            value: ({ status, failingSince }) => (failingSince === null ? status : `${status}, failing`),
          },
          { title: 'EVENTS', value: ({ events }) => events?.join(', ') ?? 'all' },
          { title: 'COMPANIES', value: ({ companyIds }) => String(companyIds?.length ?? 'all'), right: true },
          { title: 'URL', value: ({ url }) => url },
        ],
        rows,
        'No endpoint. Add one with "malote webhook add <url>".',
      );
    });

  webhook
    .command('show')
    .description('show an endpoint')
    .argument('<endpoint>', 'id of "malote webhook list"')
    .action(async (id: string, _options, command: Command) => {
      const endpoint = await apiOf(command).get<Endpoint>(`/v1/webhook-endpoints/${encodeURIComponent(id)}`);
      if (wantsJson(command)) return printJson(endpoint);
      printFields({
        id: endpoint.id,
        url: endpoint.url,
        status: endpoint.status,
        'disabled because': endpoint.disabledReason,
        'failing since': endpoint.failingSince === null ? null : localTime(endpoint.failingSince),
        events: endpoint.events?.join(', ') ?? 'all',
        companies: endpoint.companyIds?.join(', ') ?? 'all',
        'document types': endpoint.documentTypes?.join(', ') ?? 'all',
        description: endpoint.description,
      });
    });

  webhook
    .command('remove')
    .description('delete an endpoint; what was still to be sent there is cancelled')
    .argument('<endpoint>', 'id of "malote webhook list"')
    .action(async (id: string, _options, command: Command) => {
      await apiOf(command).send('DELETE', `/v1/webhook-endpoints/${encodeURIComponent(id)}`);
      if (wantsJson(command)) return printJson({ id, removed: true });
      print('Removed.');
    });

  webhook
    .command('resend')
    .description('send again: one delivery, an access key, or the period of a company')
    .argument('[delivery]', 'id of one delivery')
    .option('--key <key>', 'everything that was told about this access key')
    .option('--company <company>', 'id or tax ID; with --from and --to')
    .option('--from <day>', 'events made on this day or later; days are those of Brasília', dayOrInstant)
    .option('--to <day>', 'events made on this day or before; or before an instant', dayOrInstant)
    .addOption(documentTypeOption())
    .action(async (delivery, { key, company, from, to, type }, command: Command) => {
      const api = apiOf(command);
      const ways = [delivery, key, company].filter((given) => given !== undefined);
      if (ways.length !== 1 || (company !== undefined && (from === undefined || to === undefined))) {
        throw wrongUse('name one of: a delivery, --key, or --company with --from and --to');
      }
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
      for (const { message } of resent.warnings) say(`Warning: ${message}`);
    });
}

async function idsOf(api: ApiClient, companies: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const company of companies) ids.push(await api.companyId(company));
  return ids;
}
