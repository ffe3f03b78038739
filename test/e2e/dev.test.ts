import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { scratchFolder } from '../support/scratch.js';
import { until } from '../support/until.js';

const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));

/** By type, what waits for the three demo companies together: two have the backlog of NF-e, one has half of it; half as many CT-e, a quarter as many NFS-e. */
const waiting = (backlog: number): Record<string, number> =>
  Object.fromEntries(
    Object.entries({ nfe: 1, cte: 2, nfse: 4 }).map(([documentType, part]) => [
      documentType,
      2 * Math.ceil(backlog / part) + Math.ceil(backlog / (2 * part)),
    ]),
  );
const total = (backlog: number): number => Object.values(waiting(backlog)).reduce((sum, count) => sum + count);

/** Long waits are short, the same at every start on a folder. */
const QUICK = { MALOTE_TIME_SCALE: '1200' };

/** `malote dev` as a process, the way a newcomer runs it. */
class Dev {
  readonly #child: ChildProcess;
  stdout = '';
  stderr = '';
  readonly ended: Promise<number | null>;
  static readonly running = new Set<Dev>();

  constructor(folder: string, options: readonly string[] = [], env: NodeJS.ProcessEnv = QUICK) {
    this.#child = spawn(process.execPath, ['--import', 'tsx', CLI, 'dev', '--data-dir', folder, ...options], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env, NO_COLOR: '1' },
    });
    this.#child.stdout?.on('data', (chunk) => (this.stdout += chunk));
    this.#child.stderr?.on('data', (chunk) => (this.stderr += chunk));
    Dev.running.add(this);
    this.ended = once(this.#child, 'close').then(([code]) => {
      Dev.running.delete(this);
      return code as number | null;
    });
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  says(pattern: RegExp, limitMs = 300_000): Promise<true> {
    return until(
      () => {
        if (this.#child.exitCode !== null) throw new Error(`it ended: ${this.stdout}\n${this.stderr}`);
        return pattern.test(this.stdout);
      },
      `it says ${pattern}`,
      limitMs,
    );
  }

  get summary(): Record<string, number> {
    return JSON.parse(this.stdout.trim().split('\n').at(-1) ?? '') as Record<string, number>;
  }
}

after(async () => {
  for (const dev of [...Dev.running]) {
    dev.kill('SIGKILL');
    await dev.ended;
  }
});

/** Process id of the PostgreSQL or Temporal server of a data folder; null: it does not run. */
function serverOf(folder: string, server: 'postgres' | 'temporal'): number | null {
  const argument = join(folder, server === 'postgres' ? 'postgres/data' : 'temporal/temporal.db');
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(argument)) return Number(pid);
    } catch {
      // ended meanwhile
    }
  }
  return null;
}

async function killServer(folder: string, server: 'postgres' | 'temporal'): Promise<void> {
  const pid = serverOf(folder, server);
  assert.ok(pid !== null, `${server} runs`);
  process.kill(pid, 'SIGKILL');
}

function brokenRules(folder: string): unknown[] {
  const lines = readFileSync(join(folder, 'simulator/journal.ndjson'), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as { rule: string | null }).filter(({ rule }) => rule !== null);
}

describe('malote dev', () => {
  test('until drained: every document captured and delivered, no rule broken; the next start goes on from there', async () => {
    const folder = scratchFolder('dev');
    // Not QUICK: a query late by 3 s would raise an alert there, and a webhook more.
    const first = new Dev(folder, ['--until-drained', '--backlog', '60'], { MALOTE_TIME_SCALE: '60' });
    assert.equal(await first.ended, 0, first.stderr);
    const { documents, pages, webhooksDelivered = 0, missing, seconds } = first.summary;
    assert.deepEqual({ documents, missing }, { documents: total(60), missing: 0 });
    assert.ok(webhooksDelivered >= total(60), 'alerts come on top');
    assert.ok(pages === 5 + 3 + 3 && typeof seconds === 'number', `${pages} pages`);
    assert.deepEqual(Object.keys(first.summary), ['documents', 'pages', 'webhooksDelivered', 'missing', 'seconds']);
    assert.match(first.stdout, /signatures verified/);
    for (const [type, documents] of [
      ['NF-e', '60 of 60'],
      ['CT-e', '30 of 30'],
      ['NFS-e', '15'],
    ]) {
      assert.match(first.stdout, new RegExp(`Padaria Aurora Ltda ${type} +waiting +${documents} documents`));
    }
    for (const what of [/[✉\d] invoices?/, /transport documents?/, /service invoices?/, /NFS-e events?/]) {
      assert.match(first.stdout, what);
    }
    assert.deepEqual(brokenRules(folder), []);
    assert.equal(serverOf(folder, 'postgres') ?? serverOf(folder, 'temporal'), null, 'no server is left');
    for (const secret of ['master-key', 'api-key', 'receiver.json', 'malote.log']) {
      assert.equal(statSync(join(folder, secret)).mode & 0o077, 0, `${secret} is ours alone`);
    }

    const faster = new Dev(folder, ['--until-drained'], { MALOTE_TIME_SCALE: '120' });
    assert.equal(await faster.ended, 2);
    assert.match(faster.stderr, /began on time scale 60, and this start is on 120: set MALOTE_TIME_SCALE to 60/);

    const second = new Dev(folder, ['--until-drained'], {});
    assert.equal(await second.ended, 0, second.stderr);
    assert.equal(second.summary.documents, total(60));
    assert.deepEqual(brokenRules(folder), []);
  });

  test('a second one on the same folder says who holds it; Ctrl-C stops everything in order', async () => {
    const folder = scratchFolder('dev');
    const first = new Dev(folder, ['--backlog', '10']);
    await first.says(/Ctrl-C stops/);
    const info = JSON.parse(readFileSync(join(folder, 'dev.json'), 'utf8')) as { apiUrl: string; apiKey: string };
    const answer = await fetch(`${info.apiUrl}/v1/companies`, { headers: { authorization: `Bearer ${info.apiKey}` } });
    assert.equal(((await answer.json()) as { data: unknown[] }).data.length, 3);
    assert.equal((await fetch(`${info.apiUrl}/readyz`)).status, 200);

    const second = new Dev(folder);
    assert.equal(await second.ended, 1);
    assert.match(second.stderr, /is in use by process \d+ since/);

    assert.ok(serverOf(folder, 'postgres') && serverOf(folder, 'temporal'));
    first.kill('SIGINT');
    assert.equal(await first.ended, 0, first.stderr);
    assert.match(first.stdout, /Stopped\.\s*$/);
    assert.equal(serverOf(folder, 'postgres') ?? serverOf(folder, 'temporal'), null, 'no server is left');
    assert.ok(!existsSync(join(folder, 'dev.json')));
  });

  test('killed in the middle of its work, then started again: nothing lost, nothing doubled, no process left', async () => {
    const folder = scratchFolder('dev');
    const first = new Dev(folder, ['--until-drained', '--backlog', '500']);
    await first.says(/webhooks, signatures verified/);
    assert.ok(serverOf(folder, 'postgres') && serverOf(folder, 'temporal'));
    first.kill('SIGKILL');
    await first.ended;
    await until(
      () => (serverOf(folder, 'postgres') ?? serverOf(folder, 'temporal')) === null,
      'the servers end with it',
    );

    const second = new Dev(folder, ['--until-drained']);
    assert.equal(await second.ended, 0, second.stderr);
    // What the government gave away in an answer that the crash swallowed was asked for again, one by one.
    const { documents = 0, missing, webhooksDelivered = 0 } = second.summary;
    assert.deepEqual({ documents, missing }, { documents: total(500), missing: 0 });
    assert.ok(webhooksDelivered >= documents, 'alerts come on top');
  });

  test('PostgreSQL and Temporal killed under it: they come back, and the work goes on', async () => {
    const folder = scratchFolder('dev');
    const dev = new Dev(folder, ['--until-drained', '--backlog', '800']);
    await dev.says(/webhooks, signatures verified/);
    await killServer(folder, 'postgres');
    await dev.says(/PostgreSQL ended \(signal SIGKILL\): starting it again/);
    await killServer(folder, 'temporal');
    await dev.says(/Temporal ended \(signal SIGKILL\): starting it again/);
    assert.equal(await dev.ended, 0, dev.stderr);
    const { documents = 0, missing, webhooksDelivered = 0 } = dev.summary;
    assert.deepEqual({ documents, missing }, { documents: total(800), missing: 0 });
    assert.ok(webhooksDelivered >= documents, 'alerts come on top');
  });

  test('wrong use: exit code 2, all faults at once', async () => {
    const folder = scratchFolder('dev');
    const dev = new Dev(folder, ['--no-simulator', '--until-drained'], {});
    assert.equal(await dev.ended, 2);
    assert.match(dev.stderr, /--until-drained needs the simulator/);
  });

  test('without the simulator: the system alone, and no company in it', async () => {
    const folder = scratchFolder('dev');
    const dev = new Dev(folder, ['--no-simulator'], {});
    await dev.says(/Ctrl-C stops/);
    assert.doesNotMatch(dev.stdout, /simulated|Padaria/);
    const info = JSON.parse(readFileSync(join(folder, 'dev.json'), 'utf8')) as { apiUrl: string; apiKey: string };
    const answer = await fetch(`${info.apiUrl}/v1/companies`, { headers: { authorization: `Bearer ${info.apiKey}` } });
    assert.deepEqual(((await answer.json()) as { data: unknown[] }).data, []);
    dev.kill('SIGTERM');
    assert.equal(await dev.ended, 0, dev.stderr);
  });
});
