import { type Command, Option } from 'commander';
import { apiOf } from './api-client.js';
import { collected, limitOption } from './arguments.js';
import { wrongUse } from './failure.js';
import { localTime, print, printFields, printJson, printList, shortened, wantsJson } from './output.js';

interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly companyIds: readonly string[] | null;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  readonly revokedAt: string | null;
}

export function apiKeyCommands(program: Command): void {
  const key = program
    .command('api-key')
    .description('API keys, one per program that asks; needs a key with scope admin');

  key
    .command('add')
    .description('make a key; it is shown once')
    .argument('<name>', 'who or what uses it')
    .addOption(
      new Option('--scope <scope>', 'read, manage (includes read) or admin (includes both)')
        .choices(['read', 'manage', 'admin'])
        .makeOptionMandatory(),
    )
    .option('--company <company>', 'only for this company; may be given several times; default: all', collected, [])
    .action(async (name, { scope, company }, command: Command) => {
      const api = apiOf(command);
      const companyIds = await api.companyIds(company);
      const body = { name, scopes: [scope], ...(companyIds.length > 0 && { companyIds }) };
      const made = await api.send<ApiKey & { key: string }>('POST', '/v1/api-keys', body);
      if (wantsJson(command)) return printJson(made);
      printFields({
        id: made.id,
        name: made.name,
        scopes: made.scopes.join(', '),
        companies: made.companyIds?.join(', ') ?? 'all',
        'key, shown only now': made.key,
      });
    });

  key
    .command('list')
    .description('list keys, newest first, revoked ones included. The one of MALOTE_API_KEY is none of them')
    .addOption(limitOption())
    .action(async ({ limit }, command: Command) => {
      printList(command, await apiOf(command).list<ApiKey>('/v1/api-keys', {}, limit), {
        columns: [
          { title: 'ID', value: ({ id }) => id },
          { title: 'NAME', value: ({ name }) => shortened(name) },
          { title: 'SCOPES', value: ({ scopes }) => scopes.join(', ') },
          { title: 'COMPANIES', value: ({ companyIds }) => String(companyIds?.length ?? 'all'), right: true },
          { title: 'MADE', value: ({ createdAt }) => localTime(createdAt) },
          { title: 'LAST USED', value: ({ lastUsedAt }) => localTime(lastUsedAt) },
          { title: 'REVOKED', value: ({ revokedAt }) => localTime(revokedAt) },
        ],
        none: 'No key. Make one with "malote api-key add <name> --scope read".',
        limit,
      });
    });

  key
    .command('revoke')
    .description('revoke a key, from its next request on')
    .argument('<key>', 'id of "malote api-key list", not the key itself')
    .action(async (id: string, _options, command: Command) => {
      // It would stand in logs from then on.
      if (id.startsWith('mlt_')) throw wrongUse('this is a key itself: name it by its id of "malote api-key list"');
      await apiOf(command).send('DELETE', `/v1/api-keys/${encodeURIComponent(id)}`);
      if (wantsJson(command)) return printJson({ id, revoked: true });
      print('Revoked.');
    });
}
