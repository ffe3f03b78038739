import { SaxesParser } from 'saxes';
import { toUtf8 } from '../../documents/charset.js';
import { DECODE_LIMITS } from '../../documents/limits.js';
import { PdfFailed } from '../errors.js';
import { printable } from './printable.js';

/** Longer than any one-line field of any layout. What is longer still is no document of ours, and must not push everything else away. */
const LONGEST_FIELD = 300;

/**
 * An element of a document. Whatever is asked for and is not there is an element without anything in it, and its text is empty: a layout
 * never meets `undefined`. Names are local names; prefixes are ignored.
 */
export class XmlNode {
  readonly children: XmlNode[] = [];
  #text = '';

  constructor(
    readonly name: string,
    private readonly attributes: Readonly<Record<string, string>>,
  ) {}

  /** Whether the document has the element (be it empty). */
  get exists(): boolean {
    return this !== NOWHERE;
  }

  /** The first element at a path such as `ide/natOp`. A step `*` is the first element of any name. */
  at(path: string): XmlNode {
    let node: XmlNode = this;
    for (const step of path.split('/')) node = node.#child(step);
    return node;
  }

  /** All children of a name, in the document's order. */
  all(name: string): XmlNode[] {
    return this.children.filter((child) => child.name === name);
  }

  /** The text as one line: no line ends, no blanks around it or twice in it. Empty when there is none. */
  text(path?: string): string {
    const text = printable(this.#raw(path)).replace(/\s+/g, ' ').trim();
    return text.length > LONGEST_FIELD ? `${text.slice(0, LONGEST_FIELD)}…` : text;
  }

  /** A long text: its lines, each as one paragraph, none empty. */
  paragraphs(path?: string): string[] {
    return printable(this.#raw(path))
      .split(/[\n\r]+/)
      .map((line) => line.replace(/\s+/g, ' ').trim())
      .filter((line) => line !== '');
  }

  /** The text for machines (the contents of a QR code): only without the blanks around it. */
  code(path?: string): string {
    return this.#raw(path).trim();
  }

  attribute(name: string): string {
    return printable(this.attributes[name] ?? '').trim();
  }

  /** For the reader below. */
  append(text: string): void {
    this.#text += text;
  }

  #raw(path: string | undefined): string {
    return (path === undefined ? this : this.at(path)).#text;
  }

  #child(step: string): XmlNode {
    return (step === '*' ? this.children[0] : this.children.find((child) => child.name === step)) ?? NOWHERE;
  }
}

const NOWHERE = new XmlNode('', {});

/**
 * Reads a document into memory; its root element.
 *
 * @throws {PdfFailed} `unreadable`
 */
export function readXml(xml: Uint8Array): XmlNode {
  if (xml.byteLength > DECODE_LIMITS.expandedBytes) {
    throw new PdfFailed('unreadable', `The document has more than ${DECODE_LIMITS.expandedBytes} bytes`);
  }
  const text = toUtf8(Buffer.from(xml.buffer, xml.byteOffset, xml.byteLength));
  if (!text.ok) throw new PdfFailed('unreadable', `The document ${text.detail}`);

  const document = new XmlNode('', {});
  const open = [document];
  const parser = new SaxesParser({ xmlns: false, position: false });
  parser.on('doctype', () => {
    throw new PdfFailed('unreadable', 'The document has a DOCTYPE');
  });
  parser.on('opentag', ({ name, attributes }) => {
    if (open.length > DECODE_LIMITS.depth) {
      throw new PdfFailed('unreadable', `The document has more than ${DECODE_LIMITS.depth} elements inside each other`);
    }
    const node = new XmlNode(name.slice(name.indexOf(':') + 1), attributes);
    open.at(-1)?.children.push(node);
    open.push(node);
  });
  parser.on('closetag', () => void open.pop());
  const append = (part: string) => open.at(-1)?.append(part);
  parser.on('text', append);
  parser.on('cdata', append);
  try {
    parser.write(text.utf8.toString('utf8')).close();
  } catch (error) {
    // Rebuilt: the parser's own message could quote the document.
    throw error instanceof PdfFailed
      ? error
      : new PdfFailed('unreadable', `The document is not well-formed (near character ${parser.position})`);
  }
  return document.at('*');
}
