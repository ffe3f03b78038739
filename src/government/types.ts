import type { PageItem } from '../model/document.js';
import type { Outcome } from '../model/outcome.js';

/** A company's key pair as the wire needs it. Lives in memory only, for as long as a call. */
export interface ClientCertificate {
  /** PKCS#8 PEM. */
  readonly keyPem: string;
  /** PEM, leaf first, then intermediates; no root. */
  readonly chainPem: string;
  /** SHA-256 of the leaf, hex: names the connection pool, so that no company ever uses another's connection. */
  readonly thumbprint: string;
  /** Whose certificate it is, where that is known: a root's certificate speaks for its branches. */
  readonly holderTaxId?: string;
}

/** One HTTPS request to a government address. */
export interface GovernmentRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
  readonly certificate: ClientCertificate;
  /** Milliseconds for the whole exchange, connection included. */
  readonly limitMs: number;
  /**
   * Highest version of TLS. Default 1.2: IIS wants the client certificate only once it has read the request, by a renegotiation that TLS
   * 1.3 does not have (nfe-cte.md 1e). Never below 1.2.
   */
  readonly newestTls?: 'TLSv1.2' | 'TLSv1.3';
  /** Largest answer accepted, bytes. */
  readonly maxAnswerBytes: number;
  /** Cuts the connection: the lease was lost or the process stops. */
  readonly signal?: AbortSignal;
  /**
   * Called once the connection is up, right before the first byte of the request. Throwing here means: not sent.
   */
  readonly beforeSend?: () => void;
}

/** Whatever came back, to the byte. */
export interface GovernmentResponse {
  readonly status: number;
  readonly contentType: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/**
 * The seam: one function, request in, response out (api.md section 6). Resolves with whatever came, any status.
 *
 * @throws {TransportFailure} and nothing else.
 */
export type Transport = (request: GovernmentRequest) => Promise<GovernmentResponse>;

/**
 * How far an exchange got that brought no answer. `not_sent` only when no byte of the request can have left;
 * in doubt it is `unknown`.
 */
export type FailureStage = 'not_sent' | 'unknown' | 'certificate_refused' | 'answer_too_large';

/** Rebuilt from an error's code and our own words, never from the error itself: it can hold the private key (case C96). */
export class TransportFailure extends Error {
  override readonly name = 'TransportFailure';
  constructor(
    readonly stage: FailureStage,
    /** Short reason without addresses or secrets: "connect ECONNREFUSED", "time limit of 300 s". */
    readonly reason: string,
  ) {
    super(`${stage}: ${reason}`);
  }
}

/** A read answer: the outcome, and where its items stand in the bytes. */
export interface ReadAnswer {
  readonly outcome: Outcome;
  readonly items: readonly PageItem[];
  /** xMotivo, or our own words for an unreadable answer; at most 500 characters. For the call log, never for Temporal. */
  readonly statusText: string;
  /** dhResp of the answer, milliseconds; null when absent or not a time. */
  readonly serverTime: number | null;
  /** Oddities worth recording: "schema says …", "ultNSU above maxNSU". */
  readonly warnings: readonly string[];
}

/** What a finished call leaves: the read answer and the exact bytes, or the stage it failed at. */
export interface CallAnswer extends ReadAnswer {
  /** Null when nothing came. */
  readonly raw: GovernmentResponse | null;
  /** The bytes that were sent, of services whose answers prove nothing alone. */
  readonly request?: Uint8Array;
}
