import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { ENVIRONMENTS, type Environment } from '../../model/words.js';
import type { SimulatorClock } from '../clock.js';
import { type ClientIdentity, clientIdentity } from './client-identity.js';
import type { Outage } from './outage.js';
import { frontPage } from './pages.js';
import { send } from './send.js';
import type { GovernmentService, ServiceAnswer } from './service.js';

/** More than any request may have; a service says what is too much for it. */
const LARGEST_BODY = 1_000_000;

export interface FrontOptions {
  readonly host: string;
  readonly port: number;
  readonly keyPem: string;
  readonly chainPem: string;
  /** Root of the client certificates that are let in. */
  readonly clientCaPem: string;
  readonly clock: SimulatorClock;
  readonly services: readonly GovernmentService[];
  readonly outage: () => Outage | null;
}

/** The front of the national environment: HTTP/1.1 over TLS 1.2, and nobody gets in without a certificate of the authority. */
export class GovernmentFront {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();

  constructor(private readonly options: FrontOptions) {
    this.server = createServer(
      {
        key: options.keyPem,
        cert: options.chainPem,
        ca: options.clientCaPem,
        requestCert: true,
        // Refused with a page, as IIS does, not with a TLS alert.
        rejectUnauthorized: false,
        minVersion: 'TLSv1.2',
        maxVersion: 'TLSv1.2',
        ALPNProtocols: ['http/1.1'],
        keepAliveTimeout: 30_000,
      },
      (request, response) => this.take(request, response),
    );
    this.server.on('connection', (socket: Socket) => {
      if (options.outage() === 'refuse') {
        socket.destroy();
        return;
      }
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
    });
    // A client that breaks off the handshake is its own problem.
    this.server.on('tlsClientError', () => {});
  }

  /** Starts to listen and returns the address, without a path. */
  async listen(): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(this.options.port, this.options.host, resolve);
    });
    return `https://${this.options.host}:${(this.server.address() as AddressInfo).port}`;
  }

  /** Cuts all connections. */
  dropConnections(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.dropConnections();
    await closed;
  }

  private take(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > LARGEST_BODY) request.destroy();
      else chunks.push(chunk);
    });
    request.on('error', () => response.destroy());
    request.on('end', () => send(response, this.answer(request, Buffer.concat(chunks))));
  }

  private answer(request: IncomingMessage, body: Buffer): ServiceAnswer {
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
