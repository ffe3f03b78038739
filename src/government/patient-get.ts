import { setTimeout as delay } from 'node:timers/promises';
import {
  BrokenCircuitError,
  type CircuitBreakerPolicy,
  ConsecutiveBreaker,
  circuitBreaker,
  handleWhenResult,
} from 'cockatiel';
import { LRUCache } from 'lru-cache';
import { HELD_BACK } from '../model/outcome.js';
import { nothingCame } from './no-answer.js';
import type { CallAnswer, GovernmentRequest, GovernmentResponse, ReadAnswer, Transport } from './types.js';

/**
 * A GET at the NFS-e services, which may be made again within one call: they fail often, a GET changes nothing, and its count is not
 * rationed (docs/decisions, "An NFS-e query may be sent up to four times"). Only after an answer of 5xx or when no byte left: whoever does
 * not know whether the server is still at work does not ask it again.
 */
const PAUSES_MS = [1_000, 2_000, 4_000];

/** Failures in a row, of one certificate and of all together, after which nobody asks for a while. */
const FAILURES_OF_CERTIFICATE = 10;
const FAILURES_OF_ALL = 50;
const BREAK_MS = 60_000;
/** More are not remembered; who is forgotten begins to count anew. */
const CERTIFICATES = 5_000;

export type GetRequest = Omit<GovernmentRequest, 'method' | 'body'>;

export interface PatientGetOptions {
  /** Divides the time that a breaker stays open. */
  readonly timeScale?: number;
  /** Milliseconds between attempts; tests shorten them. */
  readonly pausesMs?: readonly number[];
}

/** One call: every ending is an answer. */
export type PatientGet = (request: GetRequest, read: (raw: GovernmentResponse) => ReadAnswer) => Promise<CallAnswer>;

export function createPatientGet(
  transport: Transport,
  { timeScale = 1, pausesMs = PAUSES_MS }: PatientGetOptions = {},
): PatientGet {
  const breaker = (failures: number) =>
    circuitBreaker(handleWhenResult(isFailure), {
      halfOpenAfter: Math.ceil(BREAK_MS / timeScale),
      breaker: new ConsecutiveBreaker(failures),
    });
  const ofAll = breaker(FAILURES_OF_ALL);
  const ofCertificates = new LRUCache<string, CircuitBreakerPolicy>({ max: CERTIFICATES });
  const ofCertificate = (thumbprint: string) => {
    const known = ofCertificates.get(thumbprint) ?? breaker(FAILURES_OF_CERTIFICATE);
    ofCertificates.set(thumbprint, known);
    return known;
  };
  return async (request, read) => {
    try {
      return await ofAll.execute(() =>
        ofCertificate(request.certificate.thumbprint).execute(() => getRepeatedly(transport, request, read, pausesMs)),
      );
    } catch (error) {
      if (!(error instanceof BrokenCircuitError)) throw error;
      return notAsked();
    }
  };
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
function notAsked(): CallAnswer {
  return {
    outcome: { kind: 'not_sent', reason: HELD_BACK },
    items: [],
    statusText: HELD_BACK,
    serverTime: null,
    warnings: [],
    raw: null,
  };
}
