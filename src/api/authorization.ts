import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { useApiKey } from '../storage/api-keys.js';
import { type CompanyRow, getCompany } from '../storage/companies.js';
import { type Api, SCOPES, type Scope } from './api.js';
import type { ApiDependencies } from './dependencies.js';
import { notFound, Problem } from './problem.js';

/** Who asks. */
export interface Caller {
  /** For the audit: `key:<id>`; the bootstrap key has no row and is `key:bootstrap`. */
  readonly actor: string;
  readonly scopes: readonly Scope[];
  /** The companies that the key is limited to; undefined: none of them is hidden. What storage's lists take as `visible`. */
  readonly visible: readonly string[] | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null;
  }
}

/** A new key, to be shown once: `mlt_` (findable by secret scanners) and 256 random bits. */
export function newApiKey(): string {
  return `mlt_${randomBytes(32).toString('base64url')}`;
}

/** What is stored of a key. Its 256 random bits need no slow hash: there is nothing to guess. */
export function hashApiKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/**
 * Asks every route that has a scope for a key with that scope, before anything else of the request is looked at. A route
 * below `/v1` without a scope is a mistake of ours and stops the start.
 */
export function requireKeys(app: Api, deps: ApiDependencies): void {
  app.decorateRequest('caller', null);
  app.addHook('onRoute', ({ url, config }) => {
    if (url.startsWith('/v1/') && config?.scope === undefined) throw new Error(`route ${url} names no scope`);
  });
  app.addHook('onRequest', async (request) => {
    const { scope } = request.routeOptions.config;
    if (scope === undefined) return;
    const caller = await identify(request.headers.authorization, deps);
    request.caller = caller;
    if (!includesScope(caller.scopes, scope)) {
      throw new Problem('scope_missing', `This needs a key with the scope ${scope}`);
    }
  });
}

/** The caller of a route that has a scope. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new Error('this route has no scope, so nobody was identified');
  return request.caller;
}

/** For what concerns more than single companies. */
export function requireUnlimited(caller: Caller): void {
  if (caller.visible !== undefined) {
    throw new Problem('key_limited', 'This key is limited to some companies, and this action concerns all of them');
  }
}

/** Whether a key that may be limited to some companies has this one among them. */
export function seesCompany(caller: Caller, companyId: string): boolean {
  return caller.visible?.includes(companyId) ?? true;
}

/**
 * A company that the caller may see.
 *
 * @throws {Problem} `not_found`, the same for one that is not there and one that is not theirs
 */
export async function visibleCompany(deps: ApiDependencies, request: FastifyRequest, id: string): Promise<CompanyRow> {
  const company = seesCompany(callerOf(request), id) ? await getCompany(deps.database, id) : null;
  if (company === null) throw notFound('company');
  return company;
}

/** @throws {Problem} `company_being_deleted` */
export function requireStaying({ deletingAt }: Pick<CompanyRow, 'deletingAt'>): void {
  if (deletingAt !== null) {
    throw new Problem('company_being_deleted', 'This company is being deleted: nothing can be begun for it');
  }
}

async function identify(header: string | undefined, deps: ApiDependencies): Promise<Caller> {
  const key = /^Bearer +(\S+)$/i.exec(header ?? '')?.[1];
  if (key === undefined) throw new Problem('unauthorized', 'Authorization must be: Bearer, a blank, and an API key');
  const hash = hashApiKey(key);
  if (deps.bootstrapKey !== null && sameHash(hash, hashApiKey(deps.bootstrapKey))) {
    return { actor: 'key:bootstrap', scopes: SCOPES, visible: undefined };
  }
  // Looked up by its hash: how long that takes tells nothing about any key.
  const row = await useApiKey(deps.database, hash, await deps.clock.now());
  if (row === null) throw new Problem('unauthorized', 'This API key does not exist or was revoked');
  return { actor: `key:${row.id}`, scopes: row.scopes.filter(isScope), visible: row.companyIds ?? undefined };
}

function sameHash(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

function includesScope(granted: readonly Scope[], needed: Scope): boolean {
  return granted.some((scope) => SCOPES.indexOf(scope) >= SCOPES.indexOf(needed));
}

function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}
