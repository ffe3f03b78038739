import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { ENVIRONMENTS, type Environment } from '../../model/words.js';
import type { SimulatorClock } from '../clock.js';
import { type ClientIdentity, clientIdentity } from './client-identity.js';
import { HttpsHost, type HttpsHostOptions } from './https-host.js';
import { frontPage } from './pages.js';
import type { GovernmentService, ServiceAnswer } from './service.js';

/** What the government's host is made with. */
export interface FrontOptions extends HttpsHostOptions {
  readonly clock: SimulatorClock;
  readonly services: readonly GovernmentService[];
}

/** The front of the national environment: TLS 1.2 and no other, and nobody gets in without a certificate of the authority. */
export class GovernmentFront extends HttpsHost {
  constructor(private readonly options: FrontOptions) {
    super(options, { maxVersion: 'TLSv1.2', keepAliveTimeout: 30_000 });
  }

  protected answer(request: IncomingMessage, body: Buffer): ServiceAnswer {
    const { clock } = this.options;
    const at = clock.now();
    const target = this.route(request.url ?? '');
    if (target === null) return page(404);
    const { service, environment } = target;
    const identity = clientIdentity(request.socket as TLSSocket);
    const refuse = (httpStatus: number, why: string): ServiceAnswer => {
      service.refused({ environment, at, httpStatus, identity, why });
      return page(httpStatus);
    };

    const outage = this.options.outage();
    if (outage === 'hang') {
      service.refused({ environment, at, httpStatus: 0, identity, why: 'outage hang' });
      return { ...page(503), wire: { type: 'hang', ms: null } };
    }
    if (outage === '503') return refuse(503, 'outage 503');
    if (identity === null) return refuse(403, 'no certificate of this authority');
    if (!isValidAt(identity, at)) return refuse(403, 'certificate expired or not yet valid');
    if (request.method === 'GET' && /\?wsdl$/i.test(request.url ?? '')) return description(service.name);
    if (request.method !== 'POST') return refuse(405, `method ${request.method}`);
    const action = request.headers.soapaction;
    return service.answer({
      environment,
      identity,
      contentType: request.headers['content-type'] ?? '',
      soapAction: typeof action === 'string' ? action : null,
      body,
      at,
    });
  }

  private route(url: string): { service: GovernmentService; environment: Environment } | null {
    const path = url.split('?')[0] ?? '';
    for (const environment of ENVIRONMENTS) {
      const service = this.options.services.find((candidate) => path === `/${environment}${candidate.path}`);
      if (service !== undefined) return { service, environment };
    }
    return null;
  }
}

function isValidAt(identity: ClientIdentity, at: number): boolean {
  return at >= identity.notBefore && at <= identity.notAfter;
}

/** No call: no rule counts it, and the journal does not have it. */
function description(service: string): ServiceAnswer {
  const wsdl = `<?xml version="1.0" encoding="utf-8"?><wsdl:definitions xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/" name="${service}"/>`;
  return { httpStatus: 200, contentType: 'text/xml; charset=utf-8', body: Buffer.from(wsdl), wire: null };
}

function page(httpStatus: number): ServiceAnswer {
  return { httpStatus, contentType: 'text/html; charset=utf-8', body: Buffer.from(frontPage(httpStatus)), wire: null };
}
