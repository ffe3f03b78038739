import { type Command, Option } from 'commander';
import { apiOf } from './api-client.js';
import { collected, limitOption } from './arguments.js';
import { wrongUse } from './failure.js';
import { print, printFields, printJson, printList, wantsJson } from './output.js';
import { webhookActionCommands } from './webhook-actions.js';
import { deliveryCommands } from './webhook-deliveries.js';
import { ENDPOINT_ID, type Endpoint, endpointPath, showEndpoint } from './webhook-endpoint.js';

export function webhookCommands(program: Command): void {
  const webhook = program.command('webhook').description('webhook endpoints, and what is sent to them');
  add(webhook);
  list(webhook);
  show(webhook);
  update(webhook);
  webhookActionCommands(webhook);

  webhook
    .command('remove')
    .description('delete an endpoint; what was still to be sent there is cancelled')
    .argument('<endpoint>', ENDPOINT_ID)
    .action(async (id: string, _options, command: Command) => {
      await apiOf(command).send('DELETE', endpointPath(id));
      if (wantsJson(command)) return printJson({ id, removed: true });
      print('Removed.');
    });

  deliveryCommands(webhook);
}

function add(webhook: Command): void {
  webhook
    .command('add')
    .description('add an endpoint; its secret is shown once')
    .argument('<url>', 'where to send; https, on the public internet')
    .option('--company <company>', 'only events of this company; may be given several times', collected, [])
    .option('--event <type>', 'only events of this type; may be given several times', collected, [])
    .option('--type <type>', 'only events of this document type; may be given several times', collected, [])
    .option('--description <text>', 'for people')
    .action(async (url, { company, event, type, description }, command: Command) => {
      const api = apiOf(command);
      const companyIds = await api.companyIds(company);
      const body = {
        url,
        description,
        ...(companyIds.length > 0 && { companyIds }),
        ...(event.length > 0 && { events: event }),
        ...(type.length > 0 && { documentTypes: type }),
      };
      const made = await api.send<Endpoint & { secret: string }>('POST', '/v1/webhook-endpoints', body);
      if (wantsJson(command)) return printJson(made);
      printFields({ id: made.id, url: made.url, 'secret, shown only now': made.secret });
    });
}

function list(webhook: Command): void {
  webhook
    .command('list')
    .description('list endpoints, newest first')
    .option('--company <company>', 'id or tax ID; only those that are limited to companies, this one among them')
    .addOption(new Option('--status <status>', 'only those').choices(['enabled', 'disabled']))
    .addOption(limitOption())
    .action(async ({ company, status, limit }, command: Command) => {
      const api = apiOf(command);
      const companyId = company === undefined ? undefined : await api.companyId(company);
      printList(command, await api.list<Endpoint>('/v1/webhook-endpoints', { companyId, status }, limit), {
        columns: [
          { title: 'ID', value: ({ id }) => id },
          { title: 'STATUS', value: (row) => (row.failingSince === null ? row.status : `${row.status}, failing`) },
          { title: 'EVENTS', value: ({ events }) => events?.join(', ') ?? 'all' },
          { title: 'COMPANIES', value: ({ companyIds }) => String(companyIds?.length ?? 'all'), right: true },
          { title: 'URL', value: ({ url }) => url },
        ],
        none: 'No endpoint. Add one with "malote webhook add <url>".',
        limit,
      });
    });
}

function show(webhook: Command): void {
  webhook
    .command('show')
    .description('show an endpoint')
    .argument('<endpoint>', ENDPOINT_ID)
    .action(async (id: string, _options, command: Command) => {
      showEndpoint(await apiOf(command).get<Endpoint>(endpointPath(id)), command);
    });
}

function update(webhook: Command): void {
  webhook
    .command('update')
    .description('change what is given of an endpoint; the rest stays')
    .argument('<endpoint>', ENDPOINT_ID)
    .option('--url <url>', 'where to send, also what was queued before')
    .option('--company <company>', 'only events of this company; may be given several times', collected)
    .option('--no-company', 'events of all companies')
    .option('--event <type>', 'only events of this type; may be given several times', collected)
    .option('--no-event', 'events of all types')
    .option('--description <text>', 'for people')
    .option('--no-description', 'without one')
    .action(async (id: string, { url, company, event, description }, command: Command) => {
      const api = apiOf(command);
      const patch = {
        url,
        companyIds: company === false ? null : company && (await api.companyIds(company)),
        events: event === false ? null : event,
        description: description === false ? null : description,
      };
      if (Object.values(patch).every((value) => value === undefined)) {
        throw wrongUse('nothing to change: give --url, --company, --event or --description');
      }
      showEndpoint(await api.send<Endpoint>('PATCH', endpointPath(id), patch), command);
    });
}
