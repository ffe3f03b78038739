import type { Environment } from '../../model/words.js';
import type { ClientIdentity } from '../server/client-identity.js';
import type { WireFault } from '../server/service.js';

/** A call at the hosts of NFS-e. */
export interface RestCall {
  readonly method: string;
  /** Path and query below the environment. */
  readonly url: string;
  readonly environment: Environment;
  /** Null: no certificate of the authority came. */
  readonly identity: ClientIdentity | null;
  readonly body: Buffer;
}

/** An answer of theirs. */
export interface RestAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** What happens to it on its way. */
  readonly wire?: WireFault | null;
}

/** A page of HTML, as a front answers that is not the service. */
export function page(status: number, title: string): RestAnswer {
  const body = `<html><head><title>${status} ${title}</title></head></html>`;
  return { status, contentType: 'text/html; charset=utf-8', body };
}

/** Mostly without Retry-After, as it came 13 times of 13. @param retryAfter as the header says it */
export function tooMany(retryAfter: string | null = null): RestAnswer {
  const headers = retryAfter === null ? {} : { 'retry-after': retryAfter };
  return { ...page(429, ''), body: '<h1>429 Too Many Requests</h1>', headers };
}
