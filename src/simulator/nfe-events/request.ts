import type { EventFields } from '../../documents/event-layout.js';
import { nfeEventFaults } from '../../documents/nfe-event-fields.js';
import { MANIFESTATION_RULES } from '../../model/manifestation.js';
import type { EventRequest, ReadEvents } from '../events/dialect.js';
import {
  detailsIn,
  type EventForm,
  layoutOf,
  REASON_FORM,
  readEventHead,
  readRequest,
  SchemaFault,
  textElements,
  textsOf,
} from '../events/form.js';
import type { Element } from '../soap/element.js';

const NFE = 'http://www.portalfiscal.inf.br/nfe';
const MOST_EVENTS = 20;

const LAYOUT = layoutOf(NFE);
const { shape, leaf } = LAYOUT;
const EVENT: EventForm = {
  element: 'evento',
  version: '1.00',
  id: /^ID[0-9]{12}[0-9A-Z]{12}[0-9]{28}$/,
  key: 'chNFe',
  sequence: /^[1-9][0-9]?$/,
};

/** Reads and checks `envEvento` 1.00 as its XSD says. */
export function readEvents(data: readonly Element[], body: string): ReadEvents {
  return readRequest({ data, body, root: 'envEvento' }, (root) => {
    const [lot, ...events] = root.children;
    shape(root, 'envEvento', { versao: '1.00' });
    const texts = textsOf(EVENT.element, body);
    if (events.length < 1 || events.length > MOST_EVENTS) throw new SchemaFault(`${events.length} events`);
    return {
      lot: leaf(lot, 'idLote', /^[0-9]{1,15}$/),
      events: events.map((event, i) => readEvent(event, texts[i] ?? '')),
    };
  });
}

function readEvent(event: Element, text: string): EventRequest {
  const { head, rest } = readEventHead(LAYOUT, EVENT, event, text);
  const [version, ...after] = rest;
  leaf(version, 'verEvento', /^1\.00$/);
  const details = detailsIn(after);
  shape(details, 'detEvento', { versao: '1.00' });
  return { ...head, detailFault: faultOfDetails(head.type, details), details: textElements(details) };
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
    return reason === undefined || REASON_FORM.test(reason) ? null : 'xJust has a wrong form or length';
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
