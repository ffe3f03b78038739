import { constants } from 'node:crypto';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { connect, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import { governmentRoots } from './trust.js';
import {
  type FailureStage,
  type GovernmentRequest,
  type GovernmentResponse,
  type Transport,
  TransportFailure,
} from './types.js';
import { distrustOf, refusesOurCertificate, wireReason } from './wire-errors.js';

/** Whom the transport trusts, and whom it is lenient with. */
export interface HttpsTransportOptions {
  /** Content of MALOTE_GOVERNMENT_CA_FILE: PEM certificates trusted besides Mozilla's and the bundled ICP-Brasil roots. */
  readonly caFile?: string | null;
  /**
   * Hosts whose servers do not know secure renegotiation (RFC 5746), which OpenSSL 3 refuses (case C87). Only they are spoken to without it.
   */
  readonly legacyHosts?: readonly string[];
}

/**
 * The default transport: HTTP/1.1 over TLS with the company's certificate, one connection for each call.
 *
 * No connection is kept or shared: a call comes once an hour, a connection kept between calls would mostly be found closed by the server,
 * which looks like a request that may have been sent; and what is not shared cannot carry one company's request under another's
 * certificate. So nothing is pooled, and keys stay in memory for the time of a call only. The server's chain and name are always checked.
 *
 * @throws {InvalidCaFile} for a CA file that cannot be used
 */
export function createHttpsTransport(options: HttpsTransportOptions = {}): Transport {
  const roots = governmentRoots(options.caFile ?? null);
  const legacyHosts = new Set(options.legacyHosts);
  return (request) =>
    exchange(request, () => {
      const url = new URL(request.url);
      if (url.protocol !== 'https:') throw new Error();
      return connectTo(url, secureContext(request, roots, legacyHosts.has(url.hostname)));
    });
}

/**
 * Trusted roots are added one by one to Node's own list, which every context shares. A `ca` list would be parsed anew for each connection:
 * 19 ms and 1 MB for Mozilla's 144 roots, instead of 1 ms and 90 KB.
 */
function secureContext(
  { certificate, newestTls = 'TLSv1.2' }: GovernmentRequest,
  roots: readonly string[],
  legacy: boolean,
): SecureContext {
  const secure = createSecureContext({
    key: certificate.keyPem,
    cert: certificate.chainPem,
    minVersion: 'TLSv1.2',
    maxVersion: newestTls,
    ...(legacy && { secureOptions: constants.SSL_OP_LEGACY_SERVER_CONNECT }),
  });
  for (const root of roots) secure.context.addCACert(root);
  return secure;
}

function connectTo(url: URL, secureContext: SecureContext): TLSSocket {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return connect({
    host,
    port: Number(url.port || 443),
    ...(isIP(host) === 0 && { servername: host }),
    secureContext,
    ALPNProtocols: ['http/1.1'],
  });
}

/** One request and its answer. Whatever happens first decides; then the connection is gone. */
function exchange(request: GovernmentRequest, open: () => TLSSocket): Promise<GovernmentResponse> {
  return new Promise((resolve, reject) => {
    let socket: TLSSocket | undefined;
    /** From here on the server may have part of the request. Set before anything is written, never taken back. */
    let mayHaveLeft = false;

    const close = () => {
      clearTimeout(timer);
      request.signal?.removeEventListener('abort', onAbort);
      socket?.destroy();
    };
    const fail = (stage: FailureStage, reason: string) => {
      close();
      reject(new TransportFailure(stage, reason));
    };
    const failAsFarAsItGot = (reason: string) => fail(mayHaveLeft ? 'unknown' : 'not_sent', reason);
    const onAbort = () => failAsFarAsItGot('cut off by this program');
    const onError = (error: unknown) => {
      const reason = (socket && distrustOf(socket)) ?? wireReason(error);
      if (refusesOurCertificate(error)) fail('certificate_refused', reason);
      else failAsFarAsItGot(reason);
    };
    const timer = setTimeout(() => failAsFarAsItGot(`time limit of ${request.limitMs / 1000} s`), request.limitMs);
    request.signal?.addEventListener('abort', onAbort);
    if (request.signal?.aborted) return onAbort();

    try {
      socket = open();
    } catch (error) {
      return fail('not_sent', `address or certificate cannot be used: ${wireReason(error)}`);
    }
    socket.on('error', onError);
    socket.once('secureConnect', () => {
      if (!socket || socket.destroyed) return;
      let outgoing: ClientRequest;
      try {
        outgoing = requestOver(socket, request);
      } catch (error) {
        return fail('not_sent', `request cannot be made: ${wireReason(error)}`);
      }
      outgoing.on('error', onError);
      outgoing.on('response', (incoming) => {
        receive(incoming, request.maxAnswerBytes).finally(close).then(resolve, reject);
      });
      try {
        request.beforeSend?.();
      } catch {
        return fail('not_sent', 'held back right before sending');
      }
      if (socket.destroyed) return;
      mayHaveLeft = true;
      outgoing.end(request.body ?? undefined);
    });
  });
}

/** Prepared on a connection that is up; nothing is written before its `end`. */
function requestOver(socket: TLSSocket, { url, method, headers, body }: GovernmentRequest): ClientRequest {
  return httpsRequest(url, {
    method,
    headers: { ...headers, ...(body && { 'content-length': String(body.length) }) },
    createConnection: () => socket,
  });
}

/** @throws {TransportFailure} unknown or answer_too_large */
async function receive(incoming: IncomingMessage, maxBytes: number): Promise<GovernmentResponse> {
  const chunks: Buffer[] = [];
  let size = 0;
  const refuseAbove = (bytes: number) => {
    if (bytes > maxBytes) throw new TransportFailure('answer_too_large', `answer larger than ${maxBytes} bytes`);
  };
  refuseAbove(Number(incoming.headers['content-length'] ?? 0));
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      size += chunk.length;
      refuseAbove(size);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof TransportFailure) throw error;
    throw new TransportFailure('unknown', `answer cut off after ${size} bytes`);
  }
  const headers = Object.entries(incoming.headers).map(([name, value]) => [name, [value].flat().join(', ')]);
  return {
    status: incoming.statusCode ?? 0,
    contentType: incoming.headers['content-type'] ?? null,
    headers: Object.fromEntries(headers),
    body: Buffer.concat(chunks),
  };
}
