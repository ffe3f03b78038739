import { isUtf8 } from 'node:buffer';

/**
 * The bytes of an answer as a string of one character a byte (Latin-1). A parser's positions in it are byte offsets, whatever encoding
 * the text is in, as long as that keeps ASCII as it is; text is decoded only where it is read.
 */
export interface XmlSource {
  readonly text: string;
  /** The whole answer, one character a byte. */
  readonly answer: string;
  /** The encoding that the sender names, for text that is not UTF-8. */
  readonly charset: string | null;
  /** Where a position of `text` stands in `answer`. */
  offsetOf(position: number): number;
}

const UTF8_BOM = '\xef\xbb\xbf';

/**
 * @param contentType the HTTP header, whose charset counts before the XML declaration's (case C40); null when it is not known
 * @returns null for UTF-16, which no government service sends and which keeps no ASCII
 */
export function xmlSource(bytes: Uint8Array, contentType: string | null): XmlSource | null {
  const answer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  if (/^(\xff\xfe|\xfe\xff|<\0|\0<)/.test(answer)) return null;
  const skipped = answer.startsWith(UTF8_BOM) ? UTF8_BOM.length : 0;
  const charset =
    /charset\s*=\s*"?([\w.:-]+)/i.exec(contentType ?? '')?.[1] ??
    /^\s*<\?xml[^>]{0,200}?\sencoding\s*=\s*["']([\w.:-]+)/.exec(answer.slice(skipped, skipped + 300))?.[1] ??
    null;
  return { text: answer.slice(skipped), answer, charset, offsetOf: (position) => position + skipped };
}

/**
 * What the sender's text says. UTF-8 whenever the bytes are UTF-8, since text of another encoding practically never is by chance; else the
 * encoding that was named; else Windows-1252, a superset of Latin-1: names may look odd, but nothing is lost.
 */
export function decodeText(text: string, charset: string | null): string {
  const bytes = Buffer.from(text, 'latin1');
  if (isUtf8(bytes)) return bytes.toString('utf8');
  try {
    return new TextDecoder(charset ?? 'windows-1252', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

const NOT_VERBATIM =
  /<!\[CDATA\[([\s\S]*?)\]\]>|<!--[\s\S]*?-->|<\?[\s\S]*?\?>|&(#x[0-9a-fA-F]{1,6}|#[0-9]{1,7}|\w+);/g;

/** Text content with CDATA marks, comments, instructions and references resolved. Unknown references stay as they are. */
export function plainText(content: string): string {
  return content.replace(NOT_VERBATIM, (whole, cdata?: string, reference?: string) =>
    reference === undefined ? (cdata ?? '') : (character(reference) ?? whole),
  );
}

/** The text between two positions as a source of its own, for XML that was sent inside XML as CDATA or escaped. */
export function innerSource(source: XmlSource, start: number, end: number): XmlSource {
  const content = source.text.slice(start, end);
  /** Runs of the inner text and where each begins in the outer one. */
  const runs: { readonly at: number; readonly outer: number }[] = [];
  let text = '';
  const append = (piece: string, outer: number) => {
    if (piece !== '') runs.push({ at: text.length, outer });
    text += piece;
  };
  let last = 0;
  for (const match of content.matchAll(NOT_VERBATIM)) {
    append(content.slice(last, match.index), last);
    last = match.index + match[0].length;
    const [, cdata, reference] = match;
    if (cdata !== undefined) append(cdata, match.index + '<![CDATA['.length);
    if (reference !== undefined) {
      append(Buffer.from(character(reference) ?? match[0], 'utf8').toString('latin1'), match.index);
    }
  }
  append(content.slice(last), last);
  const offsetOf = (position: number) => {
    const run = runs.findLast(({ at }) => at <= position);
    return source.offsetOf(start + (run ? run.outer + position - run.at : 0));
  };
  return { text, answer: source.answer, charset: source.charset, offsetOf };
}

const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function character(reference: string): string | null {
  if (!reference.startsWith('#')) return NAMED[reference] ?? null;
  const code = Number(reference.startsWith('#x') ? `0${reference.slice(1)}` : reference.slice(1));
  return code <= 0x10ffff ? String.fromCodePoint(code) : null;
}
