import { gunzipSync } from 'node:zlib';
import type { ItemEncoding, ItemFailure } from '../model/document.js';
import { DECODE_LIMITS, type DecodeLimits } from './limits.js';

/** The XML of an item, or why it has none. */
export type Extracted =
  | { readonly ok: true; readonly xml: Buffer }
  | { readonly ok: false; readonly failure: ItemFailure; readonly detail: string };

/** Encoded bytes as they stand in the archive → the XML's bytes, exactly as the government packed them. Never throws. */
export function extractXml(
  content: Uint8Array,
  encoding: ItemEncoding,
  limits: DecodeLimits = DECODE_LIMITS,
): Extracted {
  let bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  if (encoding !== 'identity') {
    const decoded = fromBase64(bytes);
    if (decoded === null) {
      return failed('base64', 'the item is not base64 (a character outside the alphabet, or cut off)');
    }
    bytes = packedTwice(decoded);
  }
  if (bytes.length === 0) {
    return failed('empty', 'the item has no bytes');
  }
  if (encoding === 'base64+gzip') {
    if (bytes.length > limits.compressedBytes) {
      return failed('too_large', `${bytes.length} bytes compressed: at most ${limits.compressedBytes} are accepted`);
    }
    const expanded = gunzip(bytes, limits.expandedBytes);
    if (!expanded.ok) {
      return expanded;
    }
    bytes = expanded.xml;
  }
  if (bytes.length > limits.expandedBytes) {
    return failed('too_large', `${bytes.length} bytes of XML: at most ${limits.expandedBytes} are accepted`);
  }
  return bytes.length === 0 ? failed('empty', 'the item expands to no bytes') : { ok: true, xml: bytes };
}

/**
 * As {@link extractXml}, for bytes that were an XML document before.
 *
 * @throws {Error} with the code of the failure
 */
export function extractedXml(content: Uint8Array, encoding: ItemEncoding): Buffer {
  const extracted = extractXml(content, encoding);
  if (!extracted.ok) throw new Error(extracted.failure);
  return extracted.xml;
}

/**
 * Strict base64, line breaks and blanks allowed. Node's decoder skips what it does not know, so the length tells: it is exact only
 * when every character counted. Node also takes the URL alphabet, which no service uses.
 */
function fromBase64(content: Buffer): Buffer | null {
  if (content.includes('-') || content.includes('_')) {
    return null;
  }
  const text = content.toString('latin1');
  return exactly(text) ?? exactly(text.replace(JSON_ESCAPE, unescaped).replace(/[\t\n\r ]+/g, ''));
}

/** An item that stands in a JSON string may have its signs escaped there: `+` as `\u002B`, `/` as `\/`, line breaks. */
const JSON_ESCAPE = /\\(?:u([0-9a-fA-F]{4})|([/nrt]))/g;

function unescaped(_: string, code: string | undefined, sign: string | undefined): string {
  if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
  return sign === '/' ? '/' : ' ';
}

/** How gzip's first bytes begin in base64. */
const GZIP_IN_BASE64 = Buffer.from('H4sI');

/** Sefin has sent base64 of base64 (nfse.md 2.2). */
function packedTwice(bytes: Buffer): Buffer {
  return bytes.subarray(0, 4).equals(GZIP_IN_BASE64) ? (fromBase64(bytes) ?? bytes) : bytes;
}

function exactly(text: string): Buffer | null {
  if (text.length % 4 !== 0) {
    return null;
  }
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === (text.length / 4) * 3 - padding ? bytes : null;
}

/** Room for the whole result at once saves a quarter of the time of a large note; a trailer that lies costs at most this much memory. */
const LARGEST_FIRST_CHUNK = 1024 * 1024;

function gunzip(bytes: Buffer, limit: number): Extracted {
  // The last 4 bytes of a gzip stream tell the expanded size. One byte more lets zlib see the end without a second chunk.
  const told = bytes.length >= 18 ? bytes.readUInt32LE(bytes.length - 4) : 0;
  const chunkSize = Math.min(Math.max(told + 1, 1024), LARGEST_FIRST_CHUNK);
  try {
    return { ok: true, xml: gunzipSync(bytes, { maxOutputLength: limit, chunkSize }) };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    return code === 'ERR_BUFFER_TOO_LARGE'
      ? failed('too_large', `expands to more than ${limit} bytes`)
      : failed('gzip', `not a whole gzip stream (${code})`);
  }
}

function failed(failure: ItemFailure, detail: string): Extracted {
  return { ok: false, failure, detail };
}
