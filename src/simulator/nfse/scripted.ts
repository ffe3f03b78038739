import { Buffer } from 'node:buffer';
import type { Environment } from '../../model/words.js';
import type { ScriptedAnswer } from '../scripts/scripted-answer.js';
import { adnRejection, type PageChange, sefinError } from './answers.js';
import { page, type RestAnswer, tooMany } from './rest.js';

/** What a script puts in the place of the real answer; null when the real one is wanted (though perhaps altered, or lost on its way). */
export function replacement(
  script: ScriptedAnswer | null,
  service: 'nfse-adn' | 'nfse-sefin',
  environment: Environment,
  at: number,
): RestAnswer | null {
  switch (script?.type) {
    case 'rejection':
      return service === 'nfse-adn'
        ? adnRejection(environment, at, script.code)
        : sefinError(script.httpStatus, script.code);
    case 'throttle':
      return tooMany(script.retryAfter ?? null);
    case 'html':
      return page(script.httpStatus, '');
    case 'empty':
      return { ...page(script.httpStatus, ''), body: '' };
    case 'raw':
      return { status: script.httpStatus, contentType: script.contentType, body: Buffer.from(script.body, 'base64') };
    case 'reset':
      return script.counted ? null : { ...page(0, ''), wire: { type: 'reset' } };
    case 'hang':
      return script.counted ? null : { ...page(0, ''), wire: { type: 'hang', ms: script.ms ?? null } };
    default:
      return null;
  }
}

/** What a script changes of a page. */
export function pageChange(script: ScriptedAnswer | null): PageChange & { readonly size?: number } {
  switch (script?.type) {
    case 'page':
      return { size: script.size };
    case 'corrupt':
      return { content: (packed, index) => (index === script.item ? CORRUPTED[script.how](packed) : packed) };
    default:
      return {};
  }
}

const CORRUPTED: Readonly<
  Record<Extract<ScriptedAnswer, { type: 'corrupt' }>['how'], (packed: string) => string | null>
> = {
  cut_gzip: (packed) => packed.slice(0, Math.floor(packed.length / 8) * 4),
  not_gzip: () => Buffer.from('isto nao e gzip').toString('base64'),
  not_base64: () => '### isto nao e base64 ###',
  truncated_xml: (packed) => packed.slice(0, Math.floor(packed.length / 8) * 4),
  doctype: () => Buffer.from('<!DOCTYPE x>').toString('base64'),
  empty: () => null,
};
