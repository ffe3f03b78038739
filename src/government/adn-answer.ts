import type { PageItem } from '../model/document.js';
import { compareNsu, maxNsu, type Nsu, tryParseNsu, ZERO_NSU } from '../model/nsu.js';
import type { Outcome } from '../model/outcome.js';
import type { Environment } from '../model/words.js';
import { type JsonNode, readJson } from './json-answer.js';
import { CERTIFICATE_CODES, type HttpFacts, outcomeOfHttp } from './rest-answer.js';
import { parseServerTime } from './server-time.js';
import type { ReadAnswer } from './types.js';

/** Answers of the ADN (contract sections 1.3 and 1.4): the body decides, then the HTTP status. */

/** What an answer is the answer to. `after`: documents above an NSU. `only`: that one. `events`: all events of a note. */
export type AdnQuery = { readonly after: Nsu } | { readonly only: Nsu } | { readonly events: string };

/** What an answer is the answer to. */
export interface AdnContext {
  readonly environment: Environment;
  readonly query: AdnQuery;
}

/** TipoDocumento, in our words; a hint, since the root element decides. */
const KINDS: ReadonlyMap<string, string> = new Map([
  ['NFSE', 'NFSe'],
  ['DPS', 'DPS'],
  ['EVENTO', 'evento'],
  ['PEDIDO_REGISTRO_EVENTO', 'pedRegEvento'],
  ['CNC', 'CNC'],
]);

const ENVIRONMENTS: Readonly<Record<Environment, string>> = { production: 'PRODUCAO', homologation: 'HOMOLOGACAO' };

/** Said of a number or a key that there is nothing; in some answers with the status of a rejection. */
const NOTHING_THERE: ReadonlySet<string> = new Set('E2215 E2220 E2230 DADOS_NAO_ENCONTRADOS'.split(' '));

/** Reads an answer of the ADN. Whatever it is, it is an outcome. */
export function readAdnAnswer(body: Uint8Array, http: HttpFacts, context: AdnContext): ReadAnswer {
  const json = readJson(body);
  const status = json?.root.field('StatusProcessamento').text?.toUpperCase() ?? null;
  // A proxy's JSON is not the service's, whatever it says.
  if (!json || status === null) return { ...outcomeOfHttp(body, http), items: [], serverTime: null, warnings: [] };

  const { root } = json;
  const messages = [...root.field('Erros').entries, ...root.field('Alertas').entries];
  const serverTime = parseServerTime(root.field('DataHoraProcessamento').text);
  const environment = root.field('TipoAmbiente').text?.toUpperCase() ?? null;
  if (environment !== null && environment !== ENVIRONMENTS[context.environment]) {
    const reason = `the answer is of another environment (${environment.slice(0, 20)})`;
    const outcome: Outcome = { kind: 'unreadable', statusCode: status, reason };
    return { outcome, serverTime, statusText: reason, items: [], warnings: [] };
  }
  const warnings = environment === null ? ['no TipoAmbiente: the environment is not confirmed'] : [];
  const items = itemsOf(root, json.places('ArquivoXml'), body, warnings);
  const { outcome, wanted } = outcomeOf(status, codeOf(messages), items, http, context.query, warnings);
  const shownCode = 'statusCode' in outcome ? outcome.statusCode : null;
  return {
    outcome,
    serverTime,
    statusText: shortened(messages.map((message) => messageOf(message, shownCode)).join('; ')),
    items: outcome.kind === 'documents' ? wanted : [],
    warnings,
  };
}

function outcomeOf(
  status: string,
  code: string | null,
  items: readonly PageItem[],
  http: HttpFacts,
  query: AdnQuery,
  warnings: string[],
): { outcome: Outcome; wanted: readonly PageItem[] } {
  const only = (outcome: Outcome) => ({ outcome, wanted: [] });
  const statusCode = code ?? status;
  switch (status) {
    case 'DOCUMENTOS_LOCALIZADOS':
      if (items.length === 0) return only({ kind: 'unreadable', statusCode, reason: `${status} without documents` });
      return documents(status, items, query, warnings);
    case 'NENHUM_DOCUMENTO_LOCALIZADO':
      return only({ kind: 'none', statusCode, ultNsu: null, maxNsu: null });
    case 'REJEICAO': {
      const byHttp = http && outcomeOfHttp(new Uint8Array(), http).outcome;
      if (byHttp?.kind === 'throttled' || byHttp?.kind === 'certificate_refused') return only(byHttp);
      if (CERTIFICATE_CODES.has(statusCode)) return only({ kind: 'certificate_refused', statusCode });
      if (NOTHING_THERE.has(statusCode)) return only({ kind: 'none', statusCode, ultNsu: null, maxNsu: null });
      return only({ kind: 'rejected', statusCode });
    }
    default:
      // A status of the future: shown as it is, and waited out like a rejection.
      return only({ kind: 'rejected', statusCode: status.slice(0, 60) });
  }
}

/**
 * The cursor is the highest NSU of the page: the service tells none. It is said to give what follows the number asked for, and has been
 * seen to give that number again: what is not above it is left out, and nothing else coming is the end, not a loop (contract section 1.5).
 */
function documents(
  statusCode: string,
  items: readonly PageItem[],
  query: AdnQuery,
  warnings: string[],
): { outcome: Outcome; wanted: readonly PageItem[] } {
  if (!('after' in query)) {
    // Numbers of events asked for by key are of no use: in its sequence the event comes with its number, and is told of then.
    const wanted =
      'only' in query ? items.filter(({ nsu }) => nsu === query.only) : items.map((item) => ({ ...item, nsu: null }));
    if (wanted.length === 0) return { outcome: { kind: 'none', statusCode, ultNsu: null, maxNsu: null }, wanted };
    return {
      outcome: { kind: 'documents', statusCode, ultNsu: ZERO_NSU, maxNsu: ZERO_NSU, items: wanted.length },
      wanted,
    };
  }
  const { after } = query;
  const nsus = items.map(({ nsu }) => tryParseNsu(nsu)).filter((nsu) => nsu !== null);
  if (nsus.length === 0) {
    return { outcome: { kind: 'unreadable', statusCode, reason: `${statusCode} without any NSU` }, wanted: [] };
  }
  const wanted = items.filter(({ nsu }) => nsu === null || compareNsu(nsu as Nsu, after) > 0);
  if (nsus.every((nsu) => nsu === after)) {
    return { outcome: { kind: 'none', statusCode, ultNsu: null, maxNsu: null }, wanted: [] };
  }
  if (wanted.length < items.length) warnings.push(`${items.length - wanted.length} documents came again`);
  const highest = nsus.reduce(maxNsu, after);
  return { outcome: { kind: 'documents', statusCode, ultNsu: highest, maxNsu: highest, items: wanted.length }, wanted };
}

/** The documents, each with its place in the bytes. One without bytes is an item all the same: it fails by itself, not the page. */
function itemsOf(
  root: JsonNode,
  places: { readonly offset: number; readonly length: number }[],
  body: Uint8Array,
  warnings: string[],
): PageItem[] {
  let next = 0;
  return root.field('LoteDFe').entries.map((entry, index): PageItem => {
    const written = entry.field('NSU').text;
    const nsu = written === null ? null : tryParseNsu(written);
    if (nsu === null) warnings.push(`document ${index + 1}: no NSU`);
    // A field that is missing altogether has no place; its index keeps it apart from others like it.
    const place = entry.field('ArquivoXml').value === undefined ? undefined : places[next++];
    const { offset, length } = place ?? { offset: index, length: 0 };
    const kind = entry.field('TipoDocumento').text;
    return {
      nsu: nsu === ZERO_NSU ? null : nsu,
      schema: kind === null ? null : (KINDS.get(kind.toUpperCase()) ?? kind.slice(0, 60)),
      offset,
      length,
      encoding: 'base64+gzip',
      content: body.subarray(offset, offset + length),
    };
  });
}

function codeOf(messages: readonly JsonNode[]): string | null {
  return (
    messages
      .map((message) => message.field('Codigo').text)
      .find((code) => code !== null)
      ?.slice(0, 60) ?? null
  );
}

/**
 * `Mensagem` is a text, or an object with nothing in it.
 *
 * @param shownCode stands beside the text wherever an answer is shown: it is not said twice
 */
function messageOf(message: JsonNode, shownCode: string | null): string {
  const parts = ['Codigo', 'Descricao', 'Mensagem', 'Complemento'].map((name) => message.field(name).text);
  return parts.filter((part) => part !== null && part !== shownCode).join(': ');
}

const shortened = (text: string) => text.replace(/\s+/g, ' ').trim().slice(0, 500);
