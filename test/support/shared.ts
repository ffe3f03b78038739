import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * A file of the folder `shared` beside the project (contracts and their case files), or null when it is not there: then a test that
 * uses it skips with a message, and its own synthetic inputs prove the behaviour.
 */
export function sharedFile(path: string): string | null {
  const file = fileURLToPath(new URL(`../../../shared/${path}`, import.meta.url));
  return existsSync(file) ? file : null;
}
