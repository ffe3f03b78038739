import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { ENVIRONMENTS } from '../../model/words.js';
import { clientIdentity } from '../server/client-identity.js';
import { HttpsHost, type HttpsHostOptions } from '../server/https-host.js';
import type { ServiceAnswer } from '../server/service.js';
import type { NfseGovernment } from './government.js';
import type { RestAnswer } from './rest.js';

/** What the NFS-e hosts are made with. */
export interface NfseFrontOptions extends HttpsHostOptions {
  readonly government: NfseGovernment;
}

/** The hosts of NFS-e, which are others than the national environment's. */
export class NfseFront extends HttpsHost {
  constructor(private readonly options: NfseFrontOptions) {
    super(options);
  }

  protected answer(request: IncomingMessage, body: Buffer): ServiceAnswer {
    const { status, contentType, body: text, headers, wire } = this.#answer(request, body);
    return { httpStatus: status, contentType, body: Buffer.from(text), wire: wire ?? null, headers };
  }

  #answer(request: IncomingMessage, body: Buffer): RestAnswer {
    const { url = '', method = 'GET', socket } = request;
    const environment = ENVIRONMENTS.find((name) => url.startsWith(`/${name}/`)) ?? 'homologation';
    const identity = clientIdentity(socket as TLSSocket);
    const call = { method, url: url.slice(environment.length + 1), environment, identity, body };
    const outage = this.options.outage();
    if (outage === null) return this.options.government.answer(call);
    const why = `outage ${outage}`;
    if (outage === 'hang') {
      return { ...this.options.government.refused(call, 0, why), wire: { type: 'hang', ms: null } };
    }
    return this.options.government.refused(call, 503, why);
  }
}
