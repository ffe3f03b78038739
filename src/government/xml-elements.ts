import { SaxesParser } from 'saxes';
import { decodeText, innerSource, plainText, type XmlSource } from './xml-source.js';

/** An element of a government answer, and where it stands in the bytes. */
export class XmlElement {
  readonly children: XmlElement[] = [];
  /** End of the content in the source. */
  private end: number;

  constructor(
    private readonly source: XmlSource,
    /** Local name: prefixes are the sender's business. */
    readonly name: string,
    private readonly attributes: Readonly<Record<string, string>>,
    /** Start of the content in the source. */
    private readonly start: number,
  ) {
    this.end = start;
  }

  /** For the parser, which stands right after the end tag, or after an empty element's only tag. */
  close(position: number): void {
    this.end = Math.max(this.start, this.source.text.lastIndexOf('</', position - 1));
  }

  child(name: string): XmlElement | null {
    return this.children.find((child) => child.name === name) ?? null;
  }

  /** Every element of this name inside, at any depth, in the order of the document. */
  descendants(name: string): XmlElement[] {
    return this.children.flatMap((child) => (child.name === name ? [child] : child.descendants(name)));
  }

  /** An attribute by its local name; null when absent. */
  attribute(name: string): string | null {
    const key = Object.keys(this.attributes).find((candidate) => localName(candidate) === name);
    const value = key === undefined ? undefined : this.attributes[key];
    return value === undefined ? null : decodeText(value, this.source.charset);
  }

  /** The content as it stands there: one character a byte, markup and references included. */
  get content(): string {
    return this.source.text.slice(this.start, this.end);
  }

  /** The content as XML, markup and references included, in Unicode. */
  get markup(): string {
    return decodeText(this.content, this.source.charset);
  }

  /** Text content without outer white space. */
  get text(): string {
    return plainText(decodeText(this.content, this.source.charset)).trim();
  }

  /**
   * Where the text content stands in the answer, without outer white space and CDATA marks. `verbatim` is false when comments or
   * references interrupt it, so that the bytes there are more than the text.
   */
  get range(): { readonly offset: number; readonly length: number; readonly verbatim: boolean } {
    const cdata = /^\s*<!\[CDATA\[([\s\S]*)\]\]>\s*$/.exec(this.content);
    const begin = cdata ? this.content.indexOf('<![CDATA[') + '<![CDATA['.length : 0;
    const outer = cdata?.[1] ?? this.content;
    const inner = outer.trim();
    const from = this.start + begin + (outer.length - outer.trimStart().length);
    const offset = this.source.offsetOf(from);
    const length = inner === '' ? 0 : this.source.offsetOf(from + inner.length - 1) + 1 - offset;
    const standsThere = this.source.answer.slice(offset, offset + length);
    return { offset, length, verbatim: standsThere === inner && !/[<&]/.test(inner) };
  }

  /** The XML that this element holds as text. */
  inner(): XmlSource {
    return innerSource(this.source, this.start, this.end);
  }
}

/** What was found in an answer. */
export interface Search {
  /** The first element of the name, with everything inside it. */
  readonly found: XmlElement | null;
  /** The first element without children whose text mentions the name: XML sent as text. */
  readonly wrapping: XmlElement | null;
  /** First fault of the document, if any. */
  readonly fault: string | null;
}

/**
 * Finds the first element of a local name, wherever it stands. The document must be well-formed up to the element's end only: an envelope that
 * was cut behind it loses nothing. Faults inside text are overlooked, since numbers are not to be lost because of a name (case C40).
 */
export function findElement(source: XmlSource, name: string): Search {
  const parser = new SaxesParser();
  const open: { readonly element: XmlElement; leaf: boolean }[] = [];
  const result: { found: XmlElement | null; wrapping: XmlElement | null; fault: string | null } = {
    found: null,
    wrapping: null,
    fault: null,
  };
  let target: XmlElement | null = null;

  parser.on('opentag', (tag) => {
    const element = new XmlElement(source, localName(tag.name), tag.attributes, parser.position);
    const parent = open.at(-1);
    if (parent) parent.leaf = false;
    // Only what is inside the target is kept.
    if (target) parent?.element.children.push(element);
    else if (!result.found && element.name === name) target = element;
    if (open.push({ element, leaf: true }) > MAX_DEPTH) throw new Stopped('nested too deep');
  });
  parser.on('closetag', () => {
    const closed = open.pop();
    if (!closed) return;
    closed.element.close(parser.position);
    if (closed.element === target) {
      result.found = target;
      target = null;
    } else if (!target && closed.leaf && closed.element.content.includes(name)) {
      result.wrapping ??= closed.element;
    }
  });
  parser.on('error', (error) => {
    result.fault ??= `${error.message.slice(0, 100)}, byte ${source.offsetOf(parser.position)}`;
    if (!OVERLOOKED.test(error.message)) throw new Stopped(error.message);
  });
  try {
    parser.write(source.text).close();
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    result.fault ??= error.message;
  }
  return result;
}

/** Thrown out of the parser, which goes on after every fault. */
class Stopped extends Error {}

/** An answer has some ten levels. */
const MAX_DEPTH = 100;

const OVERLOOKED =
  /disallowed character\.|undefined entity|malformed character entity|empty entity name|"]]>" is disallowed|duplicate attribute|XML declaration/;

const localName = (name: string) => name.slice(name.indexOf(':') + 1);
