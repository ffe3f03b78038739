import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/**
 * PostgreSQL refuses to run as root. Where we are root it runs as the user `postgres`, or, where there is none, as `nobody`:
 * both without touching the system's list of users.
 */
export interface ServerUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** The user to run PostgreSQL as; null: as ourselves. */
export function serverUser(): ServerUser | null {
  if (process.getuid?.() !== 0) return null;
  for (const name of ['postgres', 'nobody']) {
    const uid = idOf('-u', name);
    const gid = idOf('-g', name);
    if (uid !== null && gid !== null && uid !== 0) return { name, uid, gid };
  }
  throw new Error(
    'PostgreSQL does not run as root, and this system has neither a user "postgres" nor "nobody" to run it as: start Malote as an ordinary user, or add one of them',
  );
}

function idOf(flag: '-u' | '-g', name: string): number | null {
  try {
    return Number.parseInt(
      execFileSync('id', [flag, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
      10,
    );
  } catch {
    return null;
  }
}

/** True when the user may walk down to the folder: every folder above is open to it. */
function canReach(user: ServerUser, folder: string): boolean {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (existsSync(at)) {
      const { mode, uid, gid } = statSync(at);
      const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
      if ((mode & bit) === 0) return false;
    }
    if (at === dirname(at)) return true;
  }
}

/** Where things go that the server's user could not reach in their own place, because root's folders are closed. */
const OPEN_PLACE = '/var/lib/malote';

/**
 * The folder itself, or a stand-in in /var/lib/malote when the user cannot reach it (a project under /root). The folder then
 * keeps the stand-in's name, so that the same data is found again, and a new folder never finds an old database.
 */
export function reachableFolder(user: ServerUser | null, folder: string): string {
  if (user === null || canReach(user, folder)) return folder;
  const pointer = join(folder, 'moved-to');
  if (existsSync(pointer)) return readFileSync(pointer, 'utf8').trim();
  mkdirSync(OPEN_PLACE, { recursive: true, mode: 0o755 });
  const place = mkdtempSync(join(OPEN_PLACE, 'postgres-'));
  writeFileSync(pointer, `${place}\n`);
  return place;
}

/** The folder of programs itself, or a copy that the user can reach. */
export function reachablePrograms(user: ServerUser | null, folder: string, version: string): string {
  if (user === null || canReach(user, folder)) return folder;
  const copy = join(OPEN_PLACE, `programs-${version}`);
  if (existsSync(copy)) return copy;
  mkdirSync(OPEN_PLACE, { recursive: true, mode: 0o755 });
  const temporary = mkdtempSync(join(OPEN_PLACE, `${basename(copy)}-`));
  cpSync(folder, temporary, { recursive: true, verbatimSymlinks: true });
  execFileSync('chmod', ['-R', 'a+rX', temporary]);
  try {
    renameSync(temporary, copy);
  } catch {
    rmSync(temporary, { recursive: true, force: true }); // another process was first
  }
  return copy;
}
