import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

export interface Arrival {
  readonly id: string;
  readonly body: string;
}

/** A customer's endpoint: verifies every signature, keeps what came. */
export class Receiver {
  readonly arrivals: Arrival[] = [];
  /** Messages whose signature did not verify. Must stay empty. */
  readonly forged: string[] = [];
  /** Status of the next answers. */
  status = 204;

  constructor(
    private readonly server: Server,
    readonly url: string,
    readonly secret: string,
  ) {}

  get ids(): Set<string> {
    return new Set(this.arrivals.map(({ id }) => id));
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

export async function startReceiver(secret = `whsec_${randomBytes(32).toString('base64')}`): Promise<Receiver> {
  const webhook = new Webhook(secret);
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const id = String(request.headers['webhook-id']);
    try {
      webhook.verify(body, request.headers as Record<string, string>);
      receiver.arrivals.push({ id, body });
    } catch {
      receiver.forged.push(id);
    }
    response.writeHead(receiver.status).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver = new Receiver(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, secret);
  return receiver;
}
