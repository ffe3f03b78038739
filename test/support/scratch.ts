import { accessSync, constants, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A fresh folder for data that nobody keeps: in memory where the system offers that and has room. Cloning a database makes some
 * hundred files, which takes a third of a second on some disks and a hundredth there. Removed when the process ends.
 */
export function scratchFolder(name: string): string {
  const folder = mkdtempSync(join(hasRoom('/dev/shm') ? '/dev/shm' : tmpdir(), `malote-test-${name}-`));
  if (made.size === 0) process.once('exit', removeAll);
  made.add(folder);
  return folder;
}

const made = new Set<string>();

function removeAll(): void {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
}

function hasRoom(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize > 2 ** 31;
  } catch {
    return false;
  }
}
