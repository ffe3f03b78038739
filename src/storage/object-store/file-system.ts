import { randomBytes } from 'node:crypto';
import { constants, type Dirent } from 'node:fs';
import { access, mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  ObjectNotFound,
  type ObjectStore,
  ObjectStoreUnavailable,
  type StoredObject,
  safeKey,
} from './object-store.js';
import { WatchedSource } from './streams.js';

/** Half-written objects stand here, outside every prefix, until they are renamed into place. */
const DRAFTS = '.drafts';
/** A draft this old belongs to a process that died. Milliseconds. */
const DRAFT_AGE_MS = 24 * 3_600_000;

/** Objects as files below one folder. For one machine; several processes may share it. */
export class FileSystemStore implements ObjectStore {
  readonly #folder: string;

  /** @param folder absolute path; made when the first object is written */
  constructor(folder: string) {
    this.#folder = folder;
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    await this.#write(this.#path(key), bytes);
  }

  async putStream(key: string, source: AsyncIterable<Uint8Array>): Promise<void> {
    const watched = new WatchedSource(source);
    try {
      await this.#write(this.#path(key), watched);
    } catch (error) {
      throw watched.failure === null ? error : watched.failure.error;
    }
  }

  #write(target: string, content: Uint8Array | AsyncIterable<Uint8Array>): Promise<void> {
    return reported('put', async () => {
      const draft = join(this.#folder, DRAFTS, randomBytes(12).toString('hex'));
      await mkdir(dirname(draft), { recursive: true });
      try {
        await writeDurably(draft, content);
        await makeFolders(this.#folder, dirname(target));
        await rename(draft, target);
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
      // The name itself is durable only once its folder is.
      await syncFolder(dirname(target));
    });
  }

  get(key: string): Promise<Buffer> {
    return this.#read(key, 'get', async (file) => file.readFile());
  }

  getRange(key: string, offset: number, length: number): Promise<Buffer> {
    return this.#read(key, 'read', async (file) => {
      const buffer = Buffer.alloc(length);
      let filled = 0;
      while (filled < length) {
        const { bytesRead } = await file.read(buffer, filled, length - filled, offset + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return buffer.subarray(0, filled);
    });
  }

  head(key: string): Promise<{ size: number } | null> {
    const path = this.#path(key);
    return reported('head', async () => {
      try {
        const found = await stat(path);
        return found.isFile() ? { size: found.size } : null;
      } catch (error) {
        if (isMissing(error)) return null;
        throw error;
      }
    });
  }

  delete(key: string): Promise<void> {
    const path = this.#path(key);
    return reported('delete', () => rm(path, { force: true }));
  }

  async deletePrefix(prefix: string): Promise<number> {
    const folder = this.#path(withoutSlash(prefix));
    let deleted = 0;
    for await (const _ of this.list(prefix)) deleted += 1;
    await reported('delete', () => rm(folder, { recursive: true, force: true }));
    return deleted;
  }

  async *list(prefix: string): AsyncIterable<StoredObject> {
    const start = withoutSlash(prefix);
    if (start !== '') safeKey(start);
    yield* this.#walk(start);
  }

  check(): Promise<void> {
    return reported('check', async () => {
      await mkdir(this.#folder, { recursive: true });
      await access(this.#folder, constants.R_OK | constants.W_OK);
    });
  }

  /** Removes what processes that died in the middle of a `put` left behind. */
  async removeStaleDrafts(): Promise<void> {
    const folder = join(this.#folder, DRAFTS);
    for (const name of await readdir(folder).catch(() => [])) {
      const draft = await stat(join(folder, name)).catch(() => null);
      if (draft !== null && draft.mtimeMs < Date.now() - DRAFT_AGE_MS) await rm(join(folder, name), { force: true });
    }
  }

  async *#walk(below: string): AsyncIterable<StoredObject> {
    const folder = join(this.#folder, below);
    const entries = await reported('list', () => readdir(folder, { withFileTypes: true }).catch(absentAsEmpty));
    for (const entry of entries) {
      const key = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.name === DRAFTS) continue;
      if (entry.isDirectory()) yield* this.#walk(key);
      else {
        const found = await stat(join(folder, entry.name)).catch(() => null); // deleted meanwhile
        if (found !== null) yield { key, size: found.size, writtenAt: Math.floor(found.mtimeMs) };
      }
    }
  }

  async #read(key: string, operation: string, read: (file: Awaited<ReturnType<typeof open>>) => Promise<Buffer>) {
    const path = this.#path(key);
    const work = async () => {
      const file = await open(path, 'r');
      try {
        return await read(file);
      } finally {
        await file.close();
      }
    };
    return reported(operation, work, key);
  }

  #path(key: string): string {
    return join(this.#folder, safeKey(key));
  }
}

async function writeDurably(path: string, content: Uint8Array | AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await writeFile(file, content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes a chain of folders; each new one is durable in its parent. */
async function makeFolders(root: string, folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = folder; made.length >= first.length && made !== root; made = dirname(made)) {
    await syncFolder(dirname(made));
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Node's error in our words: a store that does not work, or, where a key is given, that it has no such object. */
async function reported<T>(operation: string, work: () => Promise<T>, key?: string): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (key !== undefined && isMissing(error)) throw new ObjectNotFound(key);
    const { code } = error as { code?: unknown };
    throw new ObjectStoreUnavailable(typeof code === 'string' ? code : 'unexpected', operation);
  }
}

const isMissing = (error: unknown) =>
  ['ENOENT', 'ENOTDIR', 'EISDIR'].includes(String((error as { code?: unknown }).code));

function absentAsEmpty(error: unknown): Dirent[] {
  if (isMissing(error)) return [];
  throw error;
}

const withoutSlash = (prefix: string) => prefix.replace(/\/$/, '');
