import { Command } from 'commander';
import { VERSION } from '../platform/version.js';
import { alertCommands } from './alerts.js';
import { apiKeyCommands } from './api-keys.js';
import { captureCommands } from './captures.js';
import { certificateCommands } from './certificates.js';
import { companyCommands } from './companies.js';
import { documentCommands } from './documents.js';
import { addExamples } from './examples.js';
import { exportCommands } from './exports.js';
import { wrongUse } from './failure.js';
import { gapCommands } from './gaps.js';
import { importCommands } from './imports.js';
import { manifestationCommands } from './manifestations.js';
import { systemCommands } from './system.js';
import { usageCommand } from './usage.js';
import { webhookCommands } from './webhooks.js';

/**
 * The `malote` command. Whatever is large is loaded by the command that needs it, so that `--help` comes at once.
 *
 * @param asJson what is wrong about the use of the command is not printed by commander: {@link report} does it, in JSON
 */
export function buildProgram(asJson = false): Command {
  const program = new Command('malote')
    .description('Fetches the fiscal documents that others issue to a Brazilian company, all of them')
    .version(VERSION)
    .option('--json', 'print JSON, for scripts')
    .option('--api-url <url>', 'where the API is (MALOTE_API_URL; else the running "malote dev")')
    .option('--api-key <key>', 'API key (MALOTE_API_KEY; else the one of "malote dev")')
    .addHelpText('after', '\nExit codes: 0 done, 1 failed, 2 wrong use. "malote help <command>" tells more.')
    .showSuggestionAfterError()
    .exitOverride()
    .helpCommand(false);
  for (const add of GROUPS) add(program);
  program
    .command('help')
    .description('show the help of a command')
    .argument('[command...]', 'such as: capture start')
    .action((names: string[]) => named(program, names).help());
  const commands = [program, ...allBelow(program)];
  for (const command of commands) {
    // Subcommands do not inherit it.
    command.exitOverride();
    if (asJson) command.configureOutput({ writeErr: () => {} });
    addExamples(command);
  }
  return program;
}

/** @throws {CliFailure} wrong use: there is no such command */
function named(program: Command, names: readonly string[]): Command {
  return names.reduce((command, name) => {
    const found = command.commands.find((one) => one.name() === name);
    if (!found) throw wrongUse(`there is no command "${names.join(' ')}": see "malote help"`);
    return found;
  }, program);
}

const GROUPS = [
  systemCommands,
  companyCommands,
  certificateCommands,
  captureCommands,
  documentCommands,
  gapCommands,
  manifestationCommands,
  exportCommands,
  importCommands,
  webhookCommands,
  alertCommands,
  usageCommand,
  apiKeyCommands,
];

/** Every command below one, groups and their members. */
export function allBelow(command: Command): Command[] {
  return command.commands.flatMap((child) => [child, ...allBelow(child)]);
}
