import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { onUsualPort } from './usual-port.js';

/** A webhook's body; what is shown of it. */
export interface Arrival {
  readonly action: string;
  /** Null: it is about the whole installation. */
  readonly company: { readonly id: string; readonly taxId: string } | null;
  readonly data: {
    readonly kind?: string;
    readonly nsu?: string | null;
    readonly event?: { readonly description?: string } | null;
    readonly metadata?: { readonly total?: string; readonly issuer?: { readonly name?: string } };
  };
}

/** The demo's own customer, who checks signatures. */
export interface Receiver {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * A customer's webhook receiver as one would write it: takes the exact bytes, verifies the signature, answers 204 at once. An arrival
 * with a wrong signature gets 401.
 *
 * @param secret of the endpoint, known only after it was made
 * @param onArrival null: its signature was wrong
 */
export async function startReceiver(
  secret: () => string | null,
  onArrival: (arrival: Arrival | null) => void,
): Promise<Receiver> {
  const server = createServer((request, response) => {
    void text(request).then(
      (body) => {
        const verified = verifies(secret(), body, request.headers as Record<string, string>);
        response.writeHead(verified ? 204 : 401).end();
        onArrival(verified ? (JSON.parse(body) as Arrival) : null);
      },
      () => undefined, // the sender broke off
    );
  });
  await onUsualPort({ port: 4000 }, (port) => once(server.listen(port, '127.0.0.1'), 'listening'));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function verifies(secret: string | null, body: string, headers: Record<string, string>): boolean {
  if (secret === null) return false;
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
}
