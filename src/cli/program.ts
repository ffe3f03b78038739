import { Command } from 'commander';
import { VERSION } from '../platform/version.js';
import { captureCommands } from './captures.js';
import { certificateCommands } from './certificates.js';
import { companyCommands } from './companies.js';
import { documentCommands } from './documents.js';
import { gapCommands } from './gaps.js';
import { manifestationCommands } from './manifestations.js';
import { systemCommands } from './system.js';
import { webhookCommands } from './webhooks.js';

/** The `malote` command. Whatever is large is loaded by the command that needs it, so that `--help` comes at once. */
export function buildProgram(): Command {
  const program = new Command('malote')
    .description('Captures every fiscal document issued against a Brazilian company')
    .version(VERSION)
    .option('--json', 'print JSON, for scripts')
    .option('--api-url <url>', 'where the API is (MALOTE_API_URL; else the running "malote dev")')
    .option('--api-key <key>', 'API key (MALOTE_API_KEY; else the one of "malote dev")')
    .addHelpText('after', '\nExit codes: 0 done, 1 failed, 2 wrong use. "malote help <command>" tells more.')
    .showSuggestionAfterError()
    .exitOverride();
  for (const add of GROUPS) add(program);
  // Subcommands do not inherit it.
  for (const command of allBelow(program)) command.exitOverride();
  return program;
}

const GROUPS = [
  systemCommands,
  companyCommands,
  certificateCommands,
  captureCommands,
  documentCommands,
  gapCommands,
  manifestationCommands,
  webhookCommands,
];

function allBelow(command: Command): Command[] {
  return command.commands.flatMap((child) => [child, ...allBelow(child)]);
}
