import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { apiOf } from './api-client.js';
import { wrongUse } from './failure.js';
import { localTime, printFields, printJson, say, sayWarnings, shownTaxId, type Warning, wantsJson } from './output.js';

interface Deletion {
  readonly companyId: string;
  readonly status: string;
  readonly requestedAt: string;
  readonly dueAt: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly rowsDeleted: number;
  readonly objectsDeleted: number;
  readonly warnings?: readonly Warning[];
}

/** @param show prints a company */
export function deletionCommands<
  Company extends { readonly id: string; readonly name: string; readonly taxId: string },
>(company: Command, show: (company: Company, command: Command) => void): void {
  company
    .command('remove')
    .description('delete a company with everything that is kept of it, after 7 days of grace')
    .argument('<company>', 'id or tax ID')
    .option('--confirm <ending>', 'the last 4 characters of its tax ID; asked for on a terminal')
    .option('--immediately', 'without the days of grace: there is no way back')
    .action(async (idOrTaxId, { confirm, immediately }, command: Command) => {
      const api = apiOf(command);
      const { id, name, taxId } = await api.get<Company>(`/v1/companies/${await api.companyId(idOrTaxId)}`);
      const typed = confirm ?? (await typedEnding(`${name} (${shownTaxId(taxId)})`, immediately === true));
      const path = `/v1/companies/${id}?confirm=${encodeURIComponent(typed)}`;
      showDeletion(await api.send<Deletion>('DELETE', path, { immediately: immediately === true }), command);
    });

  company
    .command('deletion')
    .description('show how far the deletion of a company is')
    .argument('<company>', 'its id, which stays valid after the deletion')
    .action(async (idOrTaxId, _options, command: Command) => {
      const api = apiOf(command);
      const id = await api.companyId(
        idOrTaxId,
        'if it was deleted already, only its id is known: "malote company remove" has printed it',
      );
      showDeletion(await api.get<Deletion>(`/v1/companies/${id}/deletion`), command);
    });

  company
    .command('restore')
    .description('take the deletion of a company back while its grace lasts')
    .argument('<company>', 'id or tax ID')
    .action(async (idOrTaxId, _options, command: Command) => {
      const api = apiOf(command);
      const id = await api.companyId(idOrTaxId);
      await api.send('POST', `/v1/companies/${id}/restore`);
      show(await api.get<Company>(`/v1/companies/${id}`), command);
      say('Its captures are stopped: start them with "malote capture start".');
    });
}

/** @throws {CliFailure} wrong use: there is nobody to ask */
async function typedEnding(company: string, immediately: boolean): Promise<string> {
  if (!process.stdin.isTTY) throw wrongUse('a deletion is confirmed: add --confirm <last 4 characters of the tax ID>');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const when = immediately ? 'NOW, without a way back' : 'in 7 days';
    return (
      await terminal.question(`Everything of ${company} is deleted ${when}. Last 4 characters of its tax ID: `)
    ).trim();
  } finally {
    terminal.close();
  }
}

function showDeletion(deletion: Deletion, command: Command): void {
  if (wantsJson(command)) {
    printJson(deletion);
    return;
  }
  const { startedAt, finishedAt } = deletion;
  printFields({
    company: deletion.companyId,
    deletion: deletion.status,
    'asked for at': localTime(deletion.requestedAt),
    'due at': localTime(deletion.dueAt),
    'started at': startedAt === null ? null : localTime(startedAt),
    'finished at': finishedAt === null ? null : localTime(finishedAt),
    'rows deleted': String(deletion.rowsDeleted),
    'objects deleted': String(deletion.objectsDeleted),
  });
  sayWarnings(deletion.warnings ?? []);
}
