import { gzipSync } from 'node:zlib';
import { type DistributionService, nfseService } from '../../src/activities/index.js';
import { type AdnQuery, readAdnAnswer } from '../../src/government/adn-answer.js';
import { readSefinNote } from '../../src/government/sefin-answer.js';
import type { CallAnswer } from '../../src/government/types.js';
import { ALL_HELD_BACK, HELD_BACK } from '../../src/model/outcome.js';
import type { Environment } from '../../src/model/words.js';
import { nothing } from './government.js';

/** One item of the ADN: its number and its XML. */
export interface AdnItem {
  readonly nsu: number;
  readonly xml: string;
}

export const page = (items: readonly AdnItem[]): string =>
  JSON.stringify({
    StatusProcessamento: items.length > 0 ? 'DOCUMENTOS_LOCALIZADOS' : 'NENHUM_DOCUMENTO_LOCALIZADO',
    LoteDFe: items.map(({ nsu, xml }) => ({ NSU: nsu, ArquivoXml: gzipSync(xml).toString('base64') })),
    Erros: items.length > 0 ? null : [{ Mensagem: {}, Codigo: 'E2220', Descricao: 'Nenhum documento' }],
    TipoAmbiente: 'HOMOLOGACAO',
  });

/** An ADN that gives what is in its box after the number asked for, and writes down what it was asked. */
export class ScriptedAdn {
  box: AdnItem[] = [];
  pageSize = 50;
  readonly asked: { readonly query: AdnQuery; readonly taxId: string }[] = [];
  /** Instead of the box, once. */
  next: { readonly status: number; readonly body: string } | 'unknown' | 'held_back' | 'all_held_back' | null = null;

  /** Notes that Sefin has, by key; and what was asked of it. */
  readonly notes = new Map<string, string>();
  readonly askedSefin: string[] = [];
  /** Sefin answers nobody. */
  sefinFails = false;

  readonly service: DistributionService = nfseService(
    {
      call: async ({ query, taxId, environment, beforeSend }) => {
        beforeSend?.();
        this.asked.push({ query, taxId });
        return this.#answer(query, environment);
      },
    },
    {
      note: async ({ key, environment, beforeSend }) => {
        beforeSend?.();
        this.askedSefin.push(key);
        if (this.sefinFails) return nothing('unknown', 'time limit');
        const xml = this.notes.get(key);
        const body = xml
          ? JSON.stringify({ tipoAmbiente: 2, chaveAcesso: key, nfseXmlGZipB64: gzipSync(xml).toString('base64') })
          : '{"erro":[{"codigo":"E2240","descricao":"Chave inexistente"}]}';
        const raw = { status: xml ? 200 : 404, contentType: 'application/json', headers: {}, body: Buffer.from(body) };
        return { ...readSefinNote(raw.body, raw, environment), raw };
      },
    },
  );

  /** The numbers that were asked after. */
  get asks(): number[] {
    return this.asked.map(({ query }) => ('after' in query ? Number(query.after) : -1));
  }

  #answer(query: AdnQuery, environment: Environment): CallAnswer {
    const { next } = this;
    this.next = null;
    if (next === 'held_back') return nothing('not_sent', HELD_BACK);
    if (next === 'all_held_back') return nothing('not_sent', ALL_HELD_BACK);
    if (next === 'unknown') return nothing('unknown', 'time limit');
    const after = 'after' in query ? Number(query.after) : 0;
    const wanted = ({ nsu, xml }: AdnItem) =>
      'events' in query ? xml.startsWith('<evento') && xml.includes(query.events) : nsu > after;
    const items = this.box
      .filter(wanted)
      .sort((a, b) => a.nsu - b.nsu)
      .slice(0, this.pageSize);
    const { status, body } = next ?? { status: items.length > 0 ? 200 : 404, body: page(items) };
    const raw = { status, contentType: 'text/plain', headers: {}, body: Buffer.from(body) };
    return { ...readAdnAnswer(raw.body, raw, { environment, query }), raw };
  }
}
