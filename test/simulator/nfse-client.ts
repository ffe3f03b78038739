import { gunzipSync, gzipSync } from 'node:zlib';
import { signEnveloped } from '../../src/government/xml-signature.js';
import type { A1, Simulator } from '../../src/simulator/index.js';
import { type RawAnswer, send } from './client.js';

/** A taxpayer at the simulated ADN and Sefin, with nothing between it and the wire. */
export class Taxpayer {
  readonly certificate: Pick<A1, 'keyPem' | 'chainPem'>;

  constructor(
    private readonly simulator: Simulator,
    readonly taxId: string,
    certificate?: Pick<A1, 'keyPem' | 'chainPem'>,
  ) {
    this.certificate = certificate ?? simulator.issueA1({ taxId, name: 'Tomadora Fictícia', password: '' });
  }

  /** One call, a second after the last one: closer together they are refused. */
  async call(
    path: string,
    body?: object,
    pauseMs = 1_000,
  ): Promise<RawAnswer & { readonly json: Record<string, unknown> }> {
    this.simulator.clock.advance(pauseMs);
    const { adn, sefin } = this.simulator.endpoints().homologation;
    const answer = await send({
      url: path.startsWith('/nfse') ? `${sefin}${path}` : `${adn}${path}`,
      method: body === undefined ? 'GET' : 'POST',
      ca: this.simulator.caPem,
      certificate: this.certificate,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = answer.body.toString();
    return { ...answer, json: text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {} };
  }

  /** The NSUs of a page. */
  async page(after: number): Promise<number[]> {
    const { json } = await this.call(`/DFe/${after}?lote=true`);
    return ((json.LoteDFe ?? []) as { NSU: number }[]).map(({ NSU }) => NSU);
  }

  register(request: string, key: string): ReturnType<Taxpayer['call']> {
    const packed = gzipSync(request).toString('base64');
    return this.call(`/nfse/${key}/eventos`, { pedidoRegistroEventoXmlGZipB64: packed });
  }

  signed(parts: RequestParts): string {
    const request = requestOf({ author: this.taxId, at: this.simulator.clock.now(), ...parts });
    return signEnveloped(request, `PRE${parts.key}${parts.type ?? '203202'}`, { ...this.certificate, thumbprint: '' });
  }
}

export interface RequestParts {
  readonly key: string;
  readonly type?: string;
  readonly author?: string;
  readonly at?: number;
  readonly environment?: string;
  /** After xDesc. */
  readonly details?: string;
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  '203202': 'Manifestação de NFS-e - Confirmação do Tomador',
  '203206': 'Manifestação de NFS-e - Rejeição do Tomador',
};

/** pedRegEvento 1.01, unsigned. */
export function requestOf({
  key,
  type = '203202',
  author = '',
  at = 0,
  environment = '2',
  details = '',
}: RequestParts): string {
  const time = `${new Date(at - 3 * 3_600_000).toISOString().slice(0, 19)}-03:00`;
  return (
    `<pedRegEvento xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01"><infPedReg Id="PRE${key}${type}"><tpAmb>${environment}</tpAmb>` +
    `<verAplic>teste</verAplic><dhEvento>${time}</dhEvento><CNPJAutor>${author}</CNPJAutor><chNFSe>${key}</chNFSe>` +
    `<e${type}><xDesc>${DESCRIPTIONS[type] ?? ''}</xDesc>${details}</e${type}></infPedReg></pedRegEvento>`
  );
}

/** The XML in a field of an answer, however often it is packed. */
export function unpacked(field: unknown): string {
  let bytes = Buffer.from(String(field), 'base64');
  if (bytes.subarray(0, 4).toString() === 'H4sI') bytes = Buffer.from(bytes.toString(), 'base64');
  return gunzipSync(bytes).toString();
}

/** The code of Sefin's refusal; null: it took it. */
export function refusal({
  status,
  json,
}: {
  readonly status: number;
  readonly json: Record<string, unknown>;
}): string | null {
  if (status < 400) return null;
  return (json.erro as { codigo: string }[] | undefined)?.[0]?.codigo ?? `HTTP ${status}`;
}
