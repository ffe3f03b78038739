import { request as httpsRequest } from 'node:https';
import { gunzipSync } from 'node:zlib';
import type { A1, Simulator } from '../../src/simulator/index.js';
import { onlyChild, parseXml, withDescendants } from '../../src/simulator/soap/element.js';

/** A client with nothing between it and the wire, so that tests see what a real one would. */

export interface RawAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
}

export interface RawRequest {
  readonly url: string;
  readonly ca: string;
  readonly certificate?: Pick<A1, 'keyPem' | 'chainPem'> | null;
  readonly body?: string | Buffer;
  readonly headers?: Record<string, string>;
  readonly method?: string;
  readonly timeoutMs?: number;
}

export const ACTION = 'http://www.portalfiscal.inf.br/nfe/wsdl/NFeDistribuicaoDFe/nfeDistDFeInteresse';

export function send(request: RawRequest): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = httpsRequest(
      request.url,
      {
        method: request.method ?? 'POST',
        ca: request.ca,
        agent: false,
        ...(request.certificate ? { key: request.certificate.keyPem, cert: request.certificate.chainPem } : {}),
        headers: {
          'Content-Type': `application/soap+xml; charset=utf-8; action="${ACTION}"`,
          ...request.headers,
        },
        timeout: request.timeoutMs ?? 10_000,
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          if (!response.complete) reject(new Error('answer was cut'));
          resolve({
            status: response.statusCode ?? 0,
            contentType: response.headers['content-type'] ?? '',
            body: Buffer.concat(chunks),
          });
        });
      },
    );
    outgoing.on('timeout', () => outgoing.destroy(new Error('time-out')));
    outgoing.on('error', reject);
    outgoing.end(request.body);
  });
}

/** A distribution request around its three varying parts. `question`: e.g. `<distNSU><ultNSU>…</ultNSU></distNSU>`. */
export function distribution(taxId: string, question: string, tpAmb = '2'): string {
  const holder = taxId.length === 11 ? `<CPF>${taxId}</CPF>` : `<CNPJ>${taxId}</CNPJ>`;
  return envelope(
    `<distDFeInt xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.01"><tpAmb>${tpAmb}</tpAmb>` +
      `<cUFAutor>35</cUFAutor>${holder}${question}</distDFeInt>`,
  );
}

export function envelope(data: string): string {
  return (
    '<?xml version="1.0" encoding="utf-8"?><soap12:Envelope xmlns:soap12="http://www.w3.org/2003/05/soap-envelope">' +
    '<soap12:Body><nfeDistDFeInteresse xmlns="http://www.portalfiscal.inf.br/nfe/wsdl/NFeDistribuicaoDFe">' +
    `<nfeDadosMsg>${data}</nfeDadosMsg></nfeDistDFeInteresse></soap12:Body></soap12:Envelope>`
  );
}

interface ReadItem {
  readonly nsu: string | null;
  readonly schema: string;
  readonly content: string;
  xml(): string;
}

export interface ReadAnswer {
  readonly cStat: string;
  readonly text: string;
  readonly dhResp: string | null;
  readonly ultNsu: string | null;
  readonly maxNsu: string | null;
  readonly items: readonly ReadItem[];
}

export function read(answer: RawAnswer): ReadAnswer {
  const { root } = parseXml(answer.body.toString('utf8').replace(/^\ufeff/, ''));
  const ret = [...withDescendants(root)].find(({ local }) => local === 'retDistDFeInt');
  if (ret === undefined) throw new Error(`no retDistDFeInt in HTTP ${answer.status}`);
  const field = (name: string) => onlyChild(ret, name)?.text ?? null;
  const items = onlyChild(ret, 'loteDistDFeInt')?.children ?? [];
  return {
    cStat: field('cStat') ?? '',
    text: field('xMotivo') ?? '',
    dhResp: field('dhResp'),
    ultNsu: field('ultNSU'),
    maxNsu: field('maxNSU'),
    items: items.map((item) => ({
      nsu: item.attributes.find(({ name }) => name === 'NSU')?.value ?? null,
      schema: item.attributes.find(({ name }) => name === 'schema')?.value ?? '',
      content: item.text,
      xml: () => gunzipSync(Buffer.from(item.text, 'base64')).toString('utf8'),
    })),
  };
}

export const nsu = (value: number) => String(value).padStart(15, '0');

/** A company as a program would use the service for it: one certificate, one environment. */
export class TestCompany {
  constructor(
    readonly simulator: Simulator,
    readonly taxId: string,
    readonly certificate: Pick<A1, 'keyPem' | 'chainPem'>,
    readonly environment: 'production' | 'homologation' = 'homologation',
  ) {}

  get url(): string {
    return this.simulator.endpoints()[this.environment].nfeDistribution;
  }

  raw(question: string, options: Partial<RawRequest> = {}): Promise<RawAnswer> {
    const body = distribution(this.taxId, question, this.environment === 'production' ? '1' : '2');
    return this.post(body, options);
  }

  post(body: string | Buffer, options: Partial<RawRequest> = {}): Promise<RawAnswer> {
    return send({ url: this.url, ca: this.simulator.caPem, certificate: this.certificate, body, ...options });
  }

  rawPage(ultNsu: number | string, options: Partial<RawRequest> = {}): Promise<RawAnswer> {
    const text = typeof ultNsu === 'number' ? nsu(ultNsu) : ultNsu;
    return this.raw(`<distNSU><ultNSU>${text}</ultNSU></distNSU>`, options);
  }

  async page(ultNsu: number | string): Promise<ReadAnswer> {
    return read(await this.rawPage(ultNsu));
  }

  async byNsu(value: number): Promise<ReadAnswer> {
    return read(await this.raw(`<consNSU><NSU>${nsu(value)}</NSU></consNSU>`));
  }

  async byKey(key: string): Promise<ReadAnswer> {
    return read(await this.raw(`<consChNFe><chNFe>${key}</chNFe></consChNFe>`));
  }
}
