import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import type { ClientCertificate, GovernmentRequest } from '../../src/government/types.js';
import { AUTHORITY, issue, makeRoot, type Pair } from '../certificates/make-certificates.js';

/** Real TLS servers on loopback, with an authority of their own. */

const SERVER = (names: string) => [`subjectAltName=${names}`, 'extendedKeyUsage=serverAuth'];

function makePeople() {
  const root = makeRoot('server-root');
  const intermediate = issue('server-intermediate', root, { extensions: AUTHORITY });
  const clients = makeRoot('client-root');
  const server = issue('server', root, { extensions: SERVER('DNS:localhost,IP:127.0.0.1') });
  return {
    root,
    server,
    selfSigned: makeRoot('self-signed', '/CN=localhost'),
    wrongHost: issue('wrong-host', root, { keyOf: server, extensions: SERVER('DNS:other.test') }),
    expired: issue('server-expired', root, {
      keyOf: server,
      extensions: SERVER('DNS:localhost'),
      notAfter: '20250101000000Z',
    }),
    early: issue('server-early', root, {
      keyOf: server,
      extensions: SERVER('DNS:localhost'),
      notBefore: '20480101000000Z',
    }),
    chained: issue('server-chained', intermediate, { keyOf: server, extensions: SERVER('DNS:localhost') }),
    intermediate,
    clients,
    a: issue('client-a', clients, { subject: '/CN=EMPRESA A:98765432000198' }),
    b: issue('client-b', clients, { subject: '/CN=EMPRESA B:11222333000181' }),
  };
}

let made: ReturnType<typeof makePeople> | undefined;
export function people(): ReturnType<typeof makePeople> {
  made ??= makePeople();
  return made;
}

export function clientCertificate(pair: Pair): ClientCertificate {
  return { keyPem: pair.keyPem, chainPem: pair.certificatePem, thumbprint: pair.name };
}

export interface TestServer {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

const connections = new WeakMap<Server, Set<Socket>>();

async function listen(server: Server): Promise<TestServer> {
  const open = new Set<Socket>();
  connections.set(server, open);
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `https://localhost:${port}/service.asmx?x=1`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

export type Handler = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void;

/** An HTTPS server that asks for a client certificate and takes any. */
export function httpsServer(
  handler: Handler,
  options: TlsOptions = {},
  identity: Pair = people().server,
): Promise<TestServer> {
  const server = createHttpsServer(
    { key: identity.keyPem, cert: identity.certificatePem, requestCert: true, rejectUnauthorized: false, ...options },
    (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => handler(request, response, Buffer.concat(chunks)));
    },
  );
  server.on('tlsClientError', () => {});
  return listen(server as unknown as Server);
}

export function tcpServer(handler: (socket: Socket) => void): Promise<TestServer> {
  return listen(createTcpServer({ noDelay: true }, handler));
}

export function requestTo(server: Pick<TestServer, 'url'>, more: Partial<GovernmentRequest> = {}): GovernmentRequest {
  return {
    url: server.url,
    method: 'POST',
    headers: { 'content-type': 'application/soap+xml; charset=utf-8' },
    body: Buffer.from('<soap>ação</soap>'),
    certificate: clientCertificate(people().a),
    limitMs: 10_000,
    maxAnswerBytes: 100_000,
    ...more,
  };
}
