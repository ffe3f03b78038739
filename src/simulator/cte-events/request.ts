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

/** Namespace of CT-e. */
export const CTE = 'http://www.portalfiscal.inf.br/cte';

const LAYOUT = layoutOf(CTE);
const { shape, leaf } = LAYOUT;
const EVENT: EventForm = {
  element: 'eventoCTe',
  version: '4.00',
  id: /^ID[0-9]{12}[0-9A-Z]{12}[0-9]{29}$/,
  key: 'chCTe',
  sequence: /^[0-9]{1,3}$/,
};

/** Reads and checks `eventoCTe` 4.00 as its XSD says. One event is the whole request. */
export function readCteEvent(data: readonly Element[], body: string): ReadEvents {
  const { element } = EVENT;
  return readRequest({ data, body, root: element }, (event) => ({
    lot: '',
    events: [readEvent(event, textsOf(element, body)[0] ?? '')],
  }));
}

function readEvent(event: Element, text: string): EventRequest {
  const { head, rest } = readEventHead(LAYOUT, EVENT, event, text);
  const details = detailsIn(rest);
  shape(details, 'detEvento', { versaoEvento: '4.00' });
  const [layout, ...more] = details.children;
  if (layout === undefined || more.length > 0) throw new SchemaFault('detEvento must hold one element');
  return { ...head, detailFault: faultOfDetails(head.type, layout), details: textElements(layout) };
}

/** The layouts of the types that a taker may send: name of the element, and what stands in it. */
const LAYOUTS: Readonly<
  Record<string, readonly [element: string, ...fields: (readonly [name: string, form: RegExp])[]]>
> = {
  '610110': [
    'evPrestDesacordo',
    ['descEvento', /^Presta(ção do Serviço|cao do Servico) em Desacordo$/],
    ['indDesacordoOper', /^1$/],
    ['xObs', REASON_FORM],
  ],
  '610111': [
    'evCancPrestDesacordo',
    ['descEvento', /^Cancelamento Presta(ção do Serviço|cao do Servico) em Desacordo$/],
    ['nProtEvPrestDes', /^[0-9]{15}$/],
  ],
};

/** The second stage of validation: the layout of the event's own type (630). */
function faultOfDetails(type: string, layout: Element): string | null {
  const [element, ...fields] = LAYOUTS[type] ?? [];
  if (element === undefined) return null;
  try {
    shape(layout, element, {});
    if (layout.children.length !== fields.length) throw new SchemaFault(`${element} has ${fields.length} elements`);
    for (const [i, [name, form]] of fields.entries()) leaf(layout.children[i], name, form);
    return null;
  } catch (error) {
    if (error instanceof SchemaFault) return error.message;
    throw error;
  }
}
