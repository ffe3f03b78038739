import { gzipSync } from 'node:zlib';
import type { Nsu } from '../../model/nsu.js';
import { escaped, localTime } from '../documents/text.js';
import type { Dialect } from './dialect.js';

/** One docZip. */
export interface AnswerItem {
  /** Null: without the attribute, as answers to a query by key have it. */
  readonly nsu: string | null;
  readonly schema: string;
  /** base64(gzip(xml)), or whatever a test wants to stand there. */
  readonly content: string;
}

/** retDistDFeInt before it is written. A null field is left out. */
export interface DistributionAnswer {
  readonly environmentCode: '1' | '2';
  readonly cStat: string;
  readonly text: string;
  /** dhResp, milliseconds. */
  readonly answeredAt: number;
  readonly ultNsu: Nsu | null;
  readonly maxNsu: Nsu | null;
  readonly items: readonly AnswerItem[];
}

const APPLICATION_VERSION = 'SIM_AN_1.0';

/** Fields of an answer that a script can leave out. */
export const OMITTABLE = ['verAplic', 'xMotivo', 'dhResp', 'ultNSU', 'maxNSU', 'NSU', 'schema'] as const;
export type Omittable = (typeof OMITTABLE)[number];

/** Encodes one document as a docZip holds it. Level 3 is a third faster than the usual 6 and 2 % larger. */
export function docZip(xml: string): string {
  return gzipSync(xml, { level: 3 }).toString('base64');
}

/** Writes retDistDFeInt inside the two elements that the service wraps it in. */
export function writeAnswer(
  dialect: Dialect,
  answer: DistributionAnswer,
  omit: readonly Omittable[] = [],
  prefix = '',
): string {
  const { operation, version } = dialect;
  const [name] = operation.path;
  const tag = prefix === '' ? '' : `${prefix}:`;
  const namespace = prefix === '' ? 'xmlns' : `xmlns:${prefix}`;
  const field = (name: string, value: string | null) =>
    value === null || (omit as readonly string[]).includes(name) ? '' : `<${tag}${name}>${value}</${tag}${name}>`;
  const item = ({ nsu, schema, content }: AnswerItem) =>
    `<${tag}docZip${nsu === null || omit.includes('NSU') ? '' : ` NSU="${nsu}"`}` +
    `${omit.includes('schema') ? '' : ` schema="${escaped(schema)}"`}>${content}</${tag}docZip>`;
  const time = localTime(answer.answeredAt);
  const lot =
    answer.items.length === 0 ? '' : `<${tag}loteDistDFeInt>${answer.items.map(item).join('')}</${tag}loteDistDFeInt>`;
  return (
    `<${name}Response xmlns="${operation.namespace}">` +
    `<${name}Result><${tag}retDistDFeInt ${namespace}="${dialect.namespace}" versao="${version}">` +
    field('tpAmb', answer.environmentCode) +
    field('verAplic', APPLICATION_VERSION) +
    field('cStat', answer.cStat) +
    field('xMotivo', escaped(answer.text)) +
    field('dhResp', dialect.timesHaveOffset ? time : time.slice(0, -6)) +
    field('ultNSU', answer.ultNsu) +
    field('maxNSU', answer.maxNsu) +
    `${lot}</${tag}retDistDFeInt></${name}Result></${name}Response>`
  );
}
