import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isAlive, startOf } from './process-info.js';

/** Thrown when a folder is in use; the message names the process that holds it. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse';
}

interface Holder {
  readonly pid: number;
  readonly start: string | null;
  readonly since: string;
}

const heldHere = new Set<string>();

/**
 * Takes a folder for this process alone, making it if need be. A holder that died without letting go is replaced.
 *
 * @returns a function that lets go
 * @throws {FolderInUse}
 */
export function lockFolder(folder: string): () => void {
  const path = join(resolve(folder), 'lock');
  const mine = `${path}.${process.pid}`;
  const holder: Holder = { pid: process.pid, start: startOf(process.pid), since: new Date().toISOString() };
  mkdirSync(folder, { recursive: true });
  writeFileSync(mine, JSON.stringify(holder));
  try {
    while (!tryLink(mine, path)) {
      const other = readHolder(path);
      if (other !== null && holds(other, path)) {
        throw new FolderInUse(
          `${folder} is in use by process ${other.pid} since ${other.since}: stop that process first, or use another folder`,
        );
      }
      rmSync(path, { force: true });
    }
  } finally {
    rmSync(mine, { force: true });
  }
  heldHere.add(path);
  return () => {
    heldHere.delete(path);
    if (readHolder(path)?.pid === process.pid) rmSync(path, { force: true });
  };
}

/** Linking is atomic: it fails when the name exists, and whoever reads the name finds the whole file. */
function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function readHolder(path: string): Holder | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Holder;
  } catch {
    return null;
  }
}

function holds(other: Holder, path: string): boolean {
  if (other.pid === process.pid) return heldHere.has(path);
  return isAlive(other.pid) && (other.start === null || other.start === startOf(other.pid));
}
