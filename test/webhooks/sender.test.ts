import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type Socket } from 'node:net';
import { after, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import forge from 'node-forge';
import { Webhook } from 'standardwebhooks';
import type { ResolveAll } from '../../src/webhooks/address.js';
import { newEventId } from '../../src/webhooks/body.js';
import { type SenderOptions, WebhookSender } from '../../src/webhooks/sender.js';
import { newSecret } from '../../src/webhooks/signature.js';
import { until } from '../support/until.js';
import { receiver } from './support.js';

function sender(options: Partial<SenderOptions> = {}): WebhookSender {
  const made = new WebhookSender({ version: '1.2.3', allowPrivate: true, ...options });
  after(() => made.close());
  return made;
}

const message = (url: string, body = '{"ação":"José & Cia"}') => ({
  id: newEventId(),
  url,
  body,
  secrets: [newSecret()],
});

/** A server of raw bytes on loopback. */
async function rawServer(onConnection: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    onConnection(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/`;
}

describe('an attempt', () => {
  test('carries the headers of Standard Webhooks, verifiable with the library, and exactly the body', async () => {
    const endpoint = await receiver();
    const sent = message(endpoint.url);
    const result = await sender().send(sent);
    assert.equal(result.statusCode, 204);
    assert.equal(result.error, null);
    assert.equal(result.response, null);
    const [got] = endpoint.received;
    assert.ok(got);
    assert.equal(got.body, sent.body);
    assert.equal(got.headers['webhook-id'], sent.id);
    assert.equal(got.headers['user-agent'], 'Malote/1.2.3');
    assert.equal(got.headers['content-type'], 'application/json');
    assert.ok(Math.abs(Number(got.headers['webhook-timestamp']) - Date.now() / 1000) < 60);
    new Webhook(sent.secrets[0] ?? '').verify(got.body, got.headers);
    assert.throws(() => new Webhook(newSecret()).verify(got.body, got.headers));
  });

  test('is signed with both secrets while one runs out', async () => {
    const endpoint = await receiver();
    const secrets = [newSecret(), newSecret()];
    await sender().send({ ...message(endpoint.url), secrets });
    const [got] = endpoint.received;
    assert.ok(got);
    assert.equal(got.headers['webhook-signature']?.split(' ').length, 2);
    for (const secret of secrets) new Webhook(secret).verify(got.body, got.headers);
  });

  test('keeps what the receiver answered', async () => {
    const endpoint = await receiver((response) => response.writeHead(500).end('erro: José\0'));
    const result = await sender().send(message(endpoint.url));
    assert.equal(result.statusCode, 500);
    assert.equal(result.error, 'status: answered 500');
    assert.equal(result.response, 'erro: José\uFFFD');
  });

  test('goes over connections that are kept', async () => {
    const endpoint = await receiver((response) => response.writeHead(200).end('ok'));
    const one = sender();
    for (let i = 0; i < 20; i += 1) assert.equal((await one.send(message(endpoint.url))).statusCode, 200);
    assert.ok(endpoint.connections() <= 2, `${endpoint.connections()} connections`);
  });

  test('tells how long a refused one asks us to wait', async () => {
    const endpoint = await receiver((response) => response.writeHead(429, { 'retry-after': '90' }).end());
    const result = await sender().send(message(endpoint.url));
    assert.equal(result.statusCode, 429);
    assert.equal(result.retryAfterMs, 90_000);
  });

  test('follows no redirect', async () => {
    const elsewhere = await receiver();
    const endpoint = await receiver((response) => response.writeHead(307, { location: elsewhere.url }).end());
    const result = await sender().send(message(endpoint.url));
    assert.equal(result.statusCode, 307);
    assert.match(result.error ?? '', /^redirect: /);
    assert.equal(elsewhere.received.length, 0);
  });
});

describe('a receiver that misbehaves', () => {
  test('hangs: the attempt ends at the limit and lets the connection go', async () => {
    let closed = false;
    const endpoint = await receiver((_, __, request) => {
      request.socket.on('close', () => {
        closed = true;
      });
    });
    const result = await sender({ timeoutMs: 300 }).send(message(endpoint.url));
    assert.equal(result.statusCode, null);
    assert.equal(result.error, 'timeout: no answer within 0.3 s');
    await until(() => closed, 'the connection is let go');
  });

  test('does not accept the connection: the same limit', async () => {
    // A name server that does not answer; the timer stands for the rest of a process, whose event loop is never empty.
    const alive = setInterval(() => {}, 1_000);
    const never: ResolveAll = () => {};
    const result = await sender({ timeoutMs: 200, allowPrivate: false, resolveAll: never }).send(
      message('https://erp.example.com/'),
    );
    clearInterval(alive);
    assert.equal(result.error, 'timeout: no answer within 0.2 s');
  });

  test('answers 10 GB: the first 16 KiB are taken, the rest is left', async () => {
    const megabyte = Buffer.alloc(1_000_000, 'x');
    let written = 0;
    const endpoint = await receiver((response) => {
      response.writeHead(200, { 'content-length': String(10_000 * megabyte.length) });
      const more = () => {
        while (written < 10_000 && !response.destroyed) {
          written += 1;
          if (!response.write(megabyte)) return response.once('drain', more);
        }
        return response;
      };
      more();
    });
    const result = await sender().send(message(endpoint.url));
    assert.equal(result.statusCode, 200);
    assert.equal(result.error, null);
    assert.equal(result.response?.length, 16 * 1024);
    assert.ok(written < 100, `${written} MB left the receiver`);
  });

  test('answers a gzip bomb: nothing is unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000));
    const endpoint = await receiver((response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb));
    const result = await sender().send(message(endpoint.url));
    assert.equal(result.statusCode, 200);
    assert.equal(result.response, '(gzip, not decoded)');
    assert.equal(endpoint.received[0]?.headers['accept-encoding'], 'identity');
  });

  test('never ends its answer: the head counts, the body gets 2 s', async () => {
    const endpoint = await receiver((response) => response.writeHead(200).write('partly'));
    const began = performance.now();
    const result = await sender({ timeoutMs: 600_000 }).send(message(endpoint.url));
    assert.equal(result.statusCode, 200);
    assert.equal(result.response, 'partly');
    assert.ok(performance.now() - began < 120_000);
  });

  const raw: [string, (socket: Socket) => void, RegExp][] = [
    ['resets the connection', (socket) => socket.once('data', () => socket.resetAndDestroy()), /^connection_reset: /],
    ['closes without an answer', (socket) => socket.once('data', () => socket.end()), /^connection_reset: /],
    ['speaks no HTTP', (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'), /^not_http: /],
    [
      'answers an endless head',
      (socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(200_000)}`),
      /^answer_too_large: /,
    ],
  ];
  for (const [what, behave, error] of raw) {
    test(what, async () => {
      const result = await sender({ timeoutMs: 3_000 }).send(message(await rawServer(behave)));
      assert.equal(result.statusCode, null);
      assert.match(result.error ?? '', error);
    });
  }

  test('is not there', async () => {
    const endpoint = await receiver();
    await endpoint.close();
    const result = await sender().send(message(endpoint.url));
    assert.match(result.error ?? '', /^connection_refused: /);
  });

  test('has no address', async () => {
    const unknown: ResolveAll = (_, __, callback) => callback(Object.assign(new Error('x'), { code: 'ENOTFOUND' }), []);
    const result = await sender({ allowPrivate: false, resolveAll: unknown }).send(message('https://erp.example.com/'));
    assert.match(result.error ?? '', /^dns: /);
  });

  test('shows a certificate that nobody vouches for', async () => {
    const { key, cert } = selfSigned();
    const server = createHttpsServer({ key, cert }, (_, response) => response.end());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    after(() => server.close());
    const { port } = server.address() as { port: number };
    const result = await sender().send(message(`https://127.0.0.1:${port}/`));
    assert.match(result.error ?? '', /^tls: .*DEPTH_ZERO_SELF_SIGNED_CERT/);
  });
});

describe('private addresses', () => {
  test('are not connected to, however they are written', async () => {
    const endpoint = await receiver();
    const { port } = new URL(endpoint.url);
    const guarded = sender({ allowPrivate: false });
    for (const host of [
      '127.0.0.1',
      '127.1',
      '0x7f000001',
      '2130706433',
      '0.0.0.0',
      '[::1]',
      '[::ffff:127.0.0.1]',
      'localhost',
    ]) {
      const result = await guarded.send(message(`http://${host}:${port}/`));
      assert.match(result.error ?? '', /^address_not_allowed: /, host);
      assert.ok(!result.error?.includes('127.0.0.1'));
    }
    assert.equal(endpoint.connections(), 0);
  });

  test('are refused when a public name points to them, at every connection anew (DNS rebinding)', async () => {
    const endpoint = await receiver();
    const { port } = new URL(endpoint.url);
    let lookups = 0;
    const rebinding: ResolveAll = (_, __, callback) => {
      lookups += 1;
      callback(null, [
        { address: '127.0.0.1', family: 4 },
        { address: '::ffff:127.0.0.1', family: 6 },
        { address: '169.254.169.254', family: 4 },
      ]);
    };
    const guarded = sender({ allowPrivate: false, resolveAll: rebinding });
    for (let i = 0; i < 3; i += 1) {
      const result = await guarded.send(message(`http://erp.example.com:${port}/`));
      assert.match(result.error ?? '', /^address_not_allowed: /);
    }
    assert.equal(lookups, 3);
    assert.equal(endpoint.connections(), 0);
  });
});

function selfSigned(): { key: string; cert: string } {
  const pair = forge.pki.rsa.generateKeyPair(2048);
  const cert = forge.pki.createCertificate();
  cert.publicKey = pair.publicKey;
  cert.validity.notAfter = new Date(Date.now() + 86_400_000);
  const name = [{ name: 'commonName', value: 'erp.example.com' }];
  cert.setSubject(name);
  cert.setIssuer(name);
  cert.sign(pair.privateKey, forge.md.sha256.create());
  return { key: forge.pki.privateKeyToPem(pair.privateKey), cert: forge.pki.certificateToPem(cert) };
}
