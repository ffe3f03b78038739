/** Bytes of UTF-8 XML as the quick scanner tells them apart. */

export const LESS = 0x3c;
export const GREATER = 0x3e;
export const SLASH = 0x2f;
export const EQUALS = 0x3d;
export const DOUBLE_QUOTE = 0x22;
export const SINGLE_QUOTE = 0x27;
export const CLOSING_BRACKET = 0x5d;
export const COLON = 0x3a;

/** What a byte means in text or in an attribute's value. */
export const PLAIN = 0;
export const MARKUP = 1; // `<`, `>`, `&`
export const FORBIDDEN = 2; // control characters
export const LEAD_EF = 3; // may begin U+FFFE or U+FFFF, which XML forbids
export const CHARACTER: Uint8Array = table((byte) => {
  if (byte === LESS || byte === GREATER || byte === 0x26) {
    return MARKUP;
  }
  if (byte < 0x20) {
    return isBlank(byte) ? PLAIN : FORBIDDEN;
  }
  return byte === 0xef ? LEAD_EF : PLAIN;
});

/** What a byte may do in a name. Names beyond ASCII are legal XML, and none of the scanner's business. */
export const NO_NAME = 0;
export const NAME_PART = 1;
export const NAME_START = 2;
export const NAME_COLON = 3;
export const NAME: Uint8Array = table((byte) => {
  const character = String.fromCharCode(byte);
  if (/[A-Za-z_]/.test(character)) {
    return NAME_START;
  }
  if (byte === COLON) {
    return NAME_COLON;
  }
  return /[0-9.-]/.test(character) ? NAME_PART : NO_NAME;
});

/** White space as XML has it. */
export function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** For an index known to be inside. */
export function byteAt(xml: Uint8Array, at: number): number {
  return xml[at] as number;
}

const PREDEFINED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const REFERENCE = '&(?:(amp|lt|gt|quot|apos)|#x([0-9a-fA-F]{1,6})|#([0-9]{1,7}));';
const REFERENCE_FIRST = new RegExp(`^${REFERENCE}`);
const REFERENCES = new RegExp(REFERENCE, 'g');
const LONGEST_REFERENCE = 10;

/** Index behind the character reference that begins at `at`; −1 when there is none, or its character is not legal. */
export function afterReference(xml: Buffer, at: number): number {
  const [whole, name, hex, decimal] = REFERENCE_FIRST.exec(xml.toString('latin1', at, at + LONGEST_REFERENCE)) ?? [];
  return whole === undefined || characterOf(name, hex, decimal) === null ? -1 : at + whole.length;
}

/** Replaces the character references of a text in which each is known to be legal. */
export function resolveReferences(text: string): string {
  return text.replace(
    REFERENCES,
    (whole, name?: string, hex?: string, decimal?: string) => characterOf(name, hex, decimal) ?? whole,
  );
}

function characterOf(name?: string, hex?: string, decimal?: string): string | null {
  if (name !== undefined) {
    return PREDEFINED[name] ?? null;
  }
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  const legal =
    (code >= 0x20 && code <= 0xd7ff) ||
    code === 0x9 ||
    code === 0xa ||
    code === 0xd ||
    (code >= 0xe000 && code <= 0xfffd) ||
    (code >= 0x10000 && code <= 0x10ffff);
  return legal ? String.fromCodePoint(code) : null;
}

function table(classOf: (byte: number) => number): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => classOf(byte));
}
