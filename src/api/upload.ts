import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { ObjectStore } from '../storage/object-store/index.js';
import type { Api } from './api.js';
import { wrongMediaType } from './error-handler.js';
import { invalidInput, Problem } from './problem.js';

/** Bytes of an upload: a hundred thousand documents have about half of it. */
export const UPLOAD_LIMIT = 1024 ** 3;

/** What an upload may say that it is. What it is, its first bytes say. */
export const UPLOAD_TYPES = [
  'application/zip',
  'application/x-zip-compressed',
  'application/xml',
  'text/xml',
  'application/octet-stream',
] as const;

/** The body of a request that goes to the object store as it comes: its bytes can be read once. */
export class Upload {
  constructor(private readonly request: FastifyRequest['raw']) {}

  /** What is known before it is read. */
  toJSON(): unknown {
    return { type: this.request.headers['content-type'], length: this.request.headers['content-length'] };
  }

  /** Reads it to its end, to nowhere: hex of its SHA-256. @throws {Problem} as {@link save} */
  async sha256(): Promise<string> {
    const read = this.#read();
    for await (const _ of read.pieces);
    return read.saved().sha256;
  }

  /**
   * Writes it to the store without holding it in memory.
   *
   * @throws {Problem} `body_too_large`; `invalid_input` for nothing at all; `malformed_request` for one that breaks off
   */
  async save(store: ObjectStore, key: string): Promise<SavedUpload> {
    const read = this.#read();
    await store.putStream(key, read.pieces);
    return read.saved();
  }

  #read(): { readonly pieces: AsyncIterable<Buffer>; saved(): SavedUpload } {
    const hash = createHash('sha256');
    let size = 0;
    let start = Buffer.alloc(0);
    const { request } = this;
    async function* counted(): AsyncGenerator<Buffer> {
      try {
        for await (const piece of request as AsyncIterable<Buffer>) {
          size += piece.length;
          if (size > UPLOAD_LIMIT) throw new Problem('body_too_large', `An upload may have ${UPLOAD_LIMIT} bytes`);
          if (start.length < ZIP_START.length) start = Buffer.concat([start, piece.subarray(0, ZIP_START.length)]);
          hash.update(piece);
          yield piece;
        }
      } catch (error) {
        throw error instanceof Problem ? error : new Problem('malformed_request', 'The upload broke off');
      }
      if (size === 0) throw invalidInput({ field: 'body', message: 'expected a ZIP or an XML file' });
    }
    return {
      pieces: counted(),
      saved: () => ({ size, sha256: hash.digest('hex'), format: isZip(start) ? 'zip' : 'xml' }),
    };
  }
}

/** An upload that stands in the object store. */
export interface SavedUpload {
  /** Bytes. */
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
  readonly format: 'zip' | 'xml';
}

const ZIP_START = Buffer.from('PK\x03\x04');
/** One without a single file has nothing but its end. */
const EMPTY_ZIP = Buffer.from('PK\x05\x06');

function isZip(start: Buffer): boolean {
  const first = start.subarray(0, ZIP_START.length);
  return first.equals(ZIP_START) || first.equals(EMPTY_ZIP);
}

/** Lets bodies of these types through unread, to routes that take an {@link Upload}; others refuse them. */
export function acceptUploads(app: Api, isTaken: (request: FastifyRequest) => boolean): void {
  app.addContentTypeParser([...UPLOAD_TYPES], (request, _payload, done) => {
    if (isTaken(request)) done(null, new Upload(request.raw));
    else done(wrongMediaType(request));
  });
}
