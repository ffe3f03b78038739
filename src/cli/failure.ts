import { CommanderError } from 'commander';
import colors from 'picocolors';

/** Exit codes of the command line. */
export const EXIT = { failed: 1, wrongUse: 2 } as const;

/** A failure that is said in one line: what is wrong and what to do. */
export class CliFailure extends Error {
  override readonly name = 'CliFailure';
  constructor(
    message: string,
    readonly exitCode: number = EXIT.failed,
    /** Code of the API's problem, for scripts that use --json. */
    readonly code: string | null = null,
  ) {
    super(message);
  }
}

/** The command was not given what it needs. */
export function wrongUse(message: string): CliFailure {
  return new CliFailure(message, EXIT.wrongUse);
}

/** Tells a failure on standard error, as JSON when asked to, and gives the exit code. */
export function report(error: unknown, asJson: boolean): number {
  if (error instanceof CommanderError) {
    // Help or the version was asked for.
    if (error.exitCode === 0) return 0;
    // Else commander has printed its own, but for JSON.
    if (asJson) process.stderr.write(`${JSON.stringify(wrongUseAsJson(error))}\n`);
    return EXIT.wrongUse;
  }
  const message = error instanceof Error ? error.message : String(error);
  const { exitCode, code } = parts(error);
  const line = asJson ? JSON.stringify({ error: message, code, exitCode }) : `${colors.red('error:')} ${message}`;
  process.stderr.write(`${line}\n`);
  return exitCode;
}

function wrongUseAsJson({ code, message }: CommanderError) {
  // A group without a subcommand shows its help.
  const error =
    code === 'commander.help'
      ? 'no command is named: see "malote help"'
      : message.replace(/^error: /, '').replaceAll(/\s*\n\s*/g, ' ');
  return { error, code: 'wrong_use', exitCode: EXIT.wrongUse };
}

/** Other errors of ours may bring an exit code too (a wrong configuration is wrong use). */
function parts(error: unknown): { exitCode: number; code: string | null } {
  if (error instanceof CliFailure) {
    return { exitCode: error.exitCode, code: error.code ?? (error.exitCode === EXIT.wrongUse ? 'wrong_use' : null) };
  }
  const exitCode = error instanceof Error && 'exitCode' in error ? error.exitCode : undefined;
  return { exitCode: typeof exitCode === 'number' ? exitCode : EXIT.failed, code: null };
}
