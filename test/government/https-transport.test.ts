import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { constants } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, describe, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { inspect } from 'node:util';
import { createHttpsTransport } from '../../src/government/https-transport.js';
import { type FailureStage, type GovernmentRequest, TransportFailure } from '../../src/government/types.js';
import { folderOf } from '../certificates/make-certificates.js';
import {
  clientCertificate,
  type Handler,
  httpsServer,
  people,
  requestTo,
  type TestServer,
  tcpServer,
} from './tls-server.js';

const transport = createHttpsTransport({ caFile: people().root.certificatePem });
const servers: TestServer[] = [];
after(() => Promise.all(servers.map((server) => server.close())));

async function started(server: Promise<TestServer>): Promise<TestServer> {
  servers.push(await server);
  return server;
}

async function failureOf(request: GovernmentRequest, send = transport): Promise<TransportFailure> {
  try {
    const response = await send(request);
    throw new assert.AssertionError({ message: `expected a failure, got HTTP ${response.status}` });
  } catch (error) {
    assert.ok(error instanceof TransportFailure, inspect(error));
    return error;
  }
}

async function fails(request: GovernmentRequest, stage: FailureStage, reason: RegExp): Promise<void> {
  const failure = await failureOf(request);
  assert.equal(failure.stage, stage, failure.reason);
  assert.match(failure.reason, reason);
}

const OK: Handler = (_, response, body) => response.end(body);

describe('an exchange', () => {
  test('sends exactly this, and gives whatever comes', async () => {
    let seen: Record<string, unknown> = {};
    const server = await started(
      httpsServer((request, response, body) => {
        const socket = request.socket as TLSSocket;
        seen = {
          head: `${request.method} ${request.url} HTTP/${request.httpVersion}`,
          headers: request.rawHeaders.join('|').toLowerCase(),
          body: body.toString(),
          peer: socket.getPeerCertificate().subject.CN,
          protocol: socket.getProtocol(),
          alpn: socket.alpnProtocol,
        };
        response.writeHead(418, { 'content-type': 'text/xml; charset=utf-8', 'set-cookie': ['a=1', 'b=2'] });
        response.end('não');
      }),
    );
    const response = await transport(requestTo(server));
    assert.deepEqual(seen, {
      head: 'POST /service.asmx?x=1 HTTP/1.1',
      headers: `content-type|application/soap+xml; charset=utf-8|content-length|19|host|localhost:${server.port}|connection|close`,
      body: '<soap>ação</soap>',
      peer: 'EMPRESA A:98765432000198',
      protocol: 'TLSv1.2',
      alpn: 'http/1.1',
    });
    assert.equal(response.status, 418);
    assert.equal(response.contentType, 'text/xml; charset=utf-8');
    assert.equal(response.headers['set-cookie'], 'a=1, b=2');
    assert.equal(Buffer.from(response.body).toString(), 'não');
  });

  test('GET without a body', async () => {
    const server = await started(
      httpsServer((request, response) => response.end(`${request.method} ${request.headers['content-length']}`)),
    );
    const response = await transport(requestTo(server, { method: 'GET', body: null, headers: {} }));
    assert.equal(Buffer.from(response.body).toString(), 'GET undefined');
  });

  test('every kind of body arrives whole', async () => {
    const large = Buffer.alloc(90_000, 'x');
    const server = await started(
      httpsServer((request, response) => {
        if (request.url === '/length') response.writeHead(200, { 'content-length': large.length });
        if (request.url === '/until-close') response.shouldKeepAlive = false;
        if (request.url === '/until-close') response.useChunkedEncodingByDefault = false;
        response.end(request.url === '/none' ? undefined : large);
      }),
    );
    for (const path of ['/length', '/chunked', '/until-close', '/none']) {
      const response = await transport(requestTo({ url: new URL(path, server.url).href }));
      assert.equal(response.body.length, path === '/none' ? 0 : large.length, path);
    }
  });

  test('an address that is an IP works when the certificate names it', async () => {
    const server = await started(httpsServer(OK));
    assert.equal((await transport(requestTo({ url: `https://127.0.0.1:${server.port}/` }))).status, 200);
  });

  test('a server that asks for the certificate after the request, by renegotiation, gets it (IIS)', async () => {
    const server = await started(
      httpsServer(
        (request, response) => {
          const socket = request.socket as TLSSocket;
          // 'secure' comes twice: when the server has asked for the new handshake, and when that is done.
          const answerWhenKnown = () => {
            const { subject } = socket.getPeerCertificate();
            if (subject) response.end(subject.CN);
            else socket.once('secure', answerWhenKnown);
          };
          socket.renegotiate({ requestCert: true, rejectUnauthorized: false }, answerWhenKnown);
        },
        {
          requestCert: false,
          maxVersion: 'TLSv1.2',
          secureOptions: constants.SSL_OP_NO_SESSION_RESUMPTION_ON_RENEGOTIATION,
        },
      ),
    );
    const response = await transport(requestTo(server));
    assert.equal(Buffer.from(response.body).toString(), 'EMPRESA A:98765432000198');
  });

  test('a server that has only CBC suites, as some hosts of the national environment', async () => {
    for (const ciphers of ['ECDHE-RSA-AES256-SHA384', 'ECDHE-RSA-AES128-SHA', 'AES256-SHA']) {
      const server = await started(httpsServer(OK, { ciphers, maxVersion: 'TLSv1.2' }));
      assert.equal((await transport(requestTo(server))).status, 200, ciphers);
    }
  });

  test('a server behind an intermediate certificate that it sends is trusted', async () => {
    const { chained, intermediate } = people();
    const server = await started(
      httpsServer(OK, { cert: chained.certificatePem + intermediate.certificatePem }, chained),
    );
    assert.equal((await transport(requestTo(server))).status, 200);
  });
});

describe('no connection serves twice', () => {
  test('each call has a connection and a TLS session of its own, with its own certificate', async () => {
    const seen: string[] = [];
    const ports = new Set<number | undefined>();
    const server = await started(
      httpsServer((request, response) => {
        const socket = request.socket as TLSSocket;
        seen.push(`${socket.getPeerCertificate().subject.CN} ${socket.isSessionReused()}`);
        ports.add(socket.remotePort);
        response.setHeader('connection', 'keep-alive').end();
      }),
    );
    const [a, b] = [clientCertificate(people().a), clientCertificate(people().b)];
    for (const certificate of [a, b, a, a, b]) await transport(requestTo(server, { certificate }));
    const [A, B] = ['EMPRESA A:98765432000198 false', 'EMPRESA B:11222333000181 false'];
    assert.deepEqual(seen, [A, B, A, A, B]);
    assert.equal(ports.size, 5);
  });

  test('calls at the same time do not mix, not even under one thumbprint', async () => {
    const server = await started(
      httpsServer((request, response) => response.end((request.socket as TLSSocket).getPeerCertificate().subject.CN)),
    );
    const calls = Array.from({ length: 30 }, async (_, index) => {
      const pair = index % 2 ? people().a : people().b;
      const certificate = { ...clientCertificate(pair), thumbprint: 'same' };
      const { body } = await transport(requestTo(server, { certificate }));
      assert.match(Buffer.from(body).toString(), index % 2 ? /EMPRESA A/ : /EMPRESA B/);
    });
    await Promise.all(calls);
  });
});

describe('not sent: no byte of the request left', () => {
  test('nobody listens', async () => {
    const server = await httpsServer(OK);
    await server.close();
    await fails(requestTo(server), 'not_sent', /^connect ECONNREFUSED$/);
  });

  test('the name does not resolve', async () => {
    await fails(requestTo({ url: 'https://no-such-host.invalid/' }), 'not_sent', /^getaddrinfo E\w+$/);
  });

  test('the server’s certificate is not to be trusted', async () => {
    const { selfSigned, wrongHost, expired, early, chained, clients } = people();
    const cases: [string, Parameters<typeof httpsServer>, RegExp][] = [
      ['self-signed', [OK, {}, selfSigned], /not trusted: DEPTH_ZERO_SELF_SIGNED_CERT/],
      ['wrong host', [OK, {}, wrongHost], /not trusted: ERR_TLS_CERT_ALTNAME_INVALID/],
      ['expired', [OK, {}, expired], /not trusted: CERT_HAS_EXPIRED/],
      ['not yet valid', [OK, {}, early], /not trusted: CERT_NOT_YET_VALID/],
      ['intermediate missing', [OK, {}, chained], /not trusted: UNABLE_TO_VERIFY_LEAF_SIGNATURE/],
      ['unknown root', [OK, {}, { ...people().a, name: clients.name }], /not trusted: UNABLE_TO_VERIFY_LEAF_SIGNATURE/],
    ];
    for (const [name, parts, reason] of cases) {
      let requests = 0;
      const [, options, identity] = parts;
      const server = await started(
        httpsServer(
          (_, response) => {
            requests += 1;
            response.end();
          },
          options,
          identity,
        ),
      );
      await fails(requestTo(server), 'not_sent', reason);
      assert.equal(requests, 0, name);
    }
  });

  test('a root is trusted only when the CA file has it', async () => {
    const server = await started(httpsServer(OK));
    const failure = await failureOf(requestTo(server), createHttpsTransport());
    assert.equal(failure.stage, 'not_sent');
    assert.match(failure.reason, /not trusted/);
  });

  test('the server does not speak TLS 1.2, or not TLS at all', async () => {
    for (const options of [{ minVersion: 'TLSv1.3' }, { maxVersion: 'TLSv1.1', minVersion: 'TLSv1' }] as const) {
      await fails(requestTo(await started(httpsServer(OK, options))), 'not_sent', /./);
    }
    const plain = await started(tcpServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')));
    await fails(requestTo(plain), 'not_sent', /ERR_SSL/);
  });

  test('the connection ends or hangs before it is up', async () => {
    const closing = await started(tcpServer((socket) => socket.destroy()));
    await fails(requestTo(closing), 'not_sent', /ECONNRESET/);
    const silent = await started(tcpServer(() => {}));
    await fails(requestTo(silent, { limitMs: 100 }), 'not_sent', /^time limit of 0.1 s$/);
  });

  test('handshake failure, which may be about ciphers', async () => {
    await fails(requestTo(await started(alertingServer(40))), 'not_sent', /ERR_SSL_\w*HANDSHAKE_FAILURE/);
  });

  test('the certificate or the address cannot be used', async () => {
    const server = await started(httpsServer(OK));
    const [a, b] = [clientCertificate(people().a), clientCertificate(people().b)];
    await fails(requestTo(server, { certificate: { ...a, keyPem: b.keyPem } }), 'not_sent', /cannot be used: ERR_/);
    await fails(requestTo(server, { certificate: { ...a, keyPem: 'no key' } }), 'not_sent', /cannot be used: ERR_/);
    await fails(requestTo({ url: 'no address' }), 'not_sent', /cannot be used: ERR_INVALID_URL/);
    await fails(requestTo({ url: server.url.replace('https', 'http') }), 'not_sent', /cannot be used/);
    await fails(requestTo(server, { headers: { 'x-bad': 'line\nbreak' } }), 'not_sent', /./);
  });

  test('cut off before it began, and during the handshake', async () => {
    await fails(requestTo(await started(httpsServer(OK)), { signal: AbortSignal.abort() }), 'not_sent', /cut off/);
    const stop = new AbortController();
    const silent = await started(tcpServer(() => stop.abort()));
    await fails(requestTo(silent, { signal: stop.signal }), 'not_sent', /cut off/);
  });
});

describe('beforeSend', () => {
  test('is called once the connection is up and before the first byte; what it throws keeps everything back', async () => {
    let handshakes = 0;
    let bytes = 0;
    const proxied = await started(httpsServer(OK));
    let clientBytes = 0;
    const proxy = await started(
      tcpServer((near) => {
        const far = connect(proxied.port, '127.0.0.1');
        far.on('error', () => near.destroy());
        near.on('data', (data) => {
          clientBytes += data.length;
          far.write(data);
        });
        far.pipe(near);
      }),
    );
    const beforeSend = () => {
      handshakes += 1;
      bytes = clientBytes;
      throw new Error('the lease was lost');
    };
    await fails(requestTo(proxy, { beforeSend }), 'not_sent', /^held back right before sending$/);
    assert.equal(handshakes, 1);
    assert.ok(bytes > 500, 'the handshake is done');
    await transport(requestTo(proxied, { beforeSend: () => {} }));
    // A closing alert (some 31 bytes) may follow; the request would have been more.
    assert.ok(clientBytes - bytes < 60, `${clientBytes - bytes} bytes left after beforeSend threw`);
  });

  test('may cut the call off itself', async () => {
    const stop = new AbortController();
    let requests = 0;
    const server = await started(
      httpsServer((_, response) => {
        requests += 1;
        response.end();
      }),
    );
    await fails(requestTo(server, { signal: stop.signal, beforeSend: () => stop.abort() }), 'not_sent', /cut off/);
    assert.equal(requests, 0);
  });

  test('is not called when the handshake fails', async () => {
    let called = false;
    const server = await started(httpsServer(OK, {}, people().selfSigned));
    await fails(
      requestTo(server, {
        beforeSend: () => {
          called = true;
        },
      }),
      'not_sent',
      /not trusted/,
    );
    assert.equal(called, false);
  });
});

describe('unknown: the request was, or may have been, sent', () => {
  test('reset before the answer', async () => {
    const server = await started(httpsServer(() => reset()));
    let reset = () => {};
    const proxy = await started(
      tcpServer((near) => {
        reset = () => near.resetAndDestroy();
        near
          .pipe(connect(server.port, '127.0.0.1'))
          .on('error', () => {})
          .pipe(near);
      }),
    );
    await fails(requestTo(proxy), 'unknown', /ECONNRESET/);
  });

  test('closed before the answer', async () => {
    const server = await started(httpsServer((request) => request.socket.destroy()));
    await fails(requestTo(server), 'unknown', /ECONNRESET/);
  });

  test('cut after the headers', async () => {
    const server = await started(
      httpsServer((request, response) => {
        response.writeHead(200, { 'content-length': 100 });
        response.write('0123456789', () => request.socket.end());
      }),
    );
    await fails(requestTo(server), 'unknown', /^answer cut off after 10 bytes$/);
  });

  test('no answer within the limit', async () => {
    const server = await started(httpsServer(() => {}));
    await fails(requestTo(server, { limitMs: 300 }), 'unknown', /^time limit of 0.3 s$/);
  });

  test('an answer that drips beyond the limit', async () => {
    const server = await started(
      httpsServer((_, response) => {
        const drip = setInterval(() => response.write('x'), 20);
        response.on('close', () => clearInterval(drip));
      }),
    );
    await fails(requestTo(server, { limitMs: 400 }), 'unknown', /^time limit of 0.4 s$/);
  });

  test('cut off by us after sending', async () => {
    const stop = new AbortController();
    const server = await started(httpsServer(() => stop.abort()));
    await fails(requestTo(server, { signal: stop.signal }), 'unknown', /cut off/);
  });

  test('an answer that is not HTTP', async () => {
    const server = await started(httpsServer((request) => request.socket.end('hello\r\n\r\n')));
    await fails(requestTo(server), 'unknown', /HPE_/);
  });

  test('wherever the connection breaks, "not sent" is never said of a request that arrived', async () => {
    let arrived = 0;
    const server = await started(
      httpsServer((_, response) => {
        arrived += 1;
        response.end('answer');
      }),
    );
    const stages = new Set<string>();
    for (let budget = 0; budget < 4200; budget += 60) {
      const proxy = await tcpServer((near) => {
        const far = connect(server.port, '127.0.0.1');
        far.on('error', () => near.destroy());
        let left = budget;
        near.on('data', (data) => {
          left -= data.length;
          far.write(left < 0 ? data.subarray(0, data.length + left) : data, () => {
            if (left >= 0) return;
            far.end();
            near.resetAndDestroy();
          });
        });
        far.pipe(near);
      });
      const before = arrived;
      try {
        await transport(requestTo(proxy));
        stages.add('answered');
      } catch (error) {
        assert.ok(error instanceof TransportFailure);
        stages.add(error.stage);
        if (error.stage === 'not_sent') assert.equal(arrived, before, `${budget} bytes: ${error.reason}`);
      } finally {
        await proxy.close();
      }
    }
    assert.deepEqual([...stages].sort(), ['answered', 'not_sent', 'unknown']);
  });
});

describe('our certificate refused', () => {
  test('each alert that speaks of the certificate, whenever the server sends it in the handshake', async () => {
    for (const alert of [42, 43, 44, 45, 46, 48, 49]) {
      await fails(requestTo(await started(alertingServer(alert))), 'certificate_refused', /^ERR_SSL_\w*ALERT\w*$/);
    }
  });

  test('by OpenSSL in the first handshake', async () => {
    const server = await opensslServer('-Verify', '3', '-verify_return_error', '-CAfile', 'server-root.crt');
    try {
      await fails(requestTo(server), 'certificate_refused', /ALERT_UNKNOWN_CA/);
    } finally {
      await server.stop();
    }
  });

  test('by OpenSSL in a renegotiation after the request', async () => {
    const server = await opensslServer('-CAfile', 'server-root.crt', '-verify_return_error', '-no_resumption_on_reneg');
    try {
      const failing = fails(requestTo(server), 'certificate_refused', /ALERT_UNKNOWN_CA/);
      await server.output(/<soap>/);
      server.type('R\n');
      await failing;
    } finally {
      await server.stop();
    }
  });

  test('by HTTP 403: that is an answer', async () => {
    const server = await started(
      httpsServer(
        (request, response) => {
          response.statusCode = (request.socket as TLSSocket).authorized ? 200 : 403;
          response.end();
        },
        { ca: people().root.certificatePem },
      ),
    );
    assert.equal((await transport(requestTo(server))).status, 403);
  });
});

describe('an answer too large', () => {
  const bodyOf =
    (bytes: number, announced: boolean): Handler =>
    (_, response) => {
      if (announced) response.writeHead(200, { 'content-length': bytes });
      response.end(Buffer.alloc(bytes));
    };

  test('announced or not', async () => {
    for (const announced of [true, false]) {
      const server = await started(httpsServer(bodyOf(100_001, announced)));
      await fails(requestTo(server), 'answer_too_large', /^answer larger than 100000 bytes$/);
    }
  });

  test('exactly at the limit is an answer', async () => {
    for (const announced of [true, false]) {
      const server = await started(httpsServer(bodyOf(100_000, announced)));
      assert.equal((await transport(requestTo(server))).body.length, 100_000);
    }
  });

  test('endless: the connection is cut, memory stays flat', async () => {
    let written = 0;
    const server = await started(
      httpsServer((_, response) => {
        const chunk = Buffer.alloc(65_536);
        const more = () => {
          while (!response.destroyed && response.write(chunk)) written += chunk.length;
        };
        response.on('drain', more);
        more();
      }),
    );
    await fails(requestTo(server), 'answer_too_large', /larger/);
    assert.ok(written < 50_000_000);
  });
});

describe('servers without secure renegotiation (C87)', () => {
  test('are refused, unless their host is listed', async () => {
    const server = await started(serverHelloWithoutRenegotiationInfo());
    await fails(requestTo(server), 'not_sent', /ERR_SSL_UNSAFE_LEGACY_RENEGOTIATION_DISABLED/);
    const lenient = createHttpsTransport({ legacyHosts: ['localhost'] });
    const failure = await failureOf(requestTo(server), lenient);
    // It goes on past the hello, to the next thing that is wrong with this server.
    assert.match(failure.reason, /ECONNRESET/);
    const other = createHttpsTransport({ legacyHosts: ['other.test'] });
    assert.match((await failureOf(requestTo(server), other)).reason, /UNSAFE_LEGACY/);
  });
});

test('a failure shows nothing of the key, the request or the address (C96)', async () => {
  const { a, b, selfSigned } = people();
  const secret = requestTo(
    { url: 'https://localhost:1/secret-path' },
    { headers: { authorization: 'secret-header' }, body: Buffer.from('secret-body') },
  );
  const requests: GovernmentRequest[] = [
    secret,
    { ...secret, certificate: { ...clientCertificate(a), keyPem: b.keyPem } },
    { ...secret, certificate: { ...clientCertificate(a), keyPem: a.keyPem.slice(0, 600) } },
    { ...secret, url: (await started(httpsServer(OK, {}, selfSigned))).url },
    { ...secret, url: (await started(httpsServer((request) => request.socket.destroy()))).url },
    { ...secret, url: (await started(alertingServer(48))).url },
    { ...secret, url: (await started(httpsServer(OK))).url, maxAnswerBytes: 1 },
    { ...secret, url: (await started(httpsServer(OK))).url, beforeSend: () => assert.fail(a.keyPem) },
  ];
  for (const request of requests) {
    const failure = await failureOf(request);
    const shown = inspect(failure, { depth: 20, showHidden: true }) + JSON.stringify(failure) + String(failure);
    const keyLine = a.keyPem.split('\n')[5] ?? '';
    for (const forbidden of ['PRIVATE KEY', 'BEGIN CERTIFICATE', keyLine, 'secret-', 'localhost', '127.0.0.1']) {
      assert.ok(!shown.includes(forbidden), `${forbidden} in ${shown}`);
    }
    assert.equal(failure.cause, undefined);
  }
});

/** Answers the client's hello with a fatal alert. */
function alertingServer(alert: number): Promise<TestServer> {
  return tcpServer((socket) => {
    socket.once('data', () => socket.end(Buffer.of(0x15, 0x03, 0x03, 0, 2, 2, alert)));
  });
}

/** A TLS 1.2 ServerHello without extensions, as servers from before RFC 5746 send it; then nothing. */
function serverHelloWithoutRenegotiationInfo(): Promise<TestServer> {
  const body = Buffer.concat([Buffer.of(3, 3), Buffer.alloc(32, 7), Buffer.of(0), Buffer.of(0xc0, 0x2f), Buffer.of(0)]);
  const handshake = Buffer.concat([Buffer.of(2, 0, 0, body.length), body]);
  const record = Buffer.concat([Buffer.of(0x16, 3, 3, 0, handshake.length), handshake]);
  return tcpServer((socket) => {
    socket.once('data', () => socket.end(record));
  });
}

/** `openssl s_server`: unlike Node's servers it sends alerts about client certificates. */
async function opensslServer(...args: string[]) {
  const child = spawn(
    'openssl',
    ['s_server', '-accept', '127.0.0.1:0', '-cert', 'server.crt', '-key', 'server.key', '-tls1_2', ...args],
    {
      cwd: folderOf(),
      stdio: ['pipe', 'pipe', 'pipe'],
    },
  );
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (printed += data));
  const output = async (pattern: RegExp): Promise<RegExpExecArray> => {
    const signal = AbortSignal.timeout(10_000);
    for (;;) {
      const match = pattern.exec(printed);
      if (match) return match;
      await once(child.stdout, 'data', { signal });
    }
  };
  const [, port] = await output(/ACCEPT 127\.0\.0\.1:(\d+)/);
  return {
    url: `https://localhost:${port}/`,
    output,
    type: (text: string) => child.stdin.write(text),
    stop: async () => {
      child.kill();
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}
