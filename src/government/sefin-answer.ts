import { gzipSync } from 'node:zlib';
import type { PageItem } from '../model/document.js';
import { ZERO_NSU } from '../model/nsu.js';
import type { Environment } from '../model/words.js';
import { type JsonAnswer, type JsonNode, type Place, readJson } from './json-answer.js';
import { CERTIFICATE_CODES, type HttpFacts, outcomeOfHttp } from './rest-answer.js';
import { parseServerTime } from './server-time.js';
import type { ReadAnswer } from './types.js';

/** Answers of Sefin Nacional (nfse.md 2.2): camelCase JSON with XML inside as base64 of gzip, sometimes packed in base64 twice. */

const ENVIRONMENTS: Readonly<Record<Environment, string>> = { production: '1', homologation: '2' };

const TOO_MANY = 429;

/** XML as Sefin takes it: UTF-8, gzip, base64. */
export function packedXml(xml: string): string {
  return gzipSync(`<?xml version="1.0" encoding="UTF-8"?>${xml}`).toString('base64');
}

/** The note of a key. `none`: there is none, or not for this company. */
export function readSefinNote(body: Uint8Array, http: HttpFacts, environment: Environment): ReadAnswer {
  return read(body, http, environment, ['nfseXmlGZipB64'], 'NFSe', (json) => {
    const { error, statusCode, statusText } = errorOf(json, http);
    // 403: the company is no party of the note. 404 without `erro` has been seen of a key that nobody has.
    if (http?.status === 404 || (http?.status === 403 && error)) return notThere(statusCode, statusText);
    return error ? refused(statusCode, statusText, http) : null;
  });
}

const EVENT_FIELDS = ['eventoXmlGZipB64', 'arquivoXml'];

/** What the registration of an event was answered. Only 4xx with an error of the service's own says that it was not registered. */
export function readRegistration(body: Uint8Array, http: HttpFacts, environment: Environment): ReadAnswer {
  return read(body, http, environment, ['eventoXmlGZipB64'], 'evento', (json) => {
    const { error, statusCode, statusText } = errorOf(json, http);
    const says = http !== null && http.status >= 400 && http.status < 500;
    return error && says ? refused(statusCode, statusText, http) : null;
  });
}

/** One registered event, in the form of the specification or in that of production. */
export function readRegistered(body: Uint8Array, http: HttpFacts, environment: Environment): ReadAnswer {
  return read(body, http, environment, EVENT_FIELDS, 'evento', (json) => {
    const { error, statusCode, statusText } = errorOf(json, http);
    const emptyList = http?.status === 200 && Array.isArray(json.root.field('eventos').value);
    if (http?.status === 404 || emptyList) return notThere(statusCode, statusText);
    return error ? refused(statusCode, statusText, http) : null;
  });
}

/** A registered event as it was stored, whichever call brought it. Without its HTTP status nothing else that Sefin says is relied on. */
export function readStoredEvent(body: Uint8Array, environment: Environment): ReadAnswer {
  return read(body, null, environment, EVENT_FIELDS, 'evento', () => null);
}

type Ending = Pick<ReadAnswer, 'outcome' | 'statusText'>;

/** @param without what JSON of the service means that has none of the fields; null: it is not the service's */
function read(
  body: Uint8Array,
  http: HttpFacts,
  environment: Environment,
  fields: readonly string[],
  schema: string,
  without: (json: JsonAnswer) => Ending | null,
): ReadAnswer {
  const json = readJson(body);
  if (!json) return { ...outcomeOfHttp(body, http), items: [], serverTime: null, warnings: [] };
  const rest = { items: [], serverTime: parseServerTime(json.root.field('dataHoraProcessamento').text), warnings: [] };
  const places = fields.flatMap((field) => json.places(field)).filter(({ length }) => length > 0);
  if (places.length === 0) {
    const said = http?.status === TOO_MANY ? null : without(json);
    return { ...rest, ...(said ?? outcomeOfHttp(body, http)) };
  }
  const ambient = json.root.field('tipoAmbiente').text;
  if (ambient !== null && ambient !== ENVIRONMENTS[environment]) {
    const reason = `the answer is of another environment (${ambient.slice(0, 20)})`;
    return { ...rest, outcome: { kind: 'unreadable', statusCode: 'other_environment', reason }, statusText: reason };
  }
  const statusCode = `HTTP ${http?.status || 200}`;
  const outcome = { kind: 'documents', statusCode, ultNsu: ZERO_NSU, maxNsu: ZERO_NSU, items: places.length } as const;
  return { ...rest, outcome, statusText: '', items: places.map((place) => itemAt(body, place, schema)) };
}

function itemAt(body: Uint8Array, { offset, length }: Place, schema: string): PageItem {
  const content = body.subarray(offset, offset + length);
  return { nsu: null, schema, offset, length, encoding: 'base64+gzip', content };
}

/**
 * Errors come as an object or as a list, under `erro` or `erros`, in any case; what only says "Bad Gateway" is a proxy's. The first one's
 * code stands beside the text wherever an answer is shown: it is not said twice.
 */
function errorOf({ root }: JsonAnswer, http: HttpFacts): { error: boolean; statusCode: string; statusText: string } {
  const errors = [root.field('erro'), root.field('erros')].flatMap((field) => field.entries);
  const code = errors[0]?.field('codigo').text ?? null;
  const textOf = (error: JsonNode) => {
    const parts = ['codigo', 'descricao', 'complemento'].map((name) => error.field(name).text);
    return parts.filter((part) => part !== null && part !== code).join(': ');
  };
  return {
    error: errors.length > 0,
    statusCode: (code ?? `HTTP ${http?.status || 'unknown'}`).slice(0, 60),
    statusText: errors.map(textOf).filter(Boolean).join('; ').slice(0, 500),
  };
}

function notThere(statusCode: string, statusText: string): Ending {
  return { outcome: { kind: 'none', statusCode, ultNsu: null, maxNsu: null }, statusText };
}

/** 401 is about the certificate, whatever code the error has: it says nothing of a note or an event. */
function refused(statusCode: string, statusText: string, http: HttpFacts): Ending {
  const isCertificates = http?.status === 401 || CERTIFICATE_CODES.has(statusCode);
  return { outcome: { kind: isCertificates ? 'certificate_refused' : 'rejected', statusCode }, statusText };
}
