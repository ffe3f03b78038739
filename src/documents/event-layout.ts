/**
 * Layouts as data: which elements stand in an event's `detEvento`, in which order, and what each may hold. One table says what is accepted
 * from outside and what is written, so the two cannot differ.
 */

export interface TextField {
  readonly name: string;
  readonly pattern: RegExp;
  /** What the pattern means, for people: "an amount with two decimals". */
  readonly means: string;
  readonly optional?: true;
  /** Stands in the element of its group, and names the entry: no two of a group's entries have the same. */
  readonly attribute?: true;
}

interface GroupField {
  readonly name: string;
  readonly fields: readonly Field[];
  readonly optional?: true;
  /** Most entries. Absent: the group stands once. */
  readonly most?: number;
}

export type Field = TextField | GroupField;

/** The elements of an event by their names in the layout: strings, groups, lists of groups. */
export interface EventFields {
  readonly [name: string]: string | EventFields | readonly EventFields[];
}

/** A fault in the fields of an event. */
export interface FieldError {
  /** Where, from the outermost element: "gPerecimento[2].vIBS". */
  readonly field: string;
  readonly message: string;
}

/** Everything about `given` that the layout does not allow; then it is none the less no {@link EventFields}. Empty: it is one. */
export function faultsOf(layout: readonly Field[], given: unknown, path = ''): FieldError[] {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return [{ field: path, message: `must be an object with ${namesOf(layout)}` }];
  }
  const known = new Set(layout.map(({ name }) => name));
  const foreign = Object.keys(given)
    .filter((name) => !known.has(name))
    .map((name) => ({ field: joined(path, name), message: `is not in this layout, which has ${namesOf(layout)}` }));
  const values = new Map<string, unknown>(Object.entries(given));
  return [
    ...foreign,
    ...layout.flatMap((field) => faultsOfField(field, values.get(field.name), joined(path, field.name))),
  ];
}

/** The elements as XML, in the layout's order. `given` has no faults. */
export function xmlOf(layout: readonly Field[], given: EventFields): string {
  return layout
    .filter((field) => isGroup(field) || !field.attribute)
    .map((field) => {
      const value = given[field.name];
      if (value === undefined || value === null) return '';
      if (!isGroup(field)) return `<${field.name}>${escaped(String(value))}</${field.name}>`;
      return entriesOf(value)
        .map((entry) => `<${field.name}${attributesOf(field, entry)}>${xmlOf(field.fields, entry)}</${field.name}>`)
        .join('');
    })
    .join('');
}

function faultsOfField(field: Field, value: unknown, path: string): FieldError[] {
  if (value === undefined || value === null) {
    return field.optional ? [] : [{ field: path, message: `is missing: ${meaningOf(field)}` }];
  }
  if (!isGroup(field)) {
    const fits = typeof value === 'string' && field.pattern.test(value);
    return fits ? [] : [{ field: path, message: `must be ${field.means}, as a string` }];
  }
  if (field.most === undefined) return faultsOf(field.fields, value, path);
  const entries: unknown[] = Array.isArray(value) ? value : [value];
  if (entries.length === 0 || entries.length > field.most) {
    return [{ field: path, message: `must have 1 to ${field.most} entries and has ${entries.length}` }];
  }
  return [
    ...entries.flatMap((entry, i) => faultsOf(field.fields, entry, `${path}[${i}]`)),
    ...repetitionsOf(field, entries, path),
  ];
}

function repetitionsOf(group: GroupField, entries: readonly unknown[], path: string): FieldError[] {
  const naming = group.fields.find((field) => !isGroup(field) && field.attribute);
  if (!naming) return [];
  const names = entries.map((entry) => (entry as Record<string, unknown> | null)?.[naming.name]);
  return names.flatMap((name, i) => {
    const first = names.indexOf(name);
    if (typeof name !== 'string' || first === i) return [];
    return [{ field: `${path}[${i}].${naming.name}`, message: `is the same as in ${path}[${first}]` }];
  });
}

function attributesOf({ fields }: GroupField, entry: EventFields): string {
  return fields
    .filter((field) => !isGroup(field) && field.attribute)
    .map(({ name }) => ` ${name}="${escaped(String(entry[name]))}"`)
    .join('');
}

const isGroup = (field: Field): field is GroupField => 'fields' in field;
const entriesOf = (value: EventFields[string]): readonly EventFields[] =>
  Array.isArray(value) ? value : [value as EventFields];
const joined = (path: string, name: string) => (path === '' ? name : `${path}.${name}`);
const namesOf = (fields: readonly Field[]) => fields.map(({ name }) => name).join(', ');
const meaningOf = (field: Field) => (isGroup(field) ? `a group with ${namesOf(field.fields)}` : field.means);
const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
