import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { ENVIRONMENTS } from '../../model/words.js';
import { clientIdentity } from '../server/client-identity.js';
import type { Outage } from '../server/outage.js';
import type { NfseGovernment, RestAnswer } from './government.js';

export interface NfseFrontOptions {
  readonly host: string;
  readonly keyPem: string;
  readonly chainPem: string;
  /** Root of the client certificates that are let in. */
  readonly clientCaPem: string;
  readonly government: NfseGovernment;
  readonly outage: () => Outage | null;
}

const OUT_OF_SERVICE: RestAnswer = { status: 503, contentType: 'text/html', body: '<h1>503 Service Unavailable</h1>' };

/** The hosts of NFS-e, which are others than the national environment's: HTTP/1.1 over TLS 1.2 or newer, with client certificates. */
export class NfseFront {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(private readonly options: NfseFrontOptions) {
    this.#server = createServer(
      {
        key: options.keyPem,
        cert: options.chainPem,
        ca: options.clientCaPem,
        requestCert: true,
        // Refused with a page (496), not with a TLS alert.
        rejectUnauthorized: false,
        minVersion: 'TLSv1.2',
        ALPNProtocols: ['http/1.1'],
      },
      (request, response) => this.#take(request, response),
    );
    this.#server.on('connection', (socket: Socket) => {
      if (options.outage() === 'refuse') {
        socket.destroy();
        return;
      }
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    // A client that breaks off the handshake is its own problem.
    this.#server.on('tlsClientError', () => {});
  }

  /** Listens on a free port and returns the address, without a path. */
  async listen(): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(0, this.options.host, resolve);
    });
    return `https://${this.options.host}:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Cuts all connections. */
  dropConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.dropConnections();
    await closed;
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    request.resume();
    request.on('error', () => response.destroy());
    request.on('end', () => {
      const outage = this.options.outage();
      if (outage === 'hang') return;
      const answer = outage === null ? this.#answer(request) : OUT_OF_SERVICE;
      response.writeHead(answer.status, { 'content-type': answer.contentType, ...answer.headers });
      response.end(answer.body);
    });
  }

  #answer(request: IncomingMessage): RestAnswer {
    const { url = '', method = 'GET', socket } = request;
    const environment = ENVIRONMENTS.find((name) => url.startsWith(`/${name}/`)) ?? 'homologation';
    return this.options.government.answer({
      method,
      url: url.slice(environment.length + 1),
      environment,
      identity: clientIdentity(socket as TLSSocket),
    });
  }
}
