import type { WireFault } from '../server/service.js';
import type { ScriptedAnswer } from './scripted-answer.js';

/** The part of a script that concerns the wire. */
export function wireFault(script: ScriptedAnswer | null): WireFault | null {
  switch (script?.type) {
    case 'reset':
      return { type: 'reset' };
    case 'hang':
      return { type: 'hang', ms: script.ms ?? null };
    case 'cut':
      return { type: 'cut', afterBytes: script.afterBytes ?? null };
    case 'slow':
      return { type: 'slow', ms: script.ms };
    default:
      return null;
  }
}
