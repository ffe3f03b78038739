import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { after, test } from 'node:test';
import getPort from 'get-port';
import { onUsualPort } from '../../src/runtime/usual-port.js';

const servers: Server[] = [];
after(() => {
  for (const server of servers) server.close();
});

async function listen(port: number): Promise<number> {
  const server = createServer();
  servers.push(server);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

test('the usual port; another when it is in use', async () => {
  const port = await getPort();
  await listen(port);
  assert.notEqual(await onUsualPort({ port }, listen), port);
});

test('one that somebody takes between the look and the start is let go, and a free one is taken', async () => {
  const taken = await listen(0);
  const tried: number[] = [];
  const port = await onUsualPort({ port: 1 }, (asked) => {
    tried.push(asked);
    return listen(tried.length === 1 ? taken : asked);
  });
  assert.notEqual(port, taken);
  assert.equal(tried[1], 0);
});

test('any other failure to start is passed on', async () => {
  await assert.rejects(
    onUsualPort({ port: 0 }, () => Promise.reject(new Error('no certificate'))),
    /no certificate/,
  );
});
