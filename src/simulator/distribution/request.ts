import { isAccessKey } from '../../documents/access-key.js';
import { isTaxId } from '../../documents/tax-id.js';
import { ufByCode } from '../../documents/uf.js';
import type { Nsu } from '../../model/nsu.js';
import { type Element, withDescendants } from '../soap/element.js';
import type { Dialect } from './dialect.js';

type DistributionQuestion =
  | { readonly kind: 'distNSU'; readonly nsu: Nsu }
  | { readonly kind: 'consNSU'; readonly nsu: Nsu }
  | { readonly kind: 'consChNFe'; readonly key: string };

/** A question, read. */
export interface DistributionRequest {
  /** tpAmb. */
  readonly environmentCode: '1' | '2';
  readonly taxId: string;
  readonly question: DistributionQuestion;
}

/** A question, or the status that it is refused with. */
export type ReadRequest =
  | { readonly ok: true; readonly request: DistributionRequest }
  /** `taxId` is what could be made out, for the journal. */
  | { readonly ok: false; readonly cStat: string; readonly detail: string; readonly taxId: string | null };

const NSU = /^[0-9]{15}$/;

class SchemaFault extends Error {}

type Layout = Pick<Dialect, 'namespace' | 'version' | 'demandsUf' | 'byKey'>;

/** Reads and checks `distDFeInt` as its XSD says, in the order in which the service finds fault. */
export function readDistributionRequest(data: readonly Element[], layout: Layout): ReadRequest {
  const root = data[0];
  const taxId = root === undefined ? null : looseTaxId(root);
  const refuse = (cStat: string, detail: string): ReadRequest => ({ ok: false, cStat, detail, taxId });
  if (root === undefined || data.length !== 1) return refuse('215', 'the data must be one element');

  const prefixed = [...withDescendants(root)].find(
    (element) => element.prefix !== '' || element.attributes.some(({ name }) => name.startsWith('xmlns:')),
  );
  if (prefixed !== undefined) return refuse('404', `${prefixed.local} uses or declares a namespace prefix`);

  const version = root.attributes.find(({ name }) => name === 'versao')?.value;
  if (root.local === 'distDFeInt' && version !== undefined && version !== layout.version)
    return refuse('239', `versao ${version}`);
  try {
    return { ok: true, request: checked(root, layout) };
  } catch (error) {
    if (error instanceof SchemaFault) return refuse('215', error.message);
    throw error;
  }
}

function checked(root: Element, layout: Layout): DistributionRequest {
  if (root.local !== 'distDFeInt' || root.namespace !== layout.namespace)
    throw new SchemaFault('root is not distDFeInt');
  onlyAttributes(root, ['versao']);
  if (!root.attributes.some(({ name }) => name === 'versao')) throw new SchemaFault('versao is missing');
  noText(root);

  const rest = [...root.children];
  // Prefixes are refused, so every element has the namespace of its own xmlns, or of the nearest around it.
  const stranger = [...withDescendants(root)].find(({ namespace }) => namespace !== layout.namespace);
  if (stranger !== undefined) throw new SchemaFault(`${stranger.local} is in a wrong namespace`);
  const tpAmb = take(rest, ['tpAmb'], /^[12]$/);
  if (layout.demandsUf || rest[0]?.local === 'cUFAutor') {
    const code = take(rest, ['cUFAutor'], /^[0-9]{2}$/);
    if (ufByCode(code.value) === undefined) throw new SchemaFault(`cUFAutor ${code.value} is no federal unit`);
  }
  const holder = take(rest, ['CNPJ', 'CPF'], /^([0-9A-Z]{12}[0-9]{2}|[0-9]{11})$/);
  if ((holder.local === 'CPF') !== (holder.value.length === 11))
    throw new SchemaFault(`${holder.local} has a wrong length`);
  const question = group(rest, layout);
  if (rest.length > 0) throw new SchemaFault(`${rest[0]?.local} is one element too many`);
  return { environmentCode: tpAmb.value === '1' ? '1' : '2', taxId: holder.value, question };
}

function group(rest: Element[], { byKey }: Layout): DistributionQuestion {
  const element = rest.shift();
  if (element === undefined) throw new SchemaFault('the question is missing');
  onlyAttributes(element, []);
  noText(element);
  const inside = [...element.children];
  let question: DistributionQuestion;
  switch (byKey || element.local !== 'consChNFe' ? element.local : '') {
    case 'distNSU':
      // NSUs are xs:token: the schema ignores blanks around them.
      question = { kind: 'distNSU', nsu: take(inside, ['ultNSU'], NSU, true).value as Nsu };
      break;
    case 'consNSU':
      question = { kind: 'consNSU', nsu: take(inside, ['NSU'], NSU, true).value as Nsu };
      break;
    case 'consChNFe':
      question = { kind: 'consChNFe', key: take(inside, ['chNFe'], /^[0-9]{6}[0-9A-Z]{12}[0-9]{26}$/).value };
      break;
    default:
      throw new SchemaFault(`${element.local} is no question`);
  }
  if (inside.length > 0) throw new SchemaFault(`${element.local} holds more than one element`);
  return question;
}

/** Takes the next element, which must have one of these names and a text of this form. */
function take(
  rest: Element[],
  names: readonly string[],
  form: RegExp,
  token = false,
): { local: string; value: string } {
  const element = rest.shift();
  if (element === undefined || !names.includes(element.local)) {
    throw new SchemaFault(`expected ${names.join(' or ')}, found ${element?.local ?? 'nothing'}`);
  }
  onlyAttributes(element, []);
  if (element.children.length > 0) throw new SchemaFault(`${element.local} must not hold elements`);
  const value = token ? element.text.trim() : element.text;
  if (!form.test(value)) throw new SchemaFault(`${element.local} does not have the form of its type`);
  return { local: element.local, value };
}

function onlyAttributes(element: Element, allowed: readonly string[]): void {
  const stranger = element.attributes.find(({ name }) => name !== 'xmlns' && !allowed.includes(name));
  if (stranger !== undefined) throw new SchemaFault(`attribute ${stranger.name} on ${element.local}`);
}

function noText(element: Element): void {
  if (element.text.trim() !== '') throw new SchemaFault(`text inside ${element.local}`);
}

function looseTaxId(root: Element): string | null {
  const element = [...withDescendants(root)].find(({ local }) => local === 'CNPJ' || local === 'CPF');
  return element?.text ?? null;
}

/** The rejection of a well-formed tax ID that nobody can have; null when it is right. */
export function taxIdFault(taxId: string): string | null {
  if (isTaxId(taxId)) return null;
  return taxId.length === 11 ? '490' : '489';
}

/** The rejection of an access key that no NF-e can have; null when it is right. */
export function keyFault(key: string): string | null {
  if (!isAccessKey(key)) return '236';
  if (ufByCode(key.slice(0, 2)) === undefined) return '614';
  const month = Number(key.slice(4, 6));
  if (month < 1 || month > 12) return '616';
  const holder = key.slice(6, 20);
  if (!isTaxId(holder) && !(holder.startsWith('000') && isTaxId(holder.slice(3)))) return '617';
  if (key.slice(20, 22) !== '55') return '618';
  return key.slice(25, 34) === '000000000' ? '619' : null;
}
