import { type Command, InvalidArgumentError } from 'commander';
import { wrongUse } from './failure.js';
import { print, printJson, say, wantsJson } from './output.js';

/** Commands that run parts of Malote themselves. */
export function systemCommands(program: Command): void {
  program
    .command('dev')
    .description('run everything on this machine: Temporal, PostgreSQL, API, worker, a simulated government')
    .option('--data-dir <folder>', 'where everything is kept (MALOTE_DATA; default .malote)')
    .option('--port <port>', 'port of the API (MALOTE_HTTP_PORT; default 3000 or a free one)', port)
    .option('--backlog <documents>', 'NF-e that wait for a demo company at the first start', count)
    .option('--no-simulator', 'without the simulated government and its demo companies')
    .option('--until-drained', 'end once every demo company is drained; the last line is a summary in JSON')
    .action(async (options) => {
      const { runDev } = await import('../runtime/dev.js');
      await runDev(options);
    });

  program
    .command('api')
    .description('run the HTTP API as a process of its own')
    .action(async () => (await import('../runtime/processes.js')).runApi(process.env));

  program
    .command('worker')
    .description('run the workers as a process of its own')
    .action(async () => (await import('../runtime/processes.js')).runWorker(process.env));

  program
    .command('migrate')
    .description("bring the database's tables up to this version")
    .action(async (_options, command: Command) => {
      const { runMigrate } = await import('../runtime/processes.js');
      const migrations = await runMigrate(process.env);
      if (wantsJson(command)) printJson({ migrations });
      else if (migrations.length === 0) say('The database is up to date.');
      else for (const name of migrations) print(name);
    });

  program
    .command('verify')
    .description('compare the database with the archives and with what workflows know (docs/operating.md)')
    .option(
      '--repair',
      'after a restore: take in what the object store holds more, and hold every capture for one empty-queue time',
    )
    .option('--sweep', 'instead, look for objects that no row refers to')
    .option('--delete', 'with --sweep: delete them')
    .option('--older-than <days>', 'with --sweep: only objects older than this (default 7)', days, 7)
    .action(async (options: VerifyOptions, command: Command) => {
      if (options.sweep) return sweep(options, command);
      if (options.delete) throw wrongUse('--delete goes with --sweep');
      const { runVerify } = await import('../runtime/processes.js');
      const found = await runVerify(process.env, options.repair === true);
      if (wantsJson(command)) printJson(found);
      else {
        print(
          `${found.captures} captures, ${found.behind.length} ahead of the database, ${found.repaired} taken up again`,
        );
        const done = options.repair === true;
        print(
          `${found.unknownAnswers} archived answers that the database does not know` +
            (done ? `: ${found.takenIn} documents taken in` : ''),
        );
        print(`${found.missing} missing numbers${done ? ', asked for from now on' : ''}`);
        print(`${found.documentsRead} documents read back from their archives, ${found.damaged.length} damaged`);
        for (const { problem } of found.damaged) print(problem);
      }
      const { behind, unknownAnswers, missing } = found;
      const unrepaired = behind.length + unknownAnswers + missing > 0 && options.repair !== true;
      if (unrepaired) say('Stop the workers and run "malote verify --repair".');
      if (unrepaired || found.damaged.length > 0) process.exitCode = 1;
    });

  program
    .command('simulator')
    .description('run only the simulated government, to test another program against it')
    .option('--folder <folder>', 'keeps its authority, companies and journal', '.malote-simulator')
    .option('--host <address>', 'address to listen on (default 127.0.0.1)')
    .option('--port <port>', 'port of the government (default 4443)', port)
    .option('--nfse-port <port>', 'port of the NFS-e hosts, ADN and Sefin (default 4444)', port)
    .option('--control-port <port>', 'port of the control API (default 4480)', port)
    .option('--time-scale <factor>', 'divides the hour of the rules (default 1)', factor)
    .option('--seed <text>', 'makes the same documents again')
    .action(async (options) => {
      const { runSimulator } = await import('../runtime/processes.js');
      await runSimulator(options);
    });
}

interface VerifyOptions {
  readonly repair?: boolean;
  readonly sweep?: boolean;
  readonly delete?: boolean;
  readonly olderThan: number;
}

async function sweep(options: VerifyOptions, command: Command): Promise<void> {
  if (options.repair) throw wrongUse('--repair and --sweep are two commands: repair first');
  const { runSweep } = await import('../runtime/processes.js');
  const found = await runSweep(process.env, { days: options.olderThan, remove: options.delete === true });
  if (wantsJson(command)) return printJson(found);
  const done = options.delete === true ? ', deleted' : '';
  print(`${found.orphans} objects that no row refers to, ${Math.ceil(found.bytes / 1024)} kB${done}`);
  for (const key of found.examples) print(`  ${key}`);
  if (found.orphans > found.examples.length) print('  …');
  print(`${found.lost} archived answers that the database should know: kept`);
  if (found.lost > 0) say('After a restore, stop the workers and run "malote verify --repair".');
  if (found.orphans > 0 && done === '') say('"malote verify --sweep --delete" deletes them.');
}

function port(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > 65_535) throw new InvalidArgumentError('Expected 1 to 65535.');
  return value;
}

function count(text: string): number {
  if (!/^\d{1,7}$/.test(text)) throw new InvalidArgumentError('Expected a whole number.');
  return Number(text);
}

function days(text: string): number {
  const value = Number(text);
  if (!/^\d{1,4}$/.test(text) || value < 1) throw new InvalidArgumentError('Expected 1 to 9999 days.');
  return value;
}

function factor(text: string): number {
  const value = Number(text);
  if (!(value >= 1 && value <= 100_000)) throw new InvalidArgumentError('Expected a number from 1 to 100000.');
  return value;
}
