import { createHmac } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import type { Keyring } from '../certificates/keyring.js';
import { fromCompact, openSecret, type SealContext, sealSecret, toCompact } from '../certificates/seal.js';
import { abandonIdempotent, beginIdempotent, finishIdempotent, type IdempotencyKey } from '../storage/idempotency.js';
import type { Api } from './api.js';
import { callerOf } from './authorization.js';
import type { ApiDependencies } from './dependencies.js';
import { invalidInput, Problem } from './problem.js';
import { Upload } from './upload.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set while a POST with an Idempotency-Key is being done for the first time. */
    idempotency: IdempotencyKey | null;
  }
}

const HEADER = 'idempotency-key';
const KEY = /^[\x21-\x7e]{1,255}$/;
const IN_FLIGHT_RETRY_SECONDS = 1;

/**
 * Honours `Idempotency-Key` on every POST: a repeat within 24 hours gets the answer of the first. Only successes are kept.
 * What failed changed nothing, so a repeat is simply tried again; so is a repeat of what did not even pass validation.
 */
export function honourIdempotencyKeys(app: Api, deps: ApiDependencies): void {
  app.decorateRequest('idempotency', null);

  app.addHook('preHandler', async (request, reply) => {
    const key = request.headers[HEADER];
    if (request.method !== 'POST' || key === undefined) return;
    if (typeof key !== 'string' || !KEY.test(key)) {
      throw invalidInput({
        field: 'Idempotency-Key',
        message: 'expected 1 to 255 visible ASCII characters, no blanks',
      });
    }
    const name = { scope: `${callerOf(request).actor} POST ${request.url}`, key };
    const mac = requestMac(deps.keyring, request.body);
    const begun = await beginIdempotent(deps.database, name, mac, await deps.clock.now());
    switch (begun.kind) {
      case 'begun':
        request.idempotency = name;
        return;
      case 'in_flight':
        throw new Problem('idempotency_in_flight', 'The first request with this key has not been answered yet', {
          retryAfter: IN_FLIGHT_RETRY_SECONDS,
        });
      case 'other_request':
        throw otherBody();
      case 'finished': {
        const answer = openAnswer(deps.keyring, name, begun.answer);
        if (request.body instanceof Upload && !(await isUploadOf(request.body, answer))) throw otherBody();
        return replay(reply, begun.status, answer);
      }
    }
  });

  app.addHook('onSend', async (request, reply, payload) => {
    const name = request.idempotency;
    if (name === null) return;
    request.idempotency = null;
    try {
      const done = reply.statusCode >= 200 && reply.statusCode < 300;
      if (!done) await abandonIdempotent(deps.database, name);
      else await finishIdempotent(deps.database, name, reply.statusCode, sealAnswer(deps.keyring, name, payload));
    } catch (error) {
      // The work is done: the caller gets to know. A repeat finds it in flight until it may be tried again.
      request.log.error({ err: error }, 'the answer could not be kept for repeats');
    }
  });
}

const otherBody = () => new Problem('idempotency_key_reused', 'This key came with another body before');

/** An upload is known by its bytes only once it was read; the answer to it says which they were. */
async function isUploadOf(upload: Upload, answer: string): Promise<boolean> {
  const { sha256 } = JSON.parse(answer) as { readonly sha256?: unknown };
  return sha256 === (await upload.sha256());
}

async function replay(reply: FastifyReply, status: number, body: string): Promise<FastifyReply> {
  return reply.code(status).type('application/json').header('idempotent-replayed', 'true').send(body);
}

/** Answers can hold a secret that is shown once. */
function sealAnswer(keyring: Keyring, name: IdempotencyKey, payload: unknown): Buffer {
  const text = typeof payload === 'string' ? payload : '';
  return toCompact(sealSecret(keyring, Buffer.from(text), contextOf(name)));
}

function openAnswer(keyring: Keyring, name: IdempotencyKey, answer: Buffer): string {
  return openSecret(keyring, fromCompact(answer), contextOf(name)).toString();
}

const contextOf = ({ scope, key }: IdempotencyKey): SealContext => ({
  purpose: 'idempotent-answer',
  owner: `${scope} ${key}`,
});

/**
 * Bodies hold secrets: what is kept of them can be compared, and nothing else. A repeat across a rotation of the master key
 * is taken for another request, which is refused and so does no harm.
 */
function requestMac(keyring: Keyring, body: unknown): string {
  const key = createHmac('sha256', keyring.current.bytes).update('malote idempotency').digest();
  return createHmac('sha256', key).update(canonical(body)).digest('hex');
}

/** JSON with sorted names: the same object written in another order is the same request. */
function canonical(value: unknown): string {
  return (
    JSON.stringify(value, (_, part: unknown) =>
      typeof part === 'object' && part !== null && !Array.isArray(part)
        ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
        : part,
    ) ?? ''
  );
}
