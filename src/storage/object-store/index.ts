import { fileURLToPath } from 'node:url';
import { FileSystemStore } from './file-system.js';
import { InvalidObjectStore, type ObjectStore } from './object-store.js';

export { archiveKey, companyPrefix, pdfKey } from './archive-key.js';
export type { ObjectStore } from './object-store.js';
export { InvalidObjectStore, ObjectNotFound, ObjectStoreUnavailable } from './object-store.js';
export { readBlocks } from './streams.js';

/**
 * Opens the object store that an address names: `file:///absolute/path`, or
 * `s3://bucket/prefix?endpoint=https://host:port&region=us-east-1` with credentials from the standard AWS environment.
 *
 * @throws {InvalidObjectStore} when the address is none of these; says what was wrong
 */
export async function openObjectStore(url: string): Promise<ObjectStore> {
  const scheme = /^([a-z0-9]+):/.exec(url)?.[1];
  if (scheme === 'file') {
    const store = new FileSystemStore(folderOf(url));
    await store.removeStaleDrafts();
    return store;
  }
  if (scheme === 's3') {
    // The SDK is large and most installations on one machine never need it.
    const { S3Store, readS3Address } = await import('./s3.js');
    return new S3Store(readS3Address(url));
  }
  throw new InvalidObjectStore(
    `object store: expected an address that begins with file: or s3:, got ${scheme === undefined ? 'none' : `${scheme}:`}`,
  );
}

function folderOf(url: string): string {
  // "file:objects" would be read as /objects.
  if (url.startsWith('file:///')) return fileURLToPath(url);
  throw new InvalidObjectStore(
    'object store: a file: address needs an absolute path, like file:///var/lib/malote/objects',
  );
}
