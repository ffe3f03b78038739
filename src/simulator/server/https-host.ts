import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { SecureVersion } from 'node:tls';
import type { Outage } from './outage.js';
import { send } from './send.js';
import type { ServiceAnswer } from './service.js';

/** More than any request may have; a service says what is too much for it. */
const LARGEST_BODY = 1_000_000;

/** What an HTTPS host is made with. */
export interface HttpsHostOptions {
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  readonly keyPem: string;
  readonly chainPem: string;
  /** Root of the client certificates that are let in. */
  readonly clientCaPem: string;
  readonly outage: () => Outage | null;
}

/** What the hosts of the government have in common: HTTP/1.1 over TLS 1.2 or newer, and a client certificate is asked for. */
export abstract class HttpsHost {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(
    private readonly address: HttpsHostOptions,
    special: { readonly maxVersion?: SecureVersion; readonly keepAliveTimeout?: number } = {},
  ) {
    this.#server = createServer(
      {
        key: address.keyPem,
        cert: address.chainPem,
        ca: address.clientCaPem,
        requestCert: true,
        // Refused with a page, as IIS does (NFS-e: 496), not with a TLS alert.
        rejectUnauthorized: false,
        minVersion: 'TLSv1.2',
        ALPNProtocols: ['http/1.1'],
        ...special,
      },
      (request, response) => this.#take(request, response),
    );
    this.#server.on('connection', (socket: Socket) => {
      if (address.outage() === 'refuse') {
        socket.destroy();
        return;
      }
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    // A client that breaks off the handshake is its own problem.
    this.#server.on('tlsClientError', () => {});
  }

  /** @param body the whole of it */
  protected abstract answer(request: IncomingMessage, body: Buffer): ServiceAnswer;

  /** Starts to listen and returns the address, without a path. */
  async listen(): Promise<string> {
    const { host, port } = this.address;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, resolve);
    });
    return `https://${host}:${(this.#server.address() as AddressInfo).port}`;
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
    request.on('end', () => send(response, this.answer(request, Buffer.concat(chunks))));
  }
}
