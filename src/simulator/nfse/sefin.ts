import { taxIdRoot } from '../../documents/tax-id.js';
import type { Environment } from '../../model/words.js';
import type { SignatureJudge } from '../events/signature.js';
import type { Rule } from '../rules/state.js';
import { registeredEvent, sefinError, sefinEvent, sefinEventRead, sefinNote } from './answers.js';
import type { Boxes } from './boxes.js';
import { eventsAbout, faultOf } from './event-judge.js';
import { readEventRequest } from './event-request.js';
import type { RestAnswer } from './rest.js';

/** What a call of Sefin came to, and what the journal says of it. */
export interface SefinEnd {
  readonly answer: RestAnswer;
  /** The service's own code, where it has one. */
  readonly code?: string;
  readonly rule?: Rule | null;
  readonly detail?: string;
  readonly documents?: number;
}

interface Asked {
  readonly key: string;
  readonly environment: Environment;
  /** Tax ID in the certificate. */
  readonly holder: string;
  readonly at: number;
}

/** Sefin Nacional: notes by key, and the registration of events about them (contract section 2). */
export class Sefin {
  constructor(
    private readonly parts: {
      readonly boxes: Boxes;
      readonly signatures: SignatureJudge;
      /** A second opinion about the form of every request, e.g. the official schemas: what is wrong with it, or null. */
      readonly inspect?: ((pedRegEvento: string) => string | null) | undefined;
    },
  ) {}

  note({ key, environment, holder, at }: Asked): SefinEnd {
    if (key.length !== 50) return refused(400, 'E0001');
    const note = this.parts.boxes.about(key, environment).find(({ type }) => type === 'NFSE');
    if (!note) return refused(404, 'E2240');
    if (!note.xml.includes(`>${taxIdRoot(holder)}`)) return refused(403, 'E2241');
    return { answer: sefinNote(environment, at, key, note.xml), documents: 1 };
  }

  register({ key, environment, holder, at }: Asked, body: Buffer): SefinEnd {
    const read = readEventRequest(body);
    if (!read.ok) return refused(400, read.code, { rule: 'schema', detail: read.detail });
    const { request } = read;
    const inspected = this.parts.inspect?.(request.text) ?? null;
    if (inspected !== null) return refused(400, 'E1235', { rule: 'schema', detail: inspected });
    const { boxes, signatures } = this.parts;
    const about = boxes.about(key, environment);
    const fault = faultOf(request, { environment, key, at, holder, signatures, about });
    if (fault) return refused(400, fault.code, fault);
    const xml = registeredEvent(request, at);
    boxes.giveToParties({ type: 'EVENTO', key, xml, at }, environment);
    return { answer: sefinEvent(environment, at, xml), documents: 1, detail: `registered ${request.type}` };
  }

  /** As version 1.6.0 does it, which is not what the specification says. */
  event({ key, environment, at }: Asked, type: string, sequence: number): SefinEnd {
    const found = eventsAbout(this.parts.boxes.about(key, environment)).find(
      (event) => event.type === type && event.sequence === sequence,
    );
    // A body without `erro`.
    if (!found) return { answer: { status: 404, contentType: 'application/json', body: '{"tipoAmbiente":2}' } };
    return { answer: sefinEventRead(environment, at, key, found), documents: 1 };
  }
}

function refused(status: number, code: string, more: { rule?: Rule | null; detail?: string } = {}): SefinEnd {
  return { answer: sefinError(status, code), code, ...more };
}
