import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { ENVIRONMENTS } from '../../model/words.js';
import { clientIdentity } from '../server/client-identity.js';
import type { Outage } from '../server/outage.js';
import { send } from '../server/send.js';
import type { NfseGovernment } from './government.js';
import type { RestAnswer } from './rest.js';

/** More than any request may have. */
const LARGEST_BODY = 1_000_000;

export interface NfseFrontOptions {
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  readonly keyPem: string;
  readonly chainPem: string;
  /** Root of the client certificates that are let in. */
  readonly clientCaPem: string;
  readonly government: NfseGovernment;
  readonly outage: () => Outage | null;
}

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

  /** Starts to listen and returns the address, without a path. */
  async listen(): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.options.port, this.options.host, resolve);
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
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > LARGEST_BODY) request.destroy();
      else chunks.push(chunk);
    });
    request.on('error', () => response.destroy());
    request.on('end', () => {
      const { status, contentType, body, headers, wire } = this.#answer(request, Buffer.concat(chunks));
      send(response, { httpStatus: status, contentType, body: Buffer.from(body), wire: wire ?? null, headers });
    });
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
