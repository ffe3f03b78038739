import { isUtf8 } from 'node:buffer';

/** A document in UTF-8, or why it cannot be had so. */
export type Utf8Xml =
  | { readonly ok: true; readonly utf8: Buffer; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly detail: string };

const BOM = { utf8: [0xef, 0xbb, 0xbf], utf16le: [0xff, 0xfe], utf16be: [0xfe, 0xff] };
const LESS_THAN = 0x3c;
const DECLARATION = /^<\?xml[^>]{0,200}?\sencoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']/;

/**
 * Brings XML of any encoding to UTF-8 without a byte order mark: mark first, then the XML declaration, then UTF-8 (case C40).
 * Text of an encoding that does not fit its bytes is read as Latin-1 with a warning: names may look odd, numbers are never lost.
 */
export function toUtf8(xml: Buffer): Utf8Xml {
  if (startsWith(xml, BOM.utf8)) {
    return asUtf8(xml.subarray(3));
  }
  if (startsWith(xml, BOM.utf16le) || startsWith(xml, [LESS_THAN, 0])) {
    return fromUtf16(xml, 'utf-16le');
  }
  if (startsWith(xml, BOM.utf16be) || startsWith(xml, [0, LESS_THAN])) {
    return fromUtf16(xml, 'utf-16be');
  }
  const declared = xml[1] === 0x3f ? DECLARATION.exec(xml.toString('latin1', 0, 260))?.[1]?.toLowerCase() : undefined;
  if (declared === undefined || declared === 'utf-8' || declared === 'utf8' || declared === 'us-ascii') {
    return asUtf8(xml);
  }
  // A declaration that could be read byte by byte is not UTF-16: some serializer declared its in-memory strings.
  const text = declared.startsWith('utf-16') ? null : decode(xml, declared);
  return text === null
    ? asUtf8(xml, `charset: declared ${declared}, which the bytes are not`)
    : { ok: true, utf8: Buffer.from(text, 'utf8'), warnings: [] };
}

function asUtf8(xml: Buffer, ...warnings: string[]): Utf8Xml {
  return isUtf8(xml)
    ? { ok: true, utf8: xml, warnings }
    : {
        ok: true,
        utf8: Buffer.from(xml.toString('latin1'), 'utf8'),
        warnings: [...warnings, 'charset: not UTF-8, read as Latin-1'],
      };
}

function fromUtf16(xml: Buffer, label: 'utf-16le' | 'utf-16be'): Utf8Xml {
  const text = decode(xml, label);
  return text === null
    ? { ok: false, detail: `begins as ${label} and goes on as something else` }
    : { ok: true, utf8: Buffer.from(text, 'utf8'), warnings: [] };
}

/** Null for a label that nobody knows, or bytes that the encoding does not have. */
function decode(xml: Buffer, label: string): string | null {
  try {
    return new TextDecoder(label, { fatal: true }).decode(xml);
  } catch {
    return null;
  }
}

function startsWith(xml: Buffer, bytes: readonly number[]): boolean {
  return bytes.every((byte, at) => xml[at] === byte);
}
