import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';

const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));

/** A folder for the files of one test file; commands run in it, so that no data folder of this machine is found. */
export const folder = mkdtempSync(join(tmpdir(), 'malote-test-cli-'));
after(() => rmSync(folder, { recursive: true, force: true }));

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Called with everything printed so far, whenever something comes; true ends the command as Ctrl-C does. */
  readonly interruptWhen?: (out: string) => boolean;
}

/** Runs the command line as a process of its own, without anything of ours in its environment but what is given. */
export function malote(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const { env = {}, input, interruptWhen } = options;
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(MALOTE_|TEMPORAL_|DATABASE_URL|NODE_|FORCE_COLOR)/.test(name)),
  );
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), CLI, ...args], {
      cwd: folder,
      env: { ...inherited, NO_COLOR: '1', TZ: 'America/Sao_Paulo', ...env },
    });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
      if (interruptWhen?.(out)) child.kill('SIGINT');
    });
    child.stderr.on('data', (chunk: Buffer) => {
      err += chunk.toString();
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err }));
    child.stdin.end(input);
  });
}

/** The command line against an API: `run` takes its words, `json` gives what a command printed with --json, one object a line. */
export function commandLine(env: Readonly<Record<string, string>>) {
  const run = (...words: string[]) => malote(words, { env });
  const json = async (...words: string[]) => {
    const { code, out, err } = await run(...words, '--json');
    if (code !== 0) throw new Error(`malote ${words.join(' ')}: ${code} ${err}`);
    return out
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  };
  return { run, json };
}
