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
  // Commander has printed its own, or was asked for help or the version.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT.wrongUse;
  const message = error instanceof Error ? error.message : String(error);
  const { exitCode, code } = parts(error);
  const line = asJson ? JSON.stringify({ error: message, code }) : `${colors.red('error:')} ${message}`;
  process.stderr.write(`${line}\n`);
  return exitCode;
}

/** Other errors of ours may bring an exit code too (a wrong configuration is wrong use). */
function parts(error: unknown): { exitCode: number; code: string | null } {
  if (error instanceof CliFailure) return { exitCode: error.exitCode, code: error.code };
  const exitCode = error instanceof Error && 'exitCode' in error ? error.exitCode : undefined;
  return { exitCode: typeof exitCode === 'number' ? exitCode : EXIT.failed, code: null };
}
