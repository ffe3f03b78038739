import type { EventFields } from '../../documents/event-layout.js';
import { nfeEventFaults } from '../../documents/nfe-event-fields.js';
import { MANIFESTATION_RULES } from '../../model/manifestation.js';
import { type Element, withDescendants } from '../soap/element.js';

/** One event of a request, as far as its layout goes. */
export interface EventRequest {
  /** The `evento` element to the letter: what is signed is these characters. */
  readonly text: string;
  readonly id: string;
  readonly organ: string;
  readonly environmentCode: string;
  /** Tax ID of the author. */
  readonly author: string;
  readonly key: string;
  /** Milliseconds. */
  readonly occurredAt: number;
  readonly type: string;
  readonly sequence: number;
  /** What is wrong with detEvento, whose layout depends on the type; null: nothing. */
  readonly detailFault: string | null;
  /** Text elements of detEvento by name. */
  readonly details: Readonly<Record<string, string>>;
}

export type ReadEvents =
  | { readonly ok: true; readonly lot: string; readonly events: readonly EventRequest[] }
  /** The whole request is refused. `author`: what could be made out, for the journal. */
  | { readonly ok: false; readonly cStat: string; readonly detail: string; readonly author: string | null };

const NFE = 'http://www.portalfiscal.inf.br/nfe';
const MOST_EVENTS = 20;

class SchemaFault extends Error {}

/**
 * Reads and checks `envEvento` 1.00 as its XSD says.
 *
 * @param data the elements inside nfeDadosMsg
 * @param body the whole message, in which the events stand to the letter
 */
export function readEvents(data: readonly Element[], body: string): ReadEvents {
  const root = data[0];
  const author = root
    ? ([...withDescendants(root)].find(({ local }) => local === 'CNPJ' || local === 'CPF')?.text ?? null)
    : null;
  const refuse = (cStat: string, detail: string): ReadEvents => ({ ok: false, cStat, detail, author });
  if (root === undefined || data.length !== 1) return refuse('215', 'nfeDadosMsg must hold one element');
  const prefixed = [...withDescendants(root)].find(
    (element) => element.prefix !== '' || element.attributes.some(({ name }) => name.startsWith('xmlns:')),
  );
  if (prefixed !== undefined) return refuse('404', `${prefixed.local} uses or declares a namespace prefix`);
  if (/>\s+</.test(textOf('envEvento', body)[0] ?? '')) return refuse('588', 'white space between tags');
  try {
    const [lot, ...events] = root.children;
    shape(root, 'envEvento', { versao: '1.00' });
    const texts = textOf('evento', body);
    if (events.length < 1 || events.length > MOST_EVENTS) throw new SchemaFault(`${events.length} events`);
    return {
      ok: true,
      lot: leaf(lot, 'idLote', /^[0-9]{1,15}$/),
      events: events.map((event, i) => readEvent(event, texts[i] ?? '')),
    };
  } catch (error) {
    if (error instanceof SchemaFault) return refuse('215', error.message);
    throw error;
  }
}

function readEvent(event: Element, text: string): EventRequest {
  shape(event, 'evento', { versao: '1.00' });
  const [info, signature, ...rest] = event.children;
  if (info === undefined || signature === undefined || rest.length > 0)
    throw new SchemaFault('evento must hold infEvento and Signature');
  const id = info.attributes.find(({ name }) => name === 'Id')?.value ?? '';
  shape(info, 'infEvento', { Id: id });
  if (!/^ID[0-9]{12}[0-9A-Z]{12}[0-9]{28}$/.test(id)) throw new SchemaFault('Id does not have the form of its type');
  const [organ, tpAmb, author, key, at, type, sequence, version, details, ...others] = info.children;
  if (others.length > 0) throw new SchemaFault(`${others[0]?.local} is one element too many`);
  const kind = author?.local === 'CPF' ? 'CPF' : 'CNPJ';
  const tpEvento = leaf(type, 'tpEvento', /^[0-9]{6}$/);
  const occurredAt = leaf(at, 'dhEvento', /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d([-+](0\d|10|11):00|\+12:00)$/);
  const read = {
    text,
    id,
    organ: leaf(organ, 'cOrgao', /^[0-9]{2}$/),
    environmentCode: leaf(tpAmb, 'tpAmb', /^[12]$/),
    author: leaf(author, kind, kind === 'CPF' ? /^[0-9]{11}$/ : /^[0-9A-Z]{12}[0-9]{2}$/),
    key: leaf(key, 'chNFe', /^[0-9]{6}[0-9A-Z]{12}[0-9]{26}$/),
    occurredAt: Date.parse(occurredAt),
    type: tpEvento,
    sequence: Number(leaf(sequence, 'nSeqEvento', /^[1-9][0-9]?$/)),
  };
  if (Number.isNaN(read.occurredAt)) throw new SchemaFault('dhEvento is no time');
  leaf(version, 'verEvento', /^1\.00$/);
  if (details === undefined) throw new SchemaFault('detEvento is missing');
  shape(details, 'detEvento', { versao: '1.00' });
  return { ...read, detailFault: faultOfDetails(tpEvento, details), details: textsOf(details) };
}

/** The second stage of validation: the layout of the event's own type (493). */
function faultOfDetails(type: string, details: Element): string | null {
  const rule = MANIFESTATION_RULES.get(type);
  if (!rule) return null;
  const names = details.children.map(({ local }) => local);
  const [description] = details.children;
  if (description?.local !== 'descEvento' || description.text !== rule.description)
    return 'descEvento is not the one of the type';
  if (rule.class !== 'tax_reform') {
    const expected = rule.justified ? 'descEvento xJust' : 'descEvento';
    if (names.join(' ') !== expected) return `detEvento holds ${names.join(' ')} instead of ${expected}`;
    const reason = details.children[1]?.text;
    return reason === undefined || /^[!-ÿ][ -ÿ]{13,253}[!-ÿ]$/.test(reason) ? null : 'xJust has a wrong form or length';
  }
  const order = rule.type === '110001' ? 'cOrgaoAutor verAplic' : 'cOrgaoAutor tpAutor verAplic';
  if (names.slice(1, 1 + order.split(' ').length).join(' ') !== order) return `after descEvento come ${order}`;
  const [fault] = nfeEventFaults(type, fieldsOf(details));
  return fault === undefined ? null : `${fault.field} ${fault.message}`;
}

function fieldsOf(element: Element): EventFields {
  const fields: Record<string, EventFields[string]> = {};
  for (const { name, value } of element.attributes) if (name !== 'versao' && name !== 'xmlns') fields[name] = value;
  for (const child of element.children) {
    const value = child.children.length === 0 ? child.text : fieldsOf(child);
    const before = fields[child.local];
    if (before === undefined) fields[child.local] = value;
    else fields[child.local] = [...(Array.isArray(before) ? before : [before]), value] as EventFields[];
  }
  return fields;
}

function textsOf(element: Element): Record<string, string> {
  return Object.fromEntries(
    element.children.filter(({ children }) => children.length === 0).map(({ local, text }) => [local, text]),
  );
}

/** An element of this name in the layout's namespace with exactly these attributes. */
function shape(element: Element, local: string, attributes: Readonly<Record<string, string>>): void {
  if (element.local !== local || element.namespace !== NFE)
    throw new SchemaFault(`${element.local} instead of ${local}`);
  const given = element.attributes.filter(({ name }) => name !== 'xmlns');
  const fits =
    given.length === Object.keys(attributes).length && given.every(({ name, value }) => attributes[name] === value);
  if (!fits) throw new SchemaFault(`wrong attributes on ${local}`);
  if (element.text.trim() !== '') throw new SchemaFault(`text inside ${local}`);
}

function leaf(element: Element | undefined, local: string, form: RegExp): string {
  if (element === undefined || element.local !== local || element.namespace !== NFE) {
    throw new SchemaFault(`expected ${local}, found ${element?.local ?? 'nothing'}`);
  }
  if (element.children.length > 0 || element.attributes.some(({ name }) => name !== 'xmlns')) {
    throw new SchemaFault(`${local} holds more than text`);
  }
  if (!form.test(element.text)) throw new SchemaFault(`${local} does not have the form of its type`);
  return element.text;
}

/** Elements of this name to the letter. They do not stand inside each other. */
function textOf(local: string, body: string): string[] {
  return body.match(new RegExp(`<${local}[\\s>][\\s\\S]*?</${local}>`, 'g')) ?? [];
}
