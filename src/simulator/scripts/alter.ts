import { gunzipSync, gzipSync } from 'node:zlib';
import { addNsu } from '../../model/nsu.js';
import { type AnswerItem, type DistributionAnswer, docZip } from '../distribution/answer.js';
import type { Corruption, ScriptedAnswer } from './scripted-answer.js';

/** Does to a real answer what a script asks for. Scripts that concern the writing or the wire change nothing here. */
export function alter(answer: DistributionAnswer, script: ScriptedAnswer | null): DistributionAnswer {
  switch (script?.type) {
    case 'corrupt':
      return withItem(answer, script.item, (item) => ({ ...item, content: corrupted(item.content, script.how) }));
    case 'schema':
      return withItem(answer, script.item, (item) => ({ ...item, schema: script.schema }));
    case 'ult_above_max':
      return answer.maxNsu === null ? answer : { ...answer, ultNsu: addNsu(answer.maxNsu, script.by) };
    case 'duplicate_nsu': {
      const [first] = answer.items;
      return first === undefined ? answer : { ...answer, items: [...answer.items, otherBytes(first)] };
    }
    case 'reorder':
      return { ...answer, items: answer.items.toReversed() };
    case 'skew':
      return { ...answer, answeredAt: answer.answeredAt + script.ms };
    default:
      return answer;
  }
}

function withItem(
  answer: DistributionAnswer,
  position: number,
  change: (item: AnswerItem) => AnswerItem,
): DistributionAnswer {
  return { ...answer, items: answer.items.map((item, at) => (at === position ? change(item) : item)) };
}

function corrupted(content: string, how: Corruption): string {
  const zipped = Buffer.from(content, 'base64');
  switch (how) {
    case 'cut_gzip':
      return zipped.subarray(0, Math.floor(zipped.length * 0.6)).toString('base64');
    case 'not_gzip':
      return Buffer.from('isto nao e um arquivo comprimido').toString('base64');
    case 'not_base64':
      return `***${content.slice(0, 20)}***`;
    case 'truncated_xml': {
      const xml = gunzipSync(zipped);
      return gzipSync(xml.subarray(0, Math.floor(xml.length * 0.7))).toString('base64');
    }
    case 'doctype':
      return docZip(`<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">]>${gunzipSync(zipped).toString('utf8')}`);
    case 'empty':
      return '';
  }
}

/** The same number with another document: a comment is enough to change the hash. */
function otherBytes(item: AnswerItem): AnswerItem {
  const xml = gunzipSync(Buffer.from(item.content, 'base64')).toString('utf8');
  return { ...item, content: docZip(`${xml}<!-- outra versao -->`) };
}
