import type { EventFields } from '../../documents/event-layout.js';
import { nfeEventFaults } from '../../documents/nfe-event-fields.js';
import { MANIFESTATION_RULES } from '../../model/manifestation.js';
import type { EventRequest, ReadEvents } from '../events/dialect.js';
import {
  authorIn,
  FORMS,
  faultOfData,
  instantIn,
  layoutOf,
  SchemaFault,
  textElements,
  textsOf,
} from '../events/form.js';
import type { Element } from '../soap/element.js';

const NFE = 'http://www.portalfiscal.inf.br/nfe';
const MOST_EVENTS = 20;

const { shape, leaf } = layoutOf(NFE);

/** Reads and checks `envEvento` 1.00 as its XSD says. */
export function readEvents(data: readonly Element[], body: string): ReadEvents {
  const author = authorIn(data);
  const wrong = faultOfData(data, 'envEvento', body);
  const [root] = data;
  if (wrong !== null || root === undefined) return { ok: false, ...(wrong ?? { cStat: '215', detail: '' }), author };
  try {
    const [lot, ...events] = root.children;
    shape(root, 'envEvento', { versao: '1.00' });
    const texts = textsOf('evento', body);
    if (events.length < 1 || events.length > MOST_EVENTS) throw new SchemaFault(`${events.length} events`);
    return {
      ok: true,
      lot: leaf(lot, 'idLote', /^[0-9]{1,15}$/),
      events: events.map((event, i) => readEvent(event, texts[i] ?? '')),
    };
  } catch (error) {
    if (error instanceof SchemaFault) return { ok: false, cStat: '215', detail: error.message, author };
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
  const tpEvento = leaf(type, 'tpEvento', FORMS.type);
  const occurredAt = leaf(at, 'dhEvento', FORMS.time);
  const read = {
    text,
    id,
    organ: leaf(organ, 'cOrgao', FORMS.organ),
    environmentCode: leaf(tpAmb, 'tpAmb', FORMS.environment),
    author: leaf(author, kind, kind === 'CPF' ? FORMS.cpf : FORMS.cnpj),
    key: leaf(key, 'chNFe', FORMS.key),
    occurredAt: instantIn(occurredAt),
    type: tpEvento,
    sequence: Number(leaf(sequence, 'nSeqEvento', /^[1-9][0-9]?$/)),
  };
  leaf(version, 'verEvento', /^1\.00$/);
  if (details === undefined) throw new SchemaFault('detEvento is missing');
  shape(details, 'detEvento', { versao: '1.00' });
  return { ...read, detailFault: faultOfDetails(tpEvento, details), details: textElements(details) };
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
    return reason === undefined || FORMS.reason.test(reason) ? null : 'xJust has a wrong form or length';
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
