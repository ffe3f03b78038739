/**
 * What a reader wants from an XML document: a name for each path of local element names, compiled into a tree that both parsers walk
 * while they read. Whole subtrees that no path enters (the items of an NF-e are most of its bytes) cost neither names nor text.
 *
 * A path is `a/b/c` for the text of an element or `a/b@Id` for an attribute, relative to the root element; a step `*` is an element of any
 * name that no other path names there. Prefixes and namespaces are ignored: services have answered with wrong ones (contract section 1b).
 */
export type Paths<Name extends string> = Readonly<Record<Name, string>>;

/** One element of the tree. */
export interface PathNode {
  readonly name: string;
  /** `name` as bytes, for comparing without making a string. */
  readonly bytes: Uint8Array;
  readonly children: PathNode[];
  /** What is wanted in children of other names. */
  others: PathNode | null;
  readonly attributes: { readonly name: string; readonly bytes: Uint8Array; readonly field: number }[];
  /** Index of the wanted text, −1 when only what is inside is wanted. */
  field: number;
}

/** Paths as a tree that is walked once while reading. */
export interface CompiledPaths<Name extends string = string> {
  readonly root: PathNode;
  readonly fields: ReadonlyMap<Name, number>;
}

/** The text of every path that was there, by field index and in document order. */
export type Found = [field: number, text: string][];

/** Makes the tree of these paths, which are relative to the root element. */
export function compilePaths<Name extends string>(rootElement: string, paths: Paths<Name>): CompiledPaths<Name> {
  const root = node(rootElement);
  const fields = new Map<Name, number>();
  for (const name of Object.keys(paths) as Name[]) {
    const field = fields.size;
    fields.set(name, field);
    const [elements = '', attribute] = paths[name].split('@');
    const steps = elements.split('/').filter((step) => step !== '');
    const target = steps.reduce(childOf, root);
    if (attribute === undefined) {
      target.field = field;
    } else {
      target.attributes.push({ name: attribute, bytes: Buffer.from(attribute), field });
    }
  }
  return { root, fields };
}

/** Reads fields by name. An element that is absent, empty or blank has no text (case C47). */
export class Fields<Name extends string> {
  readonly #texts: (string | undefined)[] = [];

  constructor(
    private readonly fields: ReadonlyMap<Name, number>,
    private readonly found: Found,
  ) {
    for (const [field, text] of found) {
      this.#texts[field] ??= text;
    }
  }

  /** Text of the first such element, without surrounding blanks; undefined when there is none. */
  text(name: Name): string | undefined {
    return this.#texts[this.#index(name)] || undefined;
  }

  /** Whether there is such an element, be it empty. */
  has(name: Name): boolean {
    return this.#texts[this.#index(name)] !== undefined;
  }

  /** Texts of all such elements, in document order, empty ones left out. */
  all(...names: Name[]): string[] {
    const wanted = new Set(names.map((name) => this.#index(name)));
    return this.found.flatMap(([field, text]) => (wanted.has(field) && text !== '' ? [text] : []));
  }

  #index(name: Name): number {
    return this.fields.get(name) ?? -1;
  }
}

/** What a part of a reader needs of {@link Fields}: it takes the fields of readers that ask for more. */
export type FieldsWith<Name extends string> = Pick<Fields<Name>, 'text' | 'has' | 'all'>;

/** Longer than anything that the layouts allow in a wanted field; a bound, so that no document can blow up a row. */
const LONGEST_TEXT = 255;

/** A field's text as metadata shows it: one line, no blanks around it. Both parsers end here, so they agree on line ends. */
export function tidyText(text: string): string {
  const line = text.trim().replace(/[\t\n\r]+/g, ' ');
  // A character outside the basic plane is two code units: half of one would be no text any more.
  return line.length <= LONGEST_TEXT ? line : line.slice(0, LONGEST_TEXT).replace(/[\uD800-\uDBFF]$/, '');
}

function childOf(parent: PathNode, name: string): PathNode {
  if (name === '*') {
    parent.others ??= node(name);
    return parent.others;
  }
  const known = parent.children.find((child) => child.name === name);
  if (known) {
    return known;
  }
  const child = node(name);
  parent.children.push(child);
  return child;
}

function node(name: string): PathNode {
  return { name, bytes: Buffer.from(name), children: [], others: null, attributes: [], field: -1 };
}
