import {
  afterReference,
  byteAt,
  CHARACTER,
  CLOSING_BRACKET,
  DOUBLE_QUOTE,
  EQUALS,
  FORBIDDEN,
  GREATER,
  isBlank,
  LEAD_EF,
  LESS,
  NAME,
  NAME_COLON,
  NAME_START,
  NO_NAME,
  PLAIN,
  resolveReferences,
  SINGLE_QUOTE,
  SLASH,
} from './characters.js';
import { type Found, type PathNode, tidyText } from './paths.js';

/** What the fast way found. */
export interface Scanned {
  /** Which of the roots it was. */
  readonly root: PathNode;
  readonly found: Found;
}

/**
 * The quick way through the XML that services really send: UTF-8, elements, attributes, text and character references. It reads
 * bytes, keeps no position, and makes strings only of wanted fields: several times as fast as a general parser (bench/decode.ts).
 *
 * It decides one thing only: that a document of this plain kind is well-formed. Whatever else it meets (comment, CDATA, processing
 * instruction, DOCTYPE, a name beyond ASCII, another root, any fault) it answers null, and the general parser decides (parse.ts).
 * Tests hold the two against each other.
 *
 * @param xml valid UTF-8 without a byte order mark
 */
export function scan(xml: Buffer, roots: readonly PathNode[], maxDepth: number): Scanned | null {
  // `end` stands behind a `>`, at which every loop below stops: none can run past it.
  const end = endOfRoot(xml);
  let at = startOfRoot(xml);
  if (end < 0 || at < 0) {
    return null;
  }
  const found: Found = [];
  const open = new OpenElements(maxDepth);
  let root: PathNode | null = null;
  let node: PathNode | null = null;
  let textFrom = 0;

  // Each turn begins at a `<` and reads one tag and the text behind it.
  do {
    if (xml[at + 1] === SLASH) {
      const tagEnd = open.close(xml, at + 2);
      if (tagEnd < 0) {
        return null;
      }
      if (node !== null && node.field >= 0) {
        found.push([node.field, fieldText(xml, textFrom, at)]);
      }
      at = tagEnd;
    } else {
      const nameFrom = at + 1;
      // Elements inside a wanted text are rare enough for the general parser.
      if (NAME[byteAt(xml, nameFrom)] !== NAME_START || (node !== null && node.field >= 0)) {
        return null;
      }
      let localFrom = nameFrom;
      at = nameFrom + 1;
      for (let kind = NAME[byteAt(xml, at)]; kind !== NO_NAME; kind = NAME[byteAt(xml, at)]) {
        at++;
        if (kind === NAME_COLON) {
          localFrom = at;
        }
      }
      const nameTo = at;
      let opened: PathNode | null = null;
      if (root === null) {
        opened = childNamed(roots, xml, localFrom, nameTo);
        root = opened;
        if (root === null) {
          return null;
        }
      } else if (node !== null) {
        opened = childNamed(node.children, xml, localFrom, nameTo) ?? node.others;
      }
      if (xml[at] !== GREATER) {
        at = attributesEnd(xml, at, end, opened, found);
        if (at < 0) {
          return null;
        }
      }
      if (xml[at] === SLASH) {
        if (opened !== null && opened.field >= 0) {
          found.push([opened.field, '']);
        }
        at += 2;
      } else {
        if (!open.push(opened, nameFrom, nameTo)) {
          return null;
        }
        at++;
      }
    }
    if (open.depth === 0) {
      return at === end && root !== null ? { root, found } : null;
    }
    node = open.top();
    textFrom = at;
    at = textEnd(xml, at, end);
  } while (at >= 0);
  return null;
}

/** The elements that are open: where their names stand, for the closing tags, and what is wanted in them. */
class OpenElements {
  depth = 0;
  readonly #from: Int32Array;
  readonly #to: Int32Array;
  readonly #nodes: (PathNode | null)[] = [];

  constructor(maxDepth: number) {
    this.#from = new Int32Array(maxDepth);
    this.#to = new Int32Array(maxDepth);
  }

  /** False when too many are open. */
  push(node: PathNode | null, nameFrom: number, nameTo: number): boolean {
    const depth = this.depth;
    if (depth === this.#from.length) {
      return false;
    }
    this.#from[depth] = nameFrom;
    this.#to[depth] = nameTo;
    this.#nodes[depth] = node;
    this.depth = depth + 1;
    return true;
  }

  top(): PathNode | null {
    return this.#nodes[this.depth - 1] ?? null;
  }

  /** Reads the rest of a closing tag, which must name the last opened element. Answers the index behind it, −1 for any other. */
  close(xml: Buffer, nameAt: number): number {
    const last = --this.depth;
    const to = this.#to[last] ?? 0;
    let at = nameAt;
    for (let name = this.#from[last] ?? 0; name < to; name++, at++) {
      if (xml[at] !== xml[name]) {
        return -1;
      }
    }
    return xml[at] === GREATER ? at + 1 : -1;
  }
}

/** Index of the `<` that ends the text; −1 when the text has something that is not plain. */
function textEnd(xml: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end) {
    let kind = CHARACTER[byteAt(xml, at)];
    while (kind === PLAIN) {
      at++;
      kind = CHARACTER[byteAt(xml, at)];
    }
    const byte = xml[at];
    if (byte === LESS) {
      return at;
    }
    if (byte === GREATER && xml[at - 1] === CLOSING_BRACKET && xml[at - 2] === CLOSING_BRACKET) {
      return -1;
    }
    at = afterSpecial(xml, at);
    if (at < 0) {
      return -1;
    }
  }
  return -1;
}

/**
 * Reads attributes up to the `>` or `/>` of their tag, whose index it answers; −1 when they are not plain. Wanted ones go into `found`.
 */
function attributesEnd(xml: Buffer, from: number, end: number, element: PathNode | null, found: Found): number {
  const names: number[] = [];
  let at = from;
  while (isBlank(xml[at])) {
    while (isBlank(xml[at])) {
      at++;
    }
    const nameFrom = at;
    if (NAME[byteAt(xml, nameFrom)] !== NAME_START) {
      break;
    }
    while (NAME[byteAt(xml, at)] !== NO_NAME) {
      at++;
    }
    const nameTo = at;
    const quote = xml[at + 1];
    if (xml[at] !== EQUALS || (quote !== DOUBLE_QUOTE && quote !== SINGLE_QUOTE)) {
      return -1;
    }
    const valueFrom = at + 2;
    at = valueEnd(xml, valueFrom, end, quote);
    if (at < 0 || isRepeated(names, xml, nameFrom, nameTo)) {
      return -1;
    }
    names.push(nameFrom, nameTo);
    for (const wanted of element?.attributes ?? []) {
      if (isSame(wanted.bytes, 0, wanted.bytes.length, xml, nameFrom, nameTo)) {
        found.push([wanted.field, fieldText(xml, valueFrom, at)]);
      }
    }
    at++;
  }
  return xml[at] === GREATER || (xml[at] === SLASH && xml[at + 1] === GREATER) ? at : -1;
}

/** Index of the quote that ends the value; −1 when the value is not plain. */
function valueEnd(xml: Buffer, from: number, end: number, quote: number): number {
  let at = from;
  while (at >= 0 && at < end) {
    const byte = byteAt(xml, at);
    if (byte === quote) {
      return at;
    }
    at = CHARACTER[byte] === PLAIN ? at + 1 : afterSpecial(xml, at);
  }
  return -1;
}

/** Index behind a byte that is not plain (or behind the whole reference that it begins); −1 when it may not stand there. */
function afterSpecial(xml: Buffer, at: number): number {
  const byte = byteAt(xml, at);
  if (byte === GREATER) {
    return at + 1;
  }
  switch (CHARACTER[byte]) {
    case FORBIDDEN:
      return -1;
    case LEAD_EF:
      return xml[at + 1] === 0xbf && byteAt(xml, at + 2) >= 0xbe ? -1 : at + 3;
    default:
      return afterReference(xml, at);
  }
}

/** Each attribute may stand once. More than 16 are none of the scanner's business: comparing all pairs would take too long. */
function isRepeated(names: readonly number[], xml: Buffer, from: number, to: number): boolean {
  if (names.length > 32) {
    return true;
  }
  for (let at = 0; at < names.length; at += 2) {
    const otherFrom = names[at] ?? 0;
    const otherTo = names[at + 1] ?? 0;
    if (isSame(xml, otherFrom, otherTo, xml, from, to)) {
      return true;
    }
  }
  return false;
}

function childNamed(nodes: readonly PathNode[], xml: Buffer, from: number, to: number): PathNode | null {
  for (const node of nodes) {
    if (isSame(node.bytes, 0, node.bytes.length, xml, from, to)) {
      return node;
    }
  }
  return null;
}

function isSame(a: Uint8Array, aFrom: number, aTo: number, b: Uint8Array, bFrom: number, bTo: number): boolean {
  if (aTo - aFrom !== bTo - bFrom) {
    return false;
  }
  let other = bFrom;
  for (let at = aFrom; at < aTo; at++, other++) {
    if (a[at] !== b[other]) {
      return false;
    }
  }
  return true;
}

function fieldText(xml: Buffer, from: number, to: number): string {
  const text = xml.toString('utf8', from, to);
  return tidyText(text.includes('&') ? resolveReferences(text) : text);
}

const DECLARATION =
  /^<\?xml version=["']1\.0["'](?: encoding=["'][A-Za-z0-9._-]+["'])?(?: standalone=["'](?:yes|no)["'])? ?\?>/;

/** Index of the root element's `<`; −1 when something else stands before it. */
function startOfRoot(xml: Buffer): number {
  let at = 0;
  if (xml[1] === 0x3f) {
    const declaration = DECLARATION.exec(xml.toString('latin1', 0, 120));
    if (declaration === null) {
      return -1;
    }
    at = declaration[0].length;
  }
  while (isBlank(xml[at])) {
    at++;
  }
  return xml[at] === LESS && NAME[byteAt(xml, at + 1)] === NAME_START ? at : -1;
}

/** Index behind the last `>`; −1 when something else follows it. */
function endOfRoot(xml: Buffer): number {
  let end = xml.length;
  while (isBlank(xml[end - 1])) {
    end--;
  }
  return xml[end - 1] === GREATER ? end : -1;
}
