import { MANIFESTATION_RULES } from '../model/manifestation.js';
import { type EventFields, type Field, type FieldError, faultsOf, type TextField, xmlOf } from './event-layout.js';
import { UFS, type Uf, ufCode } from './uf.js';

/**
 * What stands in `detEvento` of the recipient's Tax Reform events (NT 2025.002) after `descEvento`. Names, order and patterns are those of
 * the XSDs `e<type>_v1.00.xsd`; tests hold this table against them.
 */

const pattern = (source: string) => new RegExp(`^(?:${source})$`);
const text = (name: string, source: string, means: string): TextField => ({ name, pattern: pattern(source), means });

/** TDec_1302 */
const amount = (name: string) => text(name, '0|0\\.[0-9]{2}|[1-9][0-9]{0,12}(\\.[0-9]{2})?', 'an amount like 1234.56');
/** TDec_1104 */
const quantity = (name: string) =>
  text(name, '0|0\\.[0-9]{4}|[1-9][0-9]{0,10}(\\.[0-9]{4})?', 'a quantity, whole or with four decimals');
/** TDec_0302_04 */
const percentage = (name: string) =>
  text(name, '0|0\\.[0-9]{2,4}|[1-9][0-9]{0,2}(\\.[0-9]{2,4})?', 'a percentage like 12.5000');
/** TString of 1 to 6 characters */
const unit = (name: string) => text(name, '[!-ÿ]|[!-ÿ][ -ÿ]{0,4}[!-ÿ]', 'a unit of 1 to 6 characters');
const nItem: TextField = {
  ...text('nItem', '[1-9][0-9]?|[1-8][0-9]{2}|9[0-8][0-9]|990', 'the number of an item of the note, 1 to 990'),
  attribute: true,
};
const creditCode = text('cCredPres', '[0-9]{2}', 'a code of two digits (table of presumed credits)');
const acceptance = text('indAceitacao', '[01]', '0 (not accepted) or 1 (accepted)');

const MOST_ITEMS = 990;
const items = (name: string, ...fields: readonly Field[]): Field => ({
  name,
  fields: [nItem, ...fields],
  most: MOST_ITEMS,
});
const stock = (...names: readonly [quantity: string, unit: string]): Field => ({
  name: 'gControleEstoque',
  fields: [quantity(names[0]), unit(names[1])],
});
const credit = (name: string, ...fields: readonly Field[]): Field => ({ name, fields, optional: true });

/** The group of NT 2025.002 v1.40 and later, which the published XSD does not have yet … */
const CREDIT_REQUEST: readonly Field[] = [
  items(
    'gCredPresOper',
    amount('vBCCredPres'),
    creditCode,
    credit('gIBSCredPres', percentage('pCredPres'), amount('vCredPres')),
    credit('gCBSCredPres', percentage('pCredPres'), amount('vCredPres')),
  ),
];
/** … and the one that it has. Which of the two is meant is told by its name. */
const CREDIT_REQUEST_OF_XSD: readonly Field[] = [
  items(
    'gCredPres',
    amount('vBC'),
    credit('gIBS', creditCode, percentage('pCredPres'), amount('vCredPres')),
    credit('gCBS', creditCode, percentage('pCredPres'), amount('vCredPres')),
  ),
];

/** The recipient's events that can be cancelled; 211120 is registered no more, but was (ended by NT 2025.002 v1.40). */
const CANCELLABLE = '211110 211120 211124 211128 211130 211140 211150 212110 212120'.split(' ');

const LAYOUTS: Readonly<Record<string, readonly Field[]>> = {
  '211110': CREDIT_REQUEST,
  '211124': [items('gPerecimento', amount('vIBS'), amount('vCBS'), stock('qPerecimento', 'uPerecimento'))],
  '211128': [acceptance],
  '211130': [items('gImobilizacao', amount('vIBS'), amount('vCBS'), stock('qImobilizado', 'uImobilizado'))],
  '211140': [items('gConsumoComb', amount('vIBS'), amount('vCBS'), stock('qComb', 'uComb'))],
  '211150': [items('gCredito', amount('vCredIBS'), amount('vCredCBS'))],
  '212110': [acceptance],
  '212120': [acceptance],
  '110001': [
    text('tpEventoAut', CANCELLABLE.join('|'), `the type of the cancelled event: ${CANCELLABLE.join(', ')}`),
    text('nProtEvento', '[0-9]{15}|[0-9]{17}', 'the protocol of the cancelled event, 15 or 17 digits'),
  ],
};

/** tpAutor by type: 2 recipient, 8 successor company; the first is the default. None: the layout has no tpAutor. */
const AUTHORS: Readonly<Record<string, readonly string[]>> = {
  '211110': ['2', '1'],
  '212110': ['8'],
  '212120': ['8'],
  '110001': [],
};
const RECIPIENT = ['2'] as const;

/** What the sender writes itself, unless it was given. */
export interface EventDefaults {
  /** Of the author: becomes cOrgaoAutor. */
  readonly uf: Uf;
  /** Our name and version, 1 to 20 characters: becomes verAplic. */
  readonly application: string;
}

/** Everything that is wrong with the fields given for a Tax Reform event. Empty: {@link nfeEventDetails} will write them. */
export function nfeEventFaults(type: string, given: unknown): FieldError[] {
  return faultsOf([...commonFields(type), ...layoutOf(type, given)], given);
}

/**
 * What follows `descEvento`, as XML. `given` has no faults.
 *
 * @throws {Error} for a type without such a layout: a bug of the caller
 */
export function nfeEventDetails(type: string, given: EventFields, { uf, application }: EventDefaults): string {
  const [author] = authorsOf(type);
  const common = { cOrgaoAutor: ufCode(uf), ...(author !== undefined && { tpAutor: author }), verAplic: application };
  const written = commonFields(type).filter(({ name }) => name !== 'descEvento');
  return xmlOf([...written, ...layoutOf(type, given)], { ...common, ...given });
}

/** Elements that may be left out: descEvento belongs to the type, the others to the sender. */
function commonFields(type: string): readonly TextField[] {
  const description = MANIFESTATION_RULES.get(type)?.description ?? '';
  const authors = authorsOf(type);
  const codes = UFS.map(ufCode);
  return [
    text('descEvento', escapedForPattern(description), `"${description}", to the letter (it may be left out)`),
    text('cOrgaoAutor', codes.join('|'), 'the IBGE code of a UF'),
    ...(authors.length > 0 ? [text('tpAutor', authors.join('|'), `${authors.join(' or ')} for this event`)] : []),
    text('verAplic', '[!-ÿ]|[!-ÿ][ -ÿ]{0,18}[!-ÿ]', 'a name of 1 to 20 characters'),
  ].map((field) => ({ ...field, optional: true }));
}

function layoutOf(type: string, given: unknown): readonly Field[] {
  const layout = LAYOUTS[type];
  if (!layout) throw new Error(`${type} has no layout of its own`);
  const isOfXsd = type === '211110' && typeof given === 'object' && given !== null && 'gCredPres' in given;
  return isOfXsd ? CREDIT_REQUEST_OF_XSD : layout;
}

const authorsOf = (type: string): readonly string[] => AUTHORS[type] ?? RECIPIENT;
const escapedForPattern = (literal: string) => literal.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
