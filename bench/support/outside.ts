import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startSimulator } from '../../src/simulator/index.js';

/**
 * The world outside Malote, in a process of its own so that its work is not taken for Malote's: the simulated government and a customer's
 * endpoint that takes everything. Told over IPC.
 */
export type ToOutside =
  | { readonly do: 'company'; readonly taxId: string; readonly backlog: number }
  | { readonly do: 'certificate'; readonly taxId: string; readonly password: string };
export type FromOutside =
  | { readonly caPem: string; readonly endpoints: string; readonly url: string }
  | { readonly pfx: string }
  | { readonly done: true };

const simulator = await startSimulator();
const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => response.writeHead(204).end());
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');

process.on('message', (message: ToOutside) => {
  if (message.do === 'company') {
    const { taxId, backlog } = message;
    simulator.companies.add({ taxId, backlog });
    send({ done: true });
    return;
  }
  const { pfx } = simulator.issueA1({ taxId: message.taxId, name: 'BANCADA', password: message.password });
  send({ pfx: pfx.toString('base64') });
});
process.on('disconnect', () => process.exit(0));
send({
  caPem: simulator.caPem,
  endpoints: simulator.endpointsFile(),
  url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
});

function send(message: FromOutside): void {
  process.send?.(message);
}
