import type { Environment } from '../../model/words.js';
import type { ClientIdentity } from './client-identity.js';

/** One HTTPS call that reached a service: the certificate was accepted, the whole request is there. */
export interface ServiceCall {
  readonly environment: Environment;
  readonly identity: ClientIdentity;
  readonly contentType: string;
  readonly soapAction: string | null;
  readonly body: Buffer;
  /** Milliseconds of the simulator's clock. */
  readonly at: number;
}

/** What happens to an answer on its way. */
export type WireFault =
  | { readonly type: 'reset' }
  | { readonly type: 'hang'; readonly ms: number | null }
  | { readonly type: 'cut'; readonly afterBytes: number | null }
  | { readonly type: 'slow'; readonly ms: number };

/** What a service says; the front sends it. */
export interface ServiceAnswer {
  readonly httpStatus: number;
  readonly contentType: string;
  readonly body: Buffer;
  readonly wire: WireFault | null;
  /** Besides the usual ones. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Called once, when the exchange is over: `delivered` says whether all of the answer left. */
  readonly over?: (delivered: boolean) => void;
}

/** A government service behind one path. NF-e distribution is the first of several. */
export interface GovernmentService {
  readonly name: string;
  /** Path below `/production` and `/homologation`. */
  readonly path: string;
  answer(call: ServiceCall): ServiceAnswer;
  /** A call that the front refused before the service saw it: no certificate, outage. For the journal. */
  refused(call: {
    environment: Environment;
    at: number;
    httpStatus: number;
    identity: ClientIdentity | null;
    why: string;
  }): void;
}
