import { decodeText } from './xml-source.js';

/** JSON answers of the NFS-e services: content before content type, names in any case, and where the long strings stand in the bytes. */

/** One JSON value whose fields are found without regard to the case of their names: services and their proxies differ (symptom 17). */
export class JsonNode {
  constructor(readonly value: unknown) {}

  /** A field, or nothing. */
  field(name: string): JsonNode {
    const { value } = this;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return NOTHING;
    const wanted = name.toLowerCase();
    const found = Object.entries(value).find(([key]) => key.toLowerCase() === wanted);
    return found ? new JsonNode(found[1]) : NOTHING;
  }

  /** The entries of a list; a single object where a list was expected is one entry; else none. */
  get entries(): JsonNode[] {
    const { value } = this;
    if (Array.isArray(value)) return value.map((entry) => new JsonNode(entry));
    return typeof value === 'object' && value !== null ? [this] : [];
  }

  /** A string without blanks around it, or a number as one; null for everything else, an empty string too. */
  get text(): string | null {
    const { value } = this;
    if (typeof value === 'number' || typeof value === 'bigint') return String(value);
    return typeof value === 'string' ? value.trim() || null : null;
  }
}

const NOTHING = new JsonNode(undefined);

/** Where a string stands: offset and length of what is between its quotation marks, in bytes of the answer. */
export interface Place {
  readonly offset: number;
  readonly length: number;
}

/** A JSON answer, and where its texts stand in its bytes. */
export interface JsonAnswer {
  readonly root: JsonNode;
  /** The strings of all fields of this name, in document order; a field that holds no string has no length. */
  places(name: string): Place[];
}

const BOM = '\xef\xbb\xbf';

/** Reads bytes as a JSON object, in UTF-8 with or without a BOM, or in Latin-1. Null: they are none. */
export function readJson(body: Uint8Array): JsonAnswer | null {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1');
  const skipped = bytes.startsWith(BOM) ? BOM.length : 0;
  let value: unknown;
  try {
    value = JSON.parse(decodeText(bytes.slice(skipped), null));
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return { root: new JsonNode(value), places: (name) => placesOf(bytes, name) };
}

/**
 * A name in quotation marks before a colon is a field: inside a string its quotation marks would be escaped. What is escaped in the
 * string itself (`\/`, `\u002B`) stays so in the bytes, and whoever decodes the item resolves it.
 */
function placesOf(bytes: string, name: string): Place[] {
  const field = new RegExp(`"${name}"\\s*:\\s*(?:"([^"\\\\]*(?:\\\\.[^"\\\\]*)*)")?`, 'gi');
  return [...bytes.matchAll(field)].map((match) => {
    const end = match.index + match[0].length;
    const content = match[1];
    return content === undefined
      ? { offset: end, length: 0 }
      : { offset: end - 1 - content.length, length: content.length };
  });
}
