import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from './problem.js';

/** A file as an answer. */
export interface FileAnswer {
  /** Hex, of the bytes; makes the ETag. */
  readonly sha256: string;
  readonly type: string;
  /** ASCII letters, digits, `.`, `_` and `-` only. */
  readonly name: string;
  /** What a browser does with it: shows it, or saves it. */
  readonly disposition: 'inline' | 'attachment';
  /** Asked for only when bytes are to be sent. */
  readonly read: () => Promise<Uint8Array | StreamedFile>;
}

/** A file that is too large for memory. */
export interface StreamedFile {
  /** Bytes. */
  readonly length: number;
  /** Its bytes from `start` to before `end`. */
  stream(start: number, end: number): Readable;
}

/**
 * Sends a file: whole, one range of it (RFC 9110 section 14), or 304 for whoever has it already. Several ranges at once get the whole. HEAD gets the headers of the whole.
 *
 * @throws {Problem} `range_not_satisfiable`, and what `read` throws
 */
export async function sendFile(request: FastifyRequest, reply: FastifyReply, file: FileAnswer): Promise<FastifyReply> {
  const etag = `"${file.sha256}"`;
  if (isKnown(request.headers['if-none-match'], etag)) return reply.header('etag', etag).code(304).send();
  const bytes = await file.read();
  const range = request.method === 'GET' ? wantedRange(request, etag, bytes.length) : null;
  if (range === 'outside') {
    reply.header('content-range', `bytes */${bytes.length}`);
    throw new Problem('range_not_satisfiable', `The file has ${bytes.length} bytes`);
  }
  reply
    .type(file.type)
    .header('etag', etag)
    .header('accept-ranges', 'bytes')
    .header('content-disposition', `${file.disposition}; filename="${file.name}"`);
  const [start, end] = range === null ? [0, bytes.length] : [range.first, range.last + 1];
  if (range !== null) reply.code(206).header('content-range', `bytes ${range.first}-${range.last}/${bytes.length}`);
  if (!('stream' in bytes)) return reply.send(asBuffer(bytes.subarray(start, end)));
  reply.header('content-length', end - start);
  // Fastify's HEAD routes take no null as what is sent.
  return reply.send(request.method === 'HEAD' ? Readable.from([]) : bytes.stream(start, end));
}

/** If-None-Match compares weakly: a proxy may have made the tag weak. */
function isKnown(header: string | undefined, etag: string): boolean {
  return header?.split(',').some((tag) => ['*', etag, `W/${etag}`].includes(tag.trim())) ?? false;
}

interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** Null: the whole. What is no single range of bytes is ignored, as RFC 9110 wants it. */
function wantedRange(request: FastifyRequest, etag: string, size: number): ByteRange | 'outside' | null {
  const condition = request.headers['if-range'];
  // Strong comparison; a date never fits, since no answer has a Last-Modified.
  if (condition !== undefined && condition !== etag) return null;
  const [, from = '', to = ''] = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(request.headers.range ?? '') ?? [];
  if (from === '' && to === '') return null;
  if (from === '') {
    const length = Math.min(Number(to), size);
    return length === 0 ? 'outside' : { first: size - length, last: size - 1 };
  }
  const first = Number(from);
  const last = to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (to !== '' && Number(to) < first) return null;
  return first >= size ? 'outside' : { first, last };
}

/** Without a copy. */
function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
