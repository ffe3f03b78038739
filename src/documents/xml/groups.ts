import type { FieldsWith } from './paths.js';

/** Groups of fields that become one object of metadata: names, and where each stands below a common element. */
type Group = Readonly<Record<string, string>>;
type GroupPath<Name extends string, G extends Group> = `${Name}.${string & keyof G}`;

/** The paths of a group, each under `<name>.<field>`. */
export function compileGroup<Name extends string, G extends Group>(
  name: Name,
  base: string,
  group: G,
): Record<GroupPath<Name, G>, string> {
  return Object.fromEntries(
    Object.entries(group).map(([field, path]) => [`${name}.${field}`, `${base}/${path}`]),
  ) as Record<GroupPath<Name, G>, string>;
}

/**
 * What the document has of a group.
 *
 * @param more fields of the same object from elsewhere
 * @returns undefined when there is nothing
 */
export function readGroup<Name extends string, G extends Group>(
  xml: FieldsWith<GroupPath<NoInfer<Name>, NoInfer<G>>>,
  name: Name,
  group: G,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> | undefined {
  const read = Object.keys(group).flatMap((field) => {
    const text = xml.text(`${name}.${field}` as GroupPath<Name, G>);
    return text === undefined ? [] : [[field, text] as const];
  });
  const all = { ...Object.fromEntries(read), ...more };
  return Object.keys(all).length > 0 ? all : undefined;
}
