import type { IncomingHttpHeaders } from 'node:http';
import { Agent, buildConnector, type Dispatcher, request } from 'undici';
import { publicOnlyConnector, type ResolveAll } from './address.js';
import { retryAfterMs } from './retry.js';
import { describeFailure, timedOut } from './send-error.js';
import { signedHeaders } from './signature.js';

/** What one attempt sends. */
export interface Message {
  /** The event's id, the same on every attempt. */
  readonly id: string;
  readonly url: string;
  /** The exact text that is signed and sent. */
  readonly body: string;
  /** Secrets that are valid now: the current one, and for 24 h after a rotation the one before. */
  readonly secrets: readonly string[];
}

/** How one attempt ended. Answers and failures are data; a send never throws. */
export interface SendResult {
  /** Null when no answer came. */
  readonly statusCode: number | null;
  /** Null for a 2xx; else a code, a colon and a sentence. */
  readonly error: string | null;
  readonly retryAfterMs: number | null;
  /** From start to answer, whole milliseconds. */
  readonly durationMs: number;
  /** The first bytes of the answer as text; null when it was empty. */
  readonly response: string | null;
}

/** What sending needs, and whom it may reach. */
export interface SenderOptions {
  /** Of Malote, for the User-Agent. */
  readonly version: string;
  /** Lets private and local addresses through. */
  readonly allowPrivate: boolean;
  /** Default 15 s: DNS, connect, TLS, sending and the answer's head together. */
  readonly timeoutMs?: number;
  /** Resolves names; default the system's way. */
  readonly resolveAll?: ResolveAll;
}

/** A receiver answers at once or not at all. */
export const SEND_TIMEOUT_MS = 15_000;
/** The answer's head decides; its body is only kept to show it, so it gets little time and little room. */
export const BODY_TIMEOUT_MS = 2_000;
const BODY_LIMIT = 16 * 1024;

/**
 * Sends webhooks: signed, to public addresses only, following no redirect. Connections are kept alive per origin; how many are
 * in the air is the caller's choice.
 */
export class WebhookSender {
  readonly #agent: Agent;
  readonly #userAgent: string;
  readonly #timeoutMs: number;

  constructor(options: SenderOptions) {
    this.#timeoutMs = options.timeoutMs ?? SEND_TIMEOUT_MS;
    this.#userAgent = `Malote/${options.version}`;
    const connect: buildConnector.BuildOptions = { timeout: this.#timeoutMs };
    this.#agent = new Agent({
      connect: options.allowPrivate ? buildConnector(connect) : publicOnlyConnector(connect, options.resolveAll),
      // The limit of an attempt is one timer over all its parts.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  async send(message: Message): Promise<SendResult> {
    const started = performance.now();
    const duration = () => Math.round(performance.now() - started);
    const limit = AbortSignal.timeout(this.#timeoutMs);
    try {
      const { statusCode, headers, body } = await request(message.url, {
        method: 'POST',
        dispatcher: this.#agent,
        signal: limit,
        headers: {
          ...signedHeaders(message.id, Date.now(), message.body, message.secrets),
          'content-type': 'application/json',
          'user-agent': this.#userAgent,
          'accept-encoding': 'identity',
        },
        body: message.body,
      });
      const durationMs = duration();
      const response = await firstBytes(body, headers);
      return {
        statusCode,
        error: refusal(statusCode),
        retryAfterMs: isDelivered(statusCode) ? null : retryAfterMs(single(headers['retry-after']), Date.now()),
        durationMs,
        response,
      };
    } catch (error) {
      const failure = limit.aborted ? timedOut(this.#timeoutMs) : describeFailure(error);
      return { statusCode: null, error: failure, retryAfterMs: null, durationMs: duration(), response: null };
    }
  }

  /** Waits for what is in the air. */
  close(): Promise<void> {
    return this.#agent.close();
  }
}

/** A 2xx is a delivery; a redirect is none. */
export function isDelivered(statusCode: number | null): boolean {
  return statusCode !== null && statusCode >= 200 && statusCode <= 299;
}

function refusal(statusCode: number): string | null {
  if (isDelivered(statusCode)) return null;
  if (statusCode >= 300 && statusCode <= 399) {
    return `redirect: answered ${statusCode}; redirects are not followed, set the endpoint to its final URL`;
  }
  return `status: answered ${statusCode}`;
}

/** Reads what fits, then lets the connection go: the rest of an endless answer is never taken off the wire. */
async function firstBytes(body: Dispatcher.ResponseData['body'], headers: IncomingHttpHeaders): Promise<string | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  const limit = setTimeout(() => body.destroy(), BODY_TIMEOUT_MS);
  // The loop gets errors while it reads; one that comes after it has left concerns nobody.
  body.on('error', () => {});
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= BODY_LIMIT) break;
    }
  } catch {
    // Cut off, here or there: the head has decided, the rest was only to be shown.
  } finally {
    clearTimeout(limit);
  }
  if (length === 0) return null;
  const encoding = single(headers['content-encoding']);
  if (encoding !== null && encoding !== 'identity') return `(${encoding}, not decoded)`;
  // PostgreSQL's text holds no NUL.
  return Buffer.concat(chunks).subarray(0, BODY_LIMIT).toString('utf8').replaceAll('\0', '\uFFFD');
}

function single(header: string | string[] | undefined): string | null {
  return (Array.isArray(header) ? header[0] : header) ?? null;
}
