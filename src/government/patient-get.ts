import { setTimeout as delay } from 'node:timers/promises';
import {
  BrokenCircuitError,
  type CircuitBreakerPolicy,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  handleWhenResult,
} from 'cockatiel';
import { LRUCache } from 'lru-cache';
import { ALL_HELD_BACK, HELD_BACK, HELD_BACK_MS } from '../model/outcome.js';
import { nothingCame } from './no-answer.js';
import type { CallAnswer, GovernmentRequest, GovernmentResponse, ReadAnswer, Transport } from './types.js';

/**
 * A GET at the NFS-e services, which may be made again within one call: they fail often, a GET changes nothing, and its count is not
 * rationed (docs/decisions, "An NFS-e query may be sent up to four times"). Only after an answer of 5xx or when no byte left: whoever does
 * not know whether the server is still at work does not ask it again.
 */
const PAUSES_MS = [1_000, 2_000, 4_000];

/** Failures in a row at one host, of one certificate and of all together, after which nobody asks there for a while. */
const FAILURES_OF_CERTIFICATE = 10;
const FAILURES_OF_ALL = 50;
/** More breakers are not remembered; whose was not used for longest begins to count anew. */
const REMEMBERED = 5_000;

/** A request that can be made again. */
export type GetRequest = Omit<GovernmentRequest, 'method' | 'body'>;

/** Times that are not the usual ones. */
export interface PatientGetOptions {
  /** Divides the time that a breaker stays open. */
  readonly timeScale?: number;
  /** Milliseconds between attempts; tests shorten them. */
  readonly pausesMs?: readonly number[];
}

/** One call: every ending is an answer. */
export type PatientGet = (request: GetRequest, read: (raw: GovernmentResponse) => ReadAnswer) => Promise<CallAnswer>;

/** One for a process: its breakers count the failures of all calls. */
export function createPatientGet(
  transport: Transport,
  { timeScale = 1, pausesMs = PAUSES_MS }: PatientGetOptions = {},
): PatientGet {
  const breakers = new LRUCache<string, CircuitBreakerPolicy>({ max: REMEMBERED });
  const breakerOf = (whose: string, failures: number): CircuitBreakerPolicy => {
    const known = breakers.get(whose);
    if (known) return known;
    const policy = circuitBreaker(handleWhenResult(isFailure), {
      halfOpenAfter: Math.ceil(HELD_BACK_MS / timeScale),
      breaker: new ConsecutiveBreaker(failures),
    });
    breakers.set(whose, policy);
    return policy;
  };
  return async (request, read) => {
    const { host } = new URL(request.url);
    const ofAll = breakerOf(host, FAILURES_OF_ALL);
    const ofCertificate = breakerOf(`${host} ${request.certificate.thumbprint}`, FAILURES_OF_CERTIFICATE);
    let reason = HELD_BACK;
    const ask = () => getRepeatedly(transport, request, read, pausesMs);
    const unlessAllHeldBack = () =>
      through(ofAll, ask).catch((error: unknown) => {
        if (ofAll.state === CircuitState.Open) reason = ALL_HELD_BACK;
        throw error;
      });
    try {
      return await through(ofCertificate, unlessAllHeldBack);
    } catch (error) {
      if (!(error instanceof BrokenCircuitError)) throw error;
      return notAsked(reason);
    }
  };
}

/** One call finds out whether it is over; the others do not wait for that one: what is sent late must not be sent. */
function through<T>(policy: CircuitBreakerPolicy, ask: () => Promise<T>): Promise<T> {
  return policy.state === CircuitState.HalfOpen ? Promise.reject(new BrokenCircuitError()) : policy.execute(ask);
}

async function getRepeatedly(
  transport: Transport,
  request: GetRequest,
  read: (raw: GovernmentResponse) => ReadAnswer,
  pausesMs: readonly number[],
): Promise<CallAnswer> {
  const end = Date.now() + request.limitMs;
  let last: CallAnswer | null = null;
  for (let attempt = 0; ; attempt++) {
    const limitMs = attempt === 0 ? request.limitMs : end - Date.now();
    const answer = await get(transport, { ...request, limitMs }, read);
    // An answer says more than a later attempt that did not leave: it is what the government said.
    if (last?.raw && answer.outcome.kind === 'not_sent') return last;
    last = answer;
    const pause = pausesMs[attempt];
    if (pause === undefined || !mayAskAgain(answer) || request.signal?.aborted || Date.now() + pause >= end)
      return answer;
    await delay(pause, undefined, request.signal ? { signal: request.signal } : {}).catch(() => undefined);
    if (request.signal?.aborted) return answer;
  }
}

async function get(
  transport: Transport,
  request: GetRequest,
  read: (raw: GovernmentResponse) => ReadAnswer,
): Promise<CallAnswer> {
  let raw: GovernmentResponse;
  try {
    raw = await transport({ ...request, method: 'GET', body: null });
  } catch (error) {
    return nothingCame(error);
  }
  return { ...read(raw), raw };
}

function mayAskAgain({ outcome, raw }: CallAnswer): boolean {
  return outcome.kind === 'not_sent' || (outcome.kind === 'unreadable' && raw !== null && raw.status >= 500);
}

function isFailure(answer: unknown): boolean {
  const { kind } = (answer as CallAnswer).outcome;
  return kind === 'not_sent' || kind === 'unreadable' || kind === 'unknown';
}

/** A breaker is open: nothing leaves. */
function notAsked(reason: string): CallAnswer {
  return {
    outcome: { kind: 'not_sent', reason },
    items: [],
    statusText: reason,
    serverTime: null,
    warnings: [],
    raw: null,
  };
}
