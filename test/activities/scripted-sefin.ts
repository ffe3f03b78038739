import { gunzipSync, gzipSync } from 'node:zlib';
import type { EventService } from '../../src/activities/manifestation/event-services.js';
import { nfseEventService } from '../../src/activities/manifestation/manifestations.js';
import { governmentAddresses } from '../../src/government/addresses.js';
import { createPatientGet } from '../../src/government/patient-get.js';
import { createSefinEvents } from '../../src/government/sefin-events.js';
import { type GovernmentResponse, type Transport, TransportFailure } from '../../src/government/types.js';
import { nfseEvent } from '../documents/nfse-samples.js';

/** What becomes of one exchange, instead of what is right. `lost_after`: Sefin did its work, and only the answer got lost. */
export type Fate =
  | 'lost_after'
  | 'lost_before'
  | 'not_sent'
  | { readonly status: number; readonly body: string; readonly done?: true };

/** Sefin’s part of events: remembers what was registered, and writes down every exchange that left. */
export class ScriptedSefin {
  /** `POST 203202`, `GET 203202` … */
  readonly exchanges: string[] = [];
  /** What was answered to each: status and body; null: the answer got lost. */
  readonly answers: (string | null)[] = [];
  /** The signed requests, in order. */
  readonly requests: string[] = [];
  /** By key: type and XML of what is registered. */
  readonly registered = new Map<string, { readonly type: string; readonly xml: string }>();
  /** Of the next exchanges, in order. */
  fates: Fate[] = [];

  readonly service: EventService;

  constructor() {
    const transport: Transport = (request) => this.#exchange(request);
    const get = createPatientGet(transport, { pausesMs: [] });
    this.service = nfseEventService(
      createSefinEvents({ transport, get, addresses: governmentAddresses(null) }),
      'Malote teste',
    );
  }

  get posts(): number {
    return this.exchanges.filter((exchange) => exchange.startsWith('POST')).length;
  }

  async #exchange({ url, method, body, beforeSend }: Parameters<Transport>[0]): Promise<GovernmentResponse> {
    const fate = this.fates.shift();
    if (fate === 'not_sent') throw new TransportFailure('not_sent', 'connect ECONNREFUSED');
    try {
      beforeSend?.();
    } catch {
      throw new TransportFailure('not_sent', 'held back right before sending');
    }
    const [, key = '', type = ''] = /\/nfse\/(\w{50})\/eventos(?:\/(\d{6})\/1)?$/.exec(url) ?? [];
    const answer =
      method === 'POST' ? () => this.#register(key, body ?? new Uint8Array()) : () => this.#read(key, type);
    this.exchanges.push(method === 'POST' ? `POST ${typeOf(body)}` : `GET ${type}`);
    if (fate === 'lost_after' || (typeof fate === 'object' && fate.done)) answer();
    if (typeof fate === 'string') {
      this.answers.push(null);
      throw new TransportFailure('unknown', 'time limit of 60 s');
    }
    const given = fate ? response(fate.status, fate.body) : answer();
    this.answers.push(`${given.status} ${Buffer.from(given.body).toString()}`);
    return given;
  }

  #register(key: string, body: Uint8Array): GovernmentResponse {
    const request = requestIn(body);
    this.requests.push(request);
    const type = typeOf(body);
    const before = this.registered.get(key);
    if (before) return error(before.type === type ? 'E0802' : 'E1833');
    const author = /<CNPJAutor>(\w+)</.exec(request)?.[1] ?? '';
    const xml = nfseEvent({ key, type, author, details: `<xDesc>${type}</xDesc>` });
    this.registered.set(key, { type, xml });
    return response(201, JSON.stringify({ tipoAmbiente: 2, eventoXmlGZipB64: gzipSync(xml).toString('base64') }));
  }

  #read(key: string, type: string): GovernmentResponse {
    const found = this.registered.get(key);
    if (found?.type !== type) return response(404, '{"tipoAmbiente":2}');
    const arquivoXml = Buffer.from(gzipSync(found.xml).toString('base64')).toString('base64');
    return response(200, JSON.stringify({ tipoAmbiente: 2, eventos: [{ tipoEvento: Number(type), arquivoXml }] }));
  }
}

export const error = (codigo: string, status = 400): GovernmentResponse =>
  response(status, JSON.stringify({ erro: [{ codigo, descricao: `Texto do ${codigo}` }] }));

function response(status: number, body: string): GovernmentResponse {
  return { status, contentType: 'application/json', headers: {}, body: Buffer.from(body) };
}

function requestIn(body: Uint8Array): string {
  const { pedidoRegistroEventoXmlGZipB64 } = JSON.parse(Buffer.from(body).toString()) as Record<string, string>;
  return gunzipSync(Buffer.from(pedidoRegistroEventoXmlGZipB64 ?? '', 'base64')).toString();
}

function typeOf(body: Uint8Array | null): string {
  return /<e(\d{6})>/.exec(requestIn(body ?? new Uint8Array()))?.[1] ?? '';
}
