import { statusText } from '../rules/texts.js';
import { frontPage } from '../server/pages.js';
import type { ServiceAnswer } from '../server/service.js';
import { type SoapVersion, soapContentType, soapFault } from '../soap/envelope.js';
import type { ScriptedAnswer } from './scripted-answer.js';

/** A status that stands in the service's place, or a whole HTTP answer. */
export type Replacement =
  | { readonly type: 'status'; readonly cStat: string; readonly text: string }
  | { readonly type: 'http'; readonly answer: ServiceAnswer };

/** What a script puts in the place of the real answer; null when the real one is wanted (though perhaps altered). */
export function replacement(script: ScriptedAnswer | null, version: SoapVersion): Replacement | null {
  switch (script?.type) {
    case 'status':
      return { type: 'status', cStat: script.cStat, text: script.text ?? statusText(script.cStat) };
    case 'soap_fault': {
      const fault = soapFault(
        version,
        'receiver',
        'O servidor nao pode processar a solicitacao. Tempo limite expirado.',
      );
      return http(script.httpStatus, soapContentType(version), Buffer.from(fault));
    }
    case 'html':
      return http(script.httpStatus, 'text/html; charset=utf-8', Buffer.from(frontPage(script.httpStatus)));
    case 'empty':
      return http(script.httpStatus, soapContentType(version), Buffer.alloc(0));
    case 'raw':
      return http(script.httpStatus, script.contentType, Buffer.from(script.body, 'base64'));
    case 'reset':
      return script.counted ? null : silence({ type: 'reset' });
    case 'hang':
      return script.counted ? null : silence({ type: 'hang', ms: script.ms ?? null });
    default:
      return null;
  }
}

function http(httpStatus: number, contentType: string, body: Buffer): Replacement {
  return { type: 'http', answer: { httpStatus, contentType, body, wire: null } };
}

function silence(wire: NonNullable<ServiceAnswer['wire']>): Replacement {
  return { type: 'http', answer: { httpStatus: 200, contentType: 'text/plain', body: Buffer.alloc(0), wire } };
}
