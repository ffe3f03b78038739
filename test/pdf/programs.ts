import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Poppler and zbar, which read a PDF as its readers would. Why tests with them are skipped; undefined when both are there. */
export const NO_POPPLER = missing(['pdftoppm', 'pdftotext', 'pdfinfo'], 'poppler-utils');
export const NO_ZBAR = NO_POPPLER ?? missing(['zbarimg'], 'zbar-tools');

function missing(programs: readonly string[], name: string): string | undefined {
  const absent = programs.some((program) => spawnSync(program, ['--version']).error !== undefined);
  return absent ? `${name} is not installed here: no PDF is rendered` : undefined;
}

export async function pagesOf(file: string): Promise<number> {
  const { stdout } = await run('pdfinfo', [file]);
  return Number(/^Pages:\s+(\d+)$/m.exec(stdout)?.[1]);
}

export async function textOf(file: string): Promise<string> {
  const { stdout } = await run('pdftotext', ['-raw', '-enc', 'UTF-8', file, '-'], { maxBuffer: 1 << 28 });
  return stdout;
}

/** Renders one page, and answers the picture's file. */
export async function pictureOf(file: string, page: number, dpi: number): Promise<string> {
  const name = `${file.replace(/\.pdf$/, '')}-${page}`;
  await run('pdftoppm', ['-png', '-r', String(dpi), '-f', String(page), '-l', String(page), '-singlefile', file, name]);
  return `${name}.png`;
}

/** What the barcodes and QR codes of a picture say. */
export async function codesIn(picture: string): Promise<string[]> {
  try {
    const { stdout } = await run('zbarimg', ['--quiet', '--raw', picture]);
    return stdout.split('\n').filter((line) => line !== '');
  } catch {
    return []; // its exit code when it finds none
  }
}
