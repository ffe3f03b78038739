import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram, TEMPORAL_CLI, TEMPORAL_TEST_SERVER } from '../src/runtime/binaries.js';
import { startPostgres } from '../src/runtime/postgres.js';
import { scratchFolder } from './support/scratch.js';

/**
 * `npm test`: starts what the tests share, then lets node's own runner run the files, two at a time.
 * `npm test -- test/documents` or `npm test -- test/documents/keys.test.ts` runs a part; options (`--test-name-pattern=…`) go to
 * node's runner.
 */
const options = process.argv.slice(2).filter((argument) => argument.startsWith('-'));
const places = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));
const files = (places.length === 0 ? ['test'] : places).flatMap(testFiles).sort();
if (files.length === 0) {
  console.error(`no test files in ${places.join(', ') || 'test'}: they end with .test.ts`);
  process.exit(2);
}

const onProgress = (text: string): void => console.error(text);
await findProgram(TEMPORAL_CLI, { onProgress });
await findProgram(TEMPORAL_TEST_SERVER, { onProgress });
const folder = scratchFolder('postgres');
const postgres = await startPostgres({ folder, throwAway: true });

const runner = spawn(
  process.execPath,
  [
    ...['--import', 'tsx', '--test', '--test-reporter=spec', '--test-concurrency=2', '--test-timeout=1800000'],
    ...options,
    ...files,
  ],
  { stdio: 'inherit', env: { ...process.env, MALOTE_TEST_POSTGRES_URL: postgres.urlOf('postgres') } },
);
// Ctrl-C reaches the runner as well: it ends, then we do.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => runner.kill('SIGTERM'));
const [code] = (await once(runner, 'exit')) as [number | null];
await postgres.stop();
rmSync(folder, { recursive: true, force: true });
process.exitCode = code ?? 1;

function testFiles(place: string): string[] {
  if (!statSync(place).isDirectory()) return [place];
  return readdirSync(place, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => join(place, file));
}
