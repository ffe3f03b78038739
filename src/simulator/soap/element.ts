import { SaxesParser } from 'saxes';

/** An element of a parsed message. Requests to the government are small: a tree is the simplest thing to check them on. */
export interface Element {
  readonly local: string;
  readonly prefix: string;
  readonly namespace: string;
  readonly attributes: readonly { readonly name: string; readonly value: string }[];
  readonly children: Element[];
  /** Own text, without that of the children. */
  text: string;
}

/** Thrown for bytes that are no well-formed XML document, or have a DOCTYPE. */
export class MalformedXml extends Error {
  override readonly name = 'MalformedXml';
}

/**
 * Parses a document into a tree, and tells the encoding it declares.
 *
 * @throws {MalformedXml}
 */
export function parseXml(text: string): { root: Element; declaredEncoding: string | null } {
  const parser = new SaxesParser({ xmlns: true });
  const open: Element[] = [];
  let root: Element | null = null;
  let declaredEncoding: string | null = null;
  parser.on('error', (error) => {
    throw new MalformedXml(error.message);
  });
  parser.on('xmldecl', (declaration) => {
    declaredEncoding = declaration.encoding ?? null;
  });
  parser.on('doctype', () => {
    throw new MalformedXml('DOCTYPE is not allowed');
  });
  parser.on('opentag', (tag) => {
    const element: Element = {
      local: tag.local,
      prefix: tag.prefix,
      namespace: tag.uri,
      attributes: Object.values(tag.attributes).map(({ name, value }) => ({ name, value })),
      children: [],
      text: '',
    };
    open.at(-1)?.children.push(element);
    root ??= element;
    open.push(element);
  });
  parser.on('closetag', () => {
    open.pop();
  });
  const addText = (chunk: string) => {
    const element = open.at(-1);
    if (element !== undefined) element.text += chunk;
  };
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.write(text).close();
  if (root === null) throw new MalformedXml('No element');
  return { root, declaredEncoding };
}

/** The only child with this local name; null when there is none or more than one. */
export function onlyChild(element: Element, local: string): Element | null {
  const found = element.children.filter((child) => child.local === local);
  return found.length === 1 ? (found[0] ?? null) : null;
}

/** The element and everything below it. */
export function* withDescendants(element: Element): Generator<Element> {
  yield element;
  for (const child of element.children) yield* withDescendants(child);
}
