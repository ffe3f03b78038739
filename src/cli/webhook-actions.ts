import { type Command, Option } from 'commander';
import { apiOf } from './api-client.js';
import { instantArgument } from './arguments.js';
import { CliFailure } from './failure.js';
import { localTime, printFields, printJson, say, sayWarnings, type Warning, wantsJson } from './output.js';
import { ENDPOINT_ID, type Endpoint, endpointPath, showEndpoint } from './webhook-endpoint.js';

interface TestResult {
  readonly delivered: boolean;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly durationMs: number;
  readonly response: string | null;
}

/** What can be done with an endpoint. */
export function webhookActionCommands(webhook: Command): void {
  webhook
    .command('test')
    .description('send one signed test event now, and tell how it went; nothing is stored or tried again')
    .argument('<endpoint>', ENDPOINT_ID)
    .action(async (id: string, _options, command: Command) => {
      const result = await apiOf(command).send<TestResult>('POST', `${endpointPath(id)}/test`);
      const { delivered, statusCode, error, durationMs, response } = result;
      if (wantsJson(command)) printJson(result);
      else
        printFields({
          delivered: delivered ? 'yes' : 'no',
          status: statusCode === null ? 'no answer' : String(statusCode),
          error,
          'took ms': String(durationMs),
          answer: response,
        });
      if (!delivered)
        throw new CliFailure('the test event was not delivered: the receiver has to answer 2xx within 15 s');
    });

  webhook
    .command('enable')
    .description('enable a disabled endpoint, and choose which of the events that were held meanwhile are sent')
    .argument('<endpoint>', ENDPOINT_ID)
    .addOption(new Option('--replay <events>', 'which of the held events').choices(['all', 'none']).default('all'))
    .addOption(
      new Option('--since <instant>', 'only those made since; a day begins in Brasília')
        .argParser(instantArgument)
        .conflicts('replay'),
    )
    .action(async (id: string, { replay, since }, command: Command) => {
      const order = { replay: since === undefined ? replay : { since } };
      const path = `${endpointPath(id)}/enable`;
      const endpoint = await apiOf(command).send<Endpoint & { warnings: readonly Warning[] }>('POST', path, order);
      showEndpoint(endpoint, command);
      if (!wantsJson(command)) sayWarnings(endpoint.warnings);
    });

  webhook
    .command('rotate-secret')
    .description('make a new secret, which is shown once; the one before stays valid for 24 hours')
    .argument('<endpoint>', ENDPOINT_ID)
    .action(async (id: string, _options, command: Command) => {
      const path = `${endpointPath(id)}/rotate-secret`;
      const endpoint = await apiOf(command).send<Endpoint & { secret: string }>('POST', path);
      if (wantsJson(command)) return printJson(endpoint);
      printFields({ id: endpoint.id, url: endpoint.url, 'secret, shown only now': endpoint.secret });
      const { previousSecretUntil: until } = endpoint;
      if (until !== null) say(`Until ${localTime(until)} every message is signed with the secret before, too.`);
    });
}
