import type { PageItem } from '../model/document.js';
import { ZERO_NSU } from '../model/nsu.js';
import type { Environment } from '../model/words.js';
import type { GovernmentAddresses } from './addresses.js';
import type { AdnCall } from './adn.js';
import { readJson } from './json-answer.js';
import type { PatientGet } from './patient-get.js';
import { type HttpFacts, outcomeOfHttp } from './rest-answer.js';
import { parseServerTime } from './server-time.js';
import type { CallAnswer, ReadAnswer } from './types.js';

/** Sefin Nacional, which has the notes themselves: one by its key (contract section 2). */

const MAX_ANSWER_BYTES = 5 * 1024 * 1024;
const ENVIRONMENTS: Readonly<Record<Environment, string>> = { production: '1', homologation: '2' };

export interface SefinCall extends Omit<AdnCall, 'query' | 'taxId'> {
  /** 50 characters. */
  readonly key: string;
}

export interface Sefin {
  /** The note of a key. Whatever happens on the wire is an outcome; `none`: there is none, or not for this company. */
  note(call: SefinCall): Promise<CallAnswer>;
}

export function createSefin(parts: { readonly get: PatientGet; readonly addresses: GovernmentAddresses }): Sefin {
  return {
    note: (call) =>
      parts.get(
        {
          url: `${parts.addresses[call.environment].sefin}/nfse/${encodeURIComponent(call.key)}`,
          headers: { accept: 'application/json' },
          certificate: call.certificate,
          newestTls: 'TLSv1.3',
          limitMs: call.limitMs,
          maxAnswerBytes: MAX_ANSWER_BYTES,
          ...(call.signal && { signal: call.signal }),
          ...(call.beforeSend && { beforeSend: call.beforeSend }),
        },
        (raw) => readSefinNote(raw.body, raw, call.environment),
      ),
  };
}

/** Errors come as an object or as a list, under `erro` or `erros`, in any case; what only says "Bad Gateway" is a proxy's. */
export function readSefinNote(body: Uint8Array, http: HttpFacts, environment: Environment): ReadAnswer {
  const json = readJson(body);
  if (!json) return { ...outcomeOfHttp(body, http), items: [], serverTime: null, warnings: [] };
  const { root } = json;
  const serverTime = parseServerTime(root.field('dataHoraProcessamento').text);
  const read = { items: [], serverTime, warnings: [] };
  const [place] = json.places('nfseXmlGZipB64');
  if (place && place.length > 0) {
    const ambient = root.field('tipoAmbiente').text;
    if (ambient !== null && ambient !== ENVIRONMENTS[environment]) {
      const reason = `the answer is of another environment (${ambient.slice(0, 20)})`;
      return { ...read, outcome: { kind: 'unreadable', statusCode: 'other_environment', reason }, statusText: reason };
    }
    const { offset, length } = place;
    const content = body.subarray(offset, offset + length);
    const item: PageItem = { nsu: null, schema: 'NFSe', offset, length, encoding: 'base64+gzip', content };
    return { ...read, ...ONE_NOTE, items: [item] };
  }
  const [error] = [root.field('erro'), root.field('erros')].flatMap((field) => field.entries);
  const code = error?.field('codigo').text ?? null;
  const text = [code, error?.field('descricao').text, error?.field('complemento').text].filter(Boolean).join(': ');
  const statusCode = (code ?? `HTTP ${http?.status || 'unknown'}`).slice(0, 60);
  const none = { kind: 'none', statusCode, ultNsu: null, maxNsu: null } as const;
  // 403: the company is no party of the note. 404 without `erro` has been seen of a key that nobody has.
  if (http?.status === 404 || (http?.status === 403 && error))
    return { ...read, outcome: none, statusText: text.slice(0, 500) };
  if (!error) return { ...read, ...outcomeOfHttp(body, http) };
  return { ...read, outcome: { kind: 'rejected', statusCode }, statusText: text.slice(0, 500) };
}

const ONE_NOTE: Pick<ReadAnswer, 'outcome' | 'statusText'> = {
  outcome: { kind: 'documents', statusCode: 'HTTP 200', ultNsu: ZERO_NSU, maxNsu: ZERO_NSU, items: 1 },
  statusText: '',
};
