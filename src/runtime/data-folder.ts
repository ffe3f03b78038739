import { randomBytes } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConfigError } from '../platform/config.js';

/** What `malote dev` tells other programs of this machine, the command line above all, in `dev.json`. */
export interface DevInfo {
  readonly apiUrl: string;
  readonly apiKey: string;
  readonly temporalAddress: string;
  readonly temporalUi: string | null;
  /** Control API of the simulated government. */
  readonly simulator: string | null;
}

const BEGUN = {
  simulated: 'with the simulated government, whose time runs faster',
  real: 'without the simulator (--no-simulator)',
} as const;
const WITH = { simulated: 'with --no-simulator', real: 'without --no-simulator' } as const;

/** The folder of the embedded default: `.malote` unless MALOTE_DATA says otherwise. Everything in it belongs together. */
export class DataFolder {
  readonly path: string;

  /** @throws {ConfigError} when it cannot be made, or nothing can be made in it */
  constructor(path: string) {
    this.path = resolve(path);
    try {
      mkdirSync(this.path, { recursive: true, mode: 0o700 });
      // PostgreSQL's own user has to walk through, and nothing more: what is in it is closed.
      if (process.getuid?.() === 0) chmodSync(this.path, 0o711);
      for (const closed of ['objects', 'temporal', 'simulator'])
        mkdirSync(this.in(closed), { recursive: true, mode: 0o700 });
      accessSync(this.path, constants.W_OK);
    } catch (error) {
      const { code = 'unknown' } = error as NodeJS.ErrnoException;
      throw new ConfigError([
        `nothing can be kept in the data folder ${this.path} (${code}): give a folder that is writable, by --data-dir or MALOTE_DATA`,
      ]);
    }
  }

  in(name: string): string {
    return join(this.path, name);
  }

  /** Address of the file object store in it. */
  get objects(): string {
    return pathToFileURL(this.in('objects')).href;
  }

  /** Wraps certificates and webhook secrets: without it, those in the database are lost. */
  masterKey(): string {
    return this.secret('master-key', () => randomBytes(32).toString('base64'));
  }

  apiKey(): string {
    return this.secret('api-key', () => `mlt_${randomBytes(24).toString('base64url')}`);
  }

  /**
   * Says whose documents are kept in it. A folder stays with one government: the demo's captures run on shortened waits, with which the
   * real one must never be asked.
   *
   * @throws {ConfigError} when it was begun with the other one
   */
  claimFor(government: 'simulated' | 'real'): void {
    const file = this.in('government');
    const kept = existsSync(file) ? readFileSync(file, 'utf8').trim() : this.hasSimulation() ? 'simulated' : government;
    if (kept !== government) {
      throw new ConfigError([
        `the data folder ${this.path} was begun ${BEGUN[government === 'real' ? 'simulated' : 'real']}: give another folder, by --data-dir or MALOTE_DATA, or start ${WITH[government]}`,
      ]);
    }
    writeFileSync(file, `${government}\n`, { mode: 0o600 });
  }

  /**
   * How fast time runs for its captures. They keep the scale with which they began: a wait that was written under another one would end
   * too early, so no worker of another scale takes them, and they would stand still without a word.
   *
   * @param chosen null: none; then it is what it was, at first `usual`
   * @throws {ConfigError} when another one was chosen than before
   */
  timeScale(chosen: number | null, usual: number): number {
    const file = this.in('time-scale');
    const kept = existsSync(file) ? Number(readFileSync(file, 'utf8')) : null;
    const scale = chosen ?? kept ?? usual;
    if (kept !== null && scale !== kept) {
      throw new ConfigError([
        `the captures in the data folder ${this.path} began on time scale ${kept}, and this start is on ${scale}: set MALOTE_TIME_SCALE to ${kept}, or give another folder, by --data-dir or MALOTE_DATA`,
      ]);
    }
    writeFileSync(file, `${scale}\n`, { mode: 0o600 });
    return scale;
  }

  writeInfo(info: DevInfo): void {
    writeFileSync(this.in('dev.json'), `${JSON.stringify(info, null, 2)}\n`, { mode: 0o600 });
  }

  removeInfo(): void {
    rmSync(this.in('dev.json'), { force: true });
  }

  /** Of a folder begun before it was written down: only a simulator that ran left something here. */
  private hasSimulation(): boolean {
    return readdirSync(this.in('simulator')).length > 0;
  }

  /** Made once, then the same for ever. */
  private secret(name: string, make: () => string): string {
    const file = this.in(name);
    if (!existsSync(file)) writeFileSync(file, `${make()}\n`, { mode: 0o600, flag: 'wx' });
    return readFileSync(file, 'utf8').trim();
  }
}
