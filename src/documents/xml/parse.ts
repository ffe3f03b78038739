import { performance } from 'node:perf_hooks';
import { SaxesParser } from 'saxes';
import type { ItemFailure } from '../../model/document.js';
import type { DecodeLimits } from '../limits.js';
import { type Found, type PathNode, tidyText } from './paths.js';

/** Why a document is none. The message is ours: a parser's own could quote the document. */
export class XmlFault extends Error {
  override readonly name = 'XmlFault';
  constructor(
    readonly failure: ItemFailure,
    message: string,
  ) {
    super(message);
  }
}

/** What a document said, as far as somebody asked for it. */
export interface Parsed {
  /** Local name of the root element. */
  readonly rootName: string;
  /** Which of the roots it was; null for another one. */
  readonly root: PathNode | null;
  readonly found: Found;
  /** Of a document with another root: what may hold its key, in document order (see {@link parse}). */
  readonly keyTexts: readonly string[];
}

/** Characters per write: between two of them the clock is read. */
const SLICE = 64 * 1024;

/**
 * The thorough way: any well-formed XML, with comments, CDATA, processing instructions and any names. A document whose root nobody
 * knows is searched for its key: `Id` attributes of elements called `inf…`, and texts of elements called `ch…`.
 *
 * @throws {XmlFault}
 */
export function parse(xml: string, roots: readonly PathNode[], limits: DecodeLimits): Parsed {
  if (hasDoctype(xml)) {
    throw new XmlFault('doctype', 'the document has a DOCTYPE');
  }
  if (xml.trim() === '') {
    throw new XmlFault('empty', 'the document is blank');
  }
  const reader = new Reader(roots, limits.depth);
  const parser = new SaxesParser({ xmlns: false, position: false });
  parser.on('opentag', (tag) => reader.open(localName(tag.name), tag.attributes));
  parser.on('closetag', () => reader.close());
  parser.on('text', (text) => reader.text(text));
  parser.on('cdata', (text) => reader.text(text));
  const deadline = performance.now() + limits.milliseconds;
  try {
    for (let from = 0; from < xml.length; from += SLICE) {
      parser.write(xml.slice(from, from + SLICE));
      if (performance.now() > deadline) {
        throw new XmlFault('too_slow', `not read within ${limits.milliseconds} ms`);
      }
    }
    parser.close();
  } catch (error) {
    throw error instanceof XmlFault
      ? error
      : new XmlFault('not_well_formed', `fault near character ${parser.position}`);
  }
  return reader.result();
}

class Reader {
  readonly #found: Found = [];
  readonly #keyTexts: string[] = [];
  #rootName: string | null = null;
  #root: PathNode | null = null;
  readonly #open: { readonly node: PathNode | null; readonly holdsKey: boolean; text: string }[] = [];

  constructor(
    private readonly roots: readonly PathNode[],
    private readonly maxDepth: number,
  ) {}

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (this.#open.length === this.maxDepth) {
      throw new XmlFault('too_deep', `more than ${this.maxDepth} elements inside each other`);
    }
    let node: PathNode | null;
    if (this.#rootName === null) {
      this.#rootName = name;
      node = this.#root = this.roots.find((root) => root.name === name) ?? null;
    } else {
      const parent = this.#open.at(-1)?.node;
      node = parent?.children.find((child) => child.name === name) ?? parent?.others ?? null;
    }
    for (const wanted of node?.attributes ?? []) {
      const value = attributes[wanted.name];
      if (value !== undefined) {
        this.#found.push([wanted.field, tidyText(value)]);
      }
    }
    const unknownRoot = this.#root === null;
    if (unknownRoot && name.startsWith('inf') && attributes.Id !== undefined) {
      this.#keyTexts.push(tidyText(attributes.Id));
    }
    this.#open.push({ node, holdsKey: unknownRoot && name.startsWith('ch'), text: '' });
  }

  text(text: string): void {
    const element = this.#open.at(-1);
    if (element && (element.holdsKey || (element.node !== null && element.node.field >= 0))) {
      element.text += text;
    }
  }

  close(): void {
    const element = this.#open.pop();
    if (element?.holdsKey) {
      this.#keyTexts.push(tidyText(element.text));
    } else if (element?.node && element.node.field >= 0) {
      this.#found.push([element.node.field, tidyText(element.text)]);
    }
  }

  /** @throws {XmlFault} when there was no element at all, which the parser itself should have refused */
  result(): Parsed {
    if (this.#rootName === null) {
      throw new XmlFault('not_well_formed', 'no root element');
    }
    return { rootName: this.#rootName, root: this.#root, found: this.#found, keyTexts: this.#keyTexts };
  }
}

function localName(name: string): string {
  return name.slice(name.lastIndexOf(':') + 1);
}

/**
 * Whether a DOCTYPE stands before the root element, the only place where it is legal (case C51). A step over each comment and processing
 * instruction: a regular expression for this would take exponential time on a hostile document.
 */
function hasDoctype(xml: string): boolean {
  let at = 0;
  for (;;) {
    while (at < xml.length && xml.charCodeAt(at) <= 0x20) {
      at++;
    }
    const closer = xml.startsWith('<?', at) ? '?>' : xml.startsWith('<!--', at) ? '-->' : null;
    if (closer === null) {
      return xml.startsWith('<!DOCTYPE', at);
    }
    const end = xml.indexOf(closer, at + 2);
    if (end < 0) {
      return false;
    }
    at = end + closer.length;
  }
}
