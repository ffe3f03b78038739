import { writeFileSync } from 'node:fs';
import { Option } from 'commander';
import { wrongUse } from './failure.js';
import { say } from './output.js';

export const STANDARD_OUTPUT = '-';

export function outputOption(otherwise = 'default: standard output'): Option {
  return new Option('-o, --output <file>', otherwise);
}

/** Writes a file as a command was told to; `-` is standard output. */
export function writeTo(file: string, bytes: Buffer): void {
  if (file === STANDARD_OUTPUT) {
    process.stdout.write(bytes);
    return;
  }
  try {
    writeFileSync(file, bytes);
  } catch (error) {
    throw wrongUse(`cannot write ${file} (${(error as NodeJS.ErrnoException).code}): check the path`);
  }
  say(`${bytes.length} bytes written to ${file}`);
}
