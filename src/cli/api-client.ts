import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { type Connection, findConnection, type GlobalOptions } from './connection.js';
import { CliFailure, EXIT, wrongUse } from './failure.js';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type Query = Readonly<Record<string, string | number | boolean | undefined>>;

interface Page<T> {
  readonly data: readonly T[];
  readonly nextCursor: string | null;
}

interface Problem {
  readonly code?: string;
  readonly detail?: string;
  readonly requestId?: string;
  readonly errors?: readonly { readonly field: string; readonly message: string }[];
}

const LARGEST_PAGE = 200;

const ADD_OR_LIST = 'add it with "malote company add", or see "malote company list"';

/** What to do about a problem, in terms of this command line. */
const HINTS: Readonly<Record<string, string>> = {
  unauthorized: 'check MALOTE_API_KEY or --api-key',
  scope_missing: 'use a key with that scope',
  company_exists: 'find it with "malote company list --tax-id …"',
  environment_in_use: 'name that one with --environment, or stop it with "malote capture stop"',
  key_limited: 'use a key for all companies',
  company_being_deleted: '"malote company deletion" shows how far it is; "malote company restore" takes it back',
  endpoint_deleted: 'add it again with "malote webhook add"',
  confirmation_required: 'add --confirm once a person has decided it',
  export_has_no_file: '"malote export list" shows how far it is; files are kept for 7 days',
  capture_held: 'resume it with "malote capture resume"',
  not_supported: 'with --nsu',
  capture_missing: 'start one with "malote capture start"',
  capture_stopped: 'start it with "malote capture start"',
  point_quota_exhausted: '20 documents an hour can be asked for one by one',
  capture_needs_operator: 'run "malote verify --repair"',
  certificate_missing: 'store one with "malote certificate set <company> --file <a1.pfx>"',
  certificate_expired: 'store a valid one with "malote certificate set"',
  certificate_password_wrong: 'try again with the password that the file was exported with',
};

/** The HTTP API as the command line uses it. Every method throws {@link CliFailure}, which says it in one line. */
export class ApiClient {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  get<T>(path: string, query: Query = {}): Promise<T> {
    return this.#json('GET', withQuery(path, query));
  }

  send<T>(method: Exclude<Method, 'GET'>, path: string, body?: unknown, query: Query = {}): Promise<T> {
    return this.#json(method, withQuery(path, query), body);
  }

  /** A file, with the name that it has there. */
  async file(path: string): Promise<{ readonly bytes: Buffer; readonly name: string }> {
    const answer = await this.#fetch('GET', path);
    return { bytes: Buffer.from(await answer.arrayBuffer()), name: nameOf(answer) ?? 'document' };
  }

  /**
   * Saves a file that is too large for memory, and says under which name.
   *
   * @param as default: its own name, in this folder
   */
  async download(path: string, as?: string): Promise<string> {
    const answer = await this.#fetch('GET', path);
    const file = as ?? nameOf(answer) ?? 'download';
    const draft = `${file}.part`;
    try {
      await pipeline(answer.body ?? [], createWriteStream(draft));
      await rename(draft, file);
    } catch (error) {
      await rm(draft, { force: true });
      const { code } = error as { code?: string };
      throw new CliFailure(
        `could not save ${file} (${code ?? 'the download broke off'}): check the path, and try again`,
      );
    }
    return file;
  }

  /** Sends a file as the body of a POST, without holding it in memory. */
  async upload<T>(path: string, query: Query, file: string): Promise<T> {
    const body = createReadStream(file);
    const cannotRead = (error: NodeJS.ErrnoException) =>
      wrongUse(`cannot read ${file} (${error.code}): check the path`);
    await once(body, 'open').catch((error: NodeJS.ErrnoException) => {
      throw cannotRead(error);
    });
    const type = /\.xml$/i.test(file) ? 'application/xml' : 'application/zip';
    const answer = await this.#fetch('POST', withQuery(path, { ...query, fileName: basename(file) }), { type, body });
    return (await answer.json()) as T;
  }

  /** Entries of a list over as many pages as it takes, up to a number. */
  async list<T>(path: string, query: Query, most: number): Promise<T[]> {
    const all: T[] = [];
    for (let cursor: string | undefined; ; ) {
      const page: Page<T> = await this.get(path, {
        ...query,
        limit: Math.min(most - all.length, LARGEST_PAGE),
        cursor,
      });
      all.push(...page.data);
      if (page.nextCursor === null || all.length >= most) return all;
      cursor = page.nextCursor;
    }
  }

  /**
   * The id of a company named by its id or by its tax ID, punctuation or not.
   *
   * @param hint what to do when there is none
   * @throws {CliFailure} wrong use: there is none
   */
  async companyId(idOrTaxId: string, hint = ADD_OR_LIST): Promise<string> {
    if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(idOrTaxId)) return idOrTaxId;
    const { data } = await this.get<Page<{ id: string }>>('/v1/companies', { taxId: idOrTaxId.toUpperCase() });
    const [company] = data;
    if (company === undefined) {
      throw wrongUse(`no company has this tax ID: ${hint}`);
    }
    return company.id;
  }

  /** The ids of several companies, in their order. */
  async companyIds(idsOrTaxIds: readonly string[]): Promise<string[]> {
    const ids: string[] = [];
    for (const one of idsOrTaxIds) ids.push(await this.companyId(one));
    return ids;
  }

  async #json<T>(method: Method, path: string, body?: unknown): Promise<T> {
    const json = body === undefined ? undefined : { type: 'application/json', body: JSON.stringify(body) };
    const answer = await this.#fetch(method, path, json);
    return (answer.status === 204 ? undefined : await answer.json()) as T;
  }

  async #fetch(
    method: Method,
    path: string,
    content?: { readonly type: string; readonly body: string | Readable },
  ): Promise<Response> {
    const { apiUrl, apiKey } = this.#connection;
    let answer: Response;
    try {
      answer = await fetch(apiUrl + path, {
        method,
        headers: {
          authorization: `Bearer ${apiKey}`,
          ...(content && { 'content-type': content.type }),
        },
        ...(content && { body: content.body as NonNullable<RequestInit['body']>, duplex: 'half' }),
        redirect: 'error',
      });
    } catch {
      throw new CliFailure(`no API answers at ${apiUrl}: start "malote dev" or "malote api", or pass --api-url`);
    }
    if (answer.ok) return answer;
    throw failureOf(answer, (await answer.json().catch(() => ({}))) as Problem, apiUrl);
  }
}

/** The client for a command, from its options and the environment. */
export function apiOf(command: Command): ApiClient {
  return new ApiClient(findConnection(command.optsWithGlobals<GlobalOptions>()));
}

function failureOf({ status, headers }: Response, problem: Problem, apiUrl: string): CliFailure {
  const { code = null, detail, errors, requestId } = problem;
  if (code === null)
    return new CliFailure(`${apiUrl} answered ${status}, which is no answer of Malote: check --api-url`);
  if (code === 'route_not_found') {
    return new CliFailure(`the API at ${apiUrl} does not know this: it is of another version`, EXIT.failed, code);
  }
  const what = errors === undefined ? detail : errors.map(({ field, message }) => `${field}: ${message}`).join('; ');
  const log = status >= 500 ? `the log of the API says more, by the request id ${requestId}` : undefined;
  const again = againIn(headers.get('retry-after'));
  const hints = [HINTS[code] ?? (again === undefined ? log : undefined), again].filter((hint) => hint !== undefined);
  return new CliFailure(
    hints.length === 0 ? `${what}` : `${what} (${hints.join('; ')})`,
    code === 'invalid_input' ? EXIT.wrongUse : EXIT.failed,
    code,
  );
}

/** @param seconds of the header Retry-After */
function againIn(seconds: string | null): string | undefined {
  if (seconds === null || !/^\d+$/.test(seconds)) return undefined;
  const wait = Number(seconds);
  return `try again in ${wait < 120 ? `${wait} s` : `${Math.ceil(wait / 60)} minutes`}`;
}

/** What the API calls a file; never a path. */
function nameOf(answer: Response): string | undefined {
  const name = /filename="([^"]+)"/.exec(answer.headers.get('content-disposition') ?? '')?.[1];
  return name === undefined ? undefined : basename(name);
}

function withQuery(path: string, query: Query): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  return given.size === 0 ? path : `${path}?${given}`;
}
