import { type Element, withDescendants } from '../soap/element.js';

/** Checks of form that the layouts of events about NF-e and CT-e have in common. */

/** The request is not as its schema says (215). */
export class SchemaFault extends Error {}

/** What is wrong with a request before anybody looks at its layout; null: nothing. */
export function faultOfData(
  data: readonly Element[],
  root: string,
  body: string,
): { cStat: string; detail: string } | null {
  const [first] = data;
  if (first === undefined || data.length !== 1)
    return { cStat: '215', detail: 'the data element must hold one element' };
  const prefixed = [...withDescendants(first)].find(
    (element) => element.prefix !== '' || element.attributes.some(({ name }) => name.startsWith('xmlns:')),
  );
  if (prefixed !== undefined) return { cStat: '404', detail: `${prefixed.local} uses or declares a namespace prefix` };
  if (/>\s+</.test(textsOf(root, body)[0] ?? '')) return { cStat: '588', detail: 'white space between tags' };
  return null;
}

/** The tax ID that a request names first, if one can be made out. */
export function authorIn(data: readonly Element[]): string | null {
  const [first] = data;
  if (first === undefined) return null;
  return [...withDescendants(first)].find(({ local }) => local === 'CNPJ' || local === 'CPF')?.text ?? null;
}

/** Elements of this name to the letter. They do not stand inside each other. */
export function textsOf(local: string, body: string): string[] {
  return body.match(new RegExp(`<${local}[\\s>][\\s\\S]*?</${local}>`, 'g')) ?? [];
}

/** Readers of one layout, by its namespace. They throw {@link SchemaFault}. */
export function layoutOf(namespace: string) {
  return {
    /** An element of this name with exactly these attributes. */
    shape(element: Element, local: string, attributes: Readonly<Record<string, string>>): void {
      if (element.local !== local || element.namespace !== namespace)
        throw new SchemaFault(`${element.local} instead of ${local}`);
      const given = element.attributes.filter(({ name }) => name !== 'xmlns');
      const fits =
        given.length === Object.keys(attributes).length && given.every(({ name, value }) => attributes[name] === value);
      if (!fits) throw new SchemaFault(`wrong attributes on ${local}`);
      if (element.text.trim() !== '') throw new SchemaFault(`text inside ${local}`);
    },
    /** The text of an element that holds nothing else. */
    leaf(element: Element | undefined, local: string, form: RegExp): string {
      if (element === undefined || element.local !== local || element.namespace !== namespace) {
        throw new SchemaFault(`expected ${local}, found ${element?.local ?? 'nothing'}`);
      }
      if (element.children.length > 0 || element.attributes.some(({ name }) => name !== 'xmlns')) {
        throw new SchemaFault(`${local} holds more than text`);
      }
      if (!form.test(element.text)) throw new SchemaFault(`${local} does not have the form of its type`);
      return element.text;
    },
  };
}

/** How both layouts write the parts of infEvento. */
export const FORMS = {
  organ: /^[0-9]{2}$/,
  environment: /^[12]$/,
  key: /^[0-9]{6}[0-9A-Z]{12}[0-9]{26}$/,
  cnpj: /^[0-9A-Z]{12}[0-9]{2}$/,
  cpf: /^[0-9]{11}$/,
  time: /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d([-+](0\d|10|11):00|\+12:00)$/,
  type: /^[0-9]{6}$/,
  /** TString of 15 to 255 characters. */
  reason: /^[!-ÿ][ -ÿ]{13,253}[!-ÿ]$/,
} as const;

export function instantIn(text: string): number {
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw new SchemaFault('dhEvento is no time');
  return at;
}

/** Text elements of this one, by name. */
export function textElements(element: Element): Record<string, string> {
  return Object.fromEntries(
    element.children.filter(({ children }) => children.length === 0).map(({ local, text }) => [local, text]),
  );
}
