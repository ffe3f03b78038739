import { type Element, withDescendants } from '../soap/element.js';
import type { EventRequest, ReadEvents } from './dialect.js';

/** Checks of form that the layouts of events about NF-e and CT-e have in common. */

/** The request is not as its schema says (215). */
export class SchemaFault extends Error {}

/**
 * Reads a request.
 *
 * @param read its layout, from the root element on; may throw {@link SchemaFault}
 */
export function readRequest(
  { data, body, root: name }: { readonly data: readonly Element[]; readonly body: string; readonly root: string },
  read: (root: Element) => { readonly lot: string; readonly events: readonly EventRequest[] },
): ReadEvents {
  const author = authorIn(data);
  const wrong = faultOfData(data, name, body);
  const [root] = data;
  if (wrong !== null || root === undefined) return { ok: false, ...(wrong ?? { cStat: '215', detail: '' }), author };
  try {
    return { ok: true, ...read(root) };
  } catch (error) {
    if (error instanceof SchemaFault) return { ok: false, cStat: '215', detail: error.message, author };
    throw error;
  }
}

/** What is wrong with a request before anybody looks at its layout; null: nothing. */
function faultOfData(data: readonly Element[], root: string, body: string): { cStat: string; detail: string } | null {
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
function authorIn(data: readonly Element[]): string | null {
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

type Layout = ReturnType<typeof layoutOf>;

/** What tells the event of one layout from another's. */
export interface EventForm {
  /** Of the whole event. */
  readonly element: string;
  readonly version: string;
  readonly id: RegExp;
  /** Name of the element that holds the access key. */
  readonly key: string;
  readonly sequence: RegExp;
}

/**
 * The parts of an event that both layouts have, in their order, and the elements of infEvento that follow them.
 *
 * @param text the event to the letter
 */
export function readEventHead(
  { shape, leaf }: Layout,
  { element, version, id: idForm, key: keyElement, sequence: sequenceForm }: EventForm,
  event: Element,
  text: string,
): { readonly head: Omit<EventRequest, 'detailFault' | 'details'>; readonly rest: readonly Element[] } {
  shape(event, element, { versao: version });
  const [info, signature, ...others] = event.children;
  if (info === undefined || signature === undefined || others.length > 0)
    throw new SchemaFault(`${element} must hold infEvento and Signature`);
  const id = info.attributes.find(({ name }) => name === 'Id')?.value ?? '';
  shape(info, 'infEvento', { Id: id });
  if (!idForm.test(id)) throw new SchemaFault('Id does not have the form of its type');
  const [organ, tpAmb, author, key, at, type, sequence, ...rest] = info.children;
  const kind = author?.local === 'CPF' ? 'CPF' : 'CNPJ';
  const head = {
    text,
    id,
    organ: leaf(organ, 'cOrgao', FORMS.organ),
    environmentCode: leaf(tpAmb, 'tpAmb', FORMS.environment),
    author: leaf(author, kind, kind === 'CPF' ? FORMS.cpf : FORMS.cnpj),
    key: leaf(key, keyElement, FORMS.key),
    occurredAt: instantIn(leaf(at, 'dhEvento', FORMS.time)),
    type: leaf(type, 'tpEvento', FORMS.type),
    sequence: Number(leaf(sequence, 'nSeqEvento', sequenceForm)),
  };
  return { head, rest };
}

/** detEvento, which ends infEvento. */
export function detailsIn([details, ...others]: readonly Element[]): Element {
  if (details === undefined) throw new SchemaFault('detEvento is missing');
  if (others.length > 0) throw new SchemaFault(`${others[0]?.local} is one element too many`);
  return details;
}

/** How both layouts write the parts of infEvento. */
const FORMS = {
  organ: /^[0-9]{2}$/,
  environment: /^[12]$/,
  key: /^[0-9]{6}[0-9A-Z]{12}[0-9]{26}$/,
  cnpj: /^[0-9A-Z]{12}[0-9]{2}$/,
  cpf: /^[0-9]{11}$/,
  time: /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d([-+](0\d|10|11):00|\+12:00)$/,
  type: /^[0-9]{6}$/,
} as const;

/** TString of 15 to 255 characters. */
export const REASON_FORM = /^[!-ÿ][ -ÿ]{13,253}[!-ÿ]$/;

function instantIn(text: string): number {
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
