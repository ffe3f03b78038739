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

export const CTE = 'http://www.portalfiscal.inf.br/cte';

const { shape, leaf } = layoutOf(CTE);

/** Reads and checks `eventoCTe` 4.00 as its XSD says. One event is the whole request. */
export function readCteEvent(data: readonly Element[], body: string): ReadEvents {
  const author = authorIn(data);
  const wrong = faultOfData(data, 'eventoCTe', body);
  const [root] = data;
  if (wrong !== null || root === undefined) return { ok: false, ...(wrong ?? { cStat: '215', detail: '' }), author };
  try {
    return { ok: true, lot: '', events: [readEvent(root, textsOf('eventoCTe', body)[0] ?? '')] };
  } catch (error) {
    if (error instanceof SchemaFault) return { ok: false, cStat: '215', detail: error.message, author };
    throw error;
  }
}

function readEvent(event: Element, text: string): EventRequest {
  shape(event, 'eventoCTe', { versao: '4.00' });
  const [info, signature, ...rest] = event.children;
  if (info === undefined || signature === undefined || rest.length > 0)
    throw new SchemaFault('eventoCTe must hold infEvento and Signature');
  const id = info.attributes.find(({ name }) => name === 'Id')?.value ?? '';
  shape(info, 'infEvento', { Id: id });
  if (!/^ID[0-9]{12}[0-9A-Z]{12}[0-9]{29}$/.test(id)) throw new SchemaFault('Id does not have the form of its type');
  const [organ, tpAmb, author, key, at, type, sequence, details, ...others] = info.children;
  if (others.length > 0) throw new SchemaFault(`${others[0]?.local} is one element too many`);
  if (details === undefined) throw new SchemaFault('detEvento is missing');
  shape(details, 'detEvento', { versaoEvento: '4.00' });
  const [layout, ...more] = details.children;
  if (layout === undefined || more.length > 0) throw new SchemaFault('detEvento must hold one element');
  const kind = author?.local === 'CPF' ? 'CPF' : 'CNPJ';
  const tpEvento = leaf(type, 'tpEvento', FORMS.type);
  return {
    text,
    id,
    organ: leaf(organ, 'cOrgao', FORMS.organ),
    environmentCode: leaf(tpAmb, 'tpAmb', FORMS.environment),
    author: leaf(author, kind, kind === 'CPF' ? FORMS.cpf : FORMS.cnpj),
    key: leaf(key, 'chCTe', FORMS.key),
    occurredAt: instantIn(leaf(at, 'dhEvento', FORMS.time)),
    type: tpEvento,
    sequence: Number(leaf(sequence, 'nSeqEvento', /^[0-9]{1,3}$/)),
    detailFault: faultOfDetails(tpEvento, layout),
    details: textElements(layout),
  };
}

/** The layouts of the types that a taker may send: name of the element, and what stands in it. */
const LAYOUTS: Readonly<
  Record<string, readonly [element: string, ...fields: (readonly [name: string, form: RegExp])[]]>
> = {
  '610110': [
    'evPrestDesacordo',
    ['descEvento', /^Presta(ção do Serviço|cao do Servico) em Desacordo$/],
    ['indDesacordoOper', /^1$/],
    ['xObs', FORMS.reason],
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
