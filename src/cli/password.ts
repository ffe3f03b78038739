import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { wrongUse } from './failure.js';

/**
 * A password from a file, or typed without being shown. Never from an argument: arguments stand in the list of processes
 * and in the shell's history.
 *
 * @param file its first line counts; `-`: standard input; undefined: ask
 * @throws {CliFailure} wrong use: the file cannot be read, or there is nobody to ask
 */
export async function readPassword(file: string | undefined): Promise<string> {
  if (file !== undefined) return firstLine(file);
  if (!process.stdin.isTTY) {
    throw wrongUse('the password is asked for on a terminal, and this is none: use --password-file <file>');
  }
  process.stderr.write('Password of the certificate file: ');
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true });
  try {
    return await terminal.question('');
  } finally {
    terminal.close();
    process.stderr.write('\n');
  }
}

function firstLine(file: string): string {
  try {
    // 0: standard input.
    return readFileSync(file === '-' ? 0 : file, 'utf8').split(/\r?\n/)[0] ?? '';
  } catch (error) {
    throw wrongUse(`cannot read the password from ${file} (${(error as NodeJS.ErrnoException).code}): check the path`);
  }
}
