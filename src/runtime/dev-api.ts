import type { DocumentType } from '../model/words.js';

/** A problem that our own API answered. */
class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** `malote dev` as a customer of its own API: what the demonstration does, anybody can do. */
export class DevApi {
  constructor(
    private readonly url: string,
    private readonly key: string,
  ) {}

  /** The company's id; made unless it exists. */
  async company(body: { taxId: string; name: string; uf: string }): Promise<string> {
    const { data } = await this.ask<{ data: { id: string }[] }>('GET', `/v1/companies?taxId=${body.taxId}`);
    return data[0]?.id ?? (await this.ask<{ id: string }>('POST', '/v1/companies', body)).id;
  }

  async hasCertificate(companyId: string): Promise<boolean> {
    try {
      await this.ask('GET', `/v1/companies/${companyId}/certificate`);
      return true;
    } catch (error) {
      if (error instanceof ApiProblem && error.status === 404) return false;
      throw error;
    }
  }

  async storeCertificate(companyId: string, pfx: Buffer, password: string): Promise<void> {
    await this.ask('PUT', `/v1/companies/${companyId}/certificate`, { pfx: pfx.toString('base64'), password });
  }

  async capture(companyId: string, documentType: DocumentType): Promise<void> {
    await this.ask('PUT', `/v1/companies/${companyId}/captures/${documentType}`, { environment: 'homologation' });
  }

  /** Makes a webhook endpoint; its secret is shown only now. */
  makeEndpoint(url: string): Promise<{ id: string; secret: string }> {
    return this.ask('POST', '/v1/webhook-endpoints', { url, description: 'malote dev: prints what arrives' });
  }

  /** False: there is no such endpoint. */
  async moveEndpoint(id: string, url: string): Promise<boolean> {
    try {
      await this.ask('PATCH', `/v1/webhook-endpoints/${id}`, { url });
      return true;
    } catch (error) {
      if (error instanceof ApiProblem && error.status === 404) return false;
      throw error;
    }
  }

  private async ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as { code?: string; detail?: string };
    if (response.ok) return answer as T;
    throw new ApiProblem(
      response.status,
      answer.code ?? '',
      `${method} ${path.split('?')[0]}: ${answer.detail ?? response.status}`,
    );
  }
}
