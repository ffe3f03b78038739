import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { ApplicationFailure } from '@temporalio/common';
import { ConfigError, loadConfig } from '../../src/platform/config.js';
import { describeError } from '../../src/platform/errors.js';
import { createLogger, type Logger } from '../../src/platform/log.js';
import { scrub } from '../../src/platform/scrub.js';
import { sharedFile } from '../support/shared.js';

/** What a logger wrote, as text and parsed: every line must still be JSON. */
function linesOf(work: (logger: Logger) => void): { text: string; lines: Record<string, unknown>[] } {
  let text = '';
  work(createLogger({ level: 'trace', role: 'test', destination: { write: (line) => (text += line) } }));
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { text, lines };
}

/** An error such as a library throws: its words and its fields are not ours. */
function foreignError(): Error {
  const error = new Error('request to https://host/?cnpj=12345678000195 with passphrase segredo failed');
  return Object.assign(error, {
    code: 'ERR_LIBRARY',
    config: { httpsAgent: { options: { passphrase: 'segredo', pfx: 'MIIKsegredo' } } },
  });
}

function ourError(): ConfigError {
  try {
    loadConfig({ LOG_LEVEL: 'loud' });
  } catch (error) {
    if (error instanceof ConfigError) return error;
  }
  throw new Error('expected a fault');
}

describe('errors in a log line', () => {
  test('of others: name, code and frames, never their words or fields, however they are passed', () => {
    const { text, lines } = linesOf((logger) => {
      logger.error(foreignError());
      logger.error({ err: foreignError() });
      logger.error({ err: foreignError() }, 'call failed');
      logger.error({ error: foreignError(), detail: { cause: foreignError() } }, 'call failed');
      logger.error('call failed: %s', foreignError());
      logger.child({ err: foreignError() }).info('x');
      logger.error({ err: new Error('outer segredo', { cause: foreignError() }) }, 'x');
    });
    assert.doesNotMatch(text, /segredo|12345678000195|MIIK/);
    assert.equal(lines.length, 7);
    const first = lines[0]?.err as { name: string; code: string; stack: string };
    assert.equal(first.code, 'ERR_LIBRARY');
    assert.match(first.stack, /^ +at foreignError/);
    assert.equal(lines[0]?.msg, 'Error (ERR_LIBRARY)');
    const last = lines[6]?.err as { cause?: { code?: string } } | undefined;
    assert.equal(last?.cause?.code, 'ERR_LIBRARY');
  });

  test('of ours: the message as well', () => {
    const { lines } = linesOf((logger) => logger.error(ourError()));
    assert.match(JSON.stringify(lines[0]?.err), /"message":".*LOG_LEVEL must be/);
    assert.match(String(lines[0]?.msg), /LOG_LEVEL must be/);
  });

  test("a message that imitates a frame of our code does not make a library's error ours", () => {
    const place = new URL('../../src/platform/config.ts', import.meta.url).href;
    const forged = new Error(`segredo\n    at loadConfig (${place}:1:1)`);
    assert.equal(describeError(forged), 'Error');
  });

  test('engine errors quote their input, so their words stay out although our code made them fail', () => {
    for (const fail of [() => JSON.parse('<segredo>'), () => BigInt('segredo'), () => new URL('segredo')]) {
      const { text } = linesOf((logger) => {
        try {
          fail();
        } catch (error) {
          logger.error(error);
        }
      });
      assert.doesNotMatch(text, /segredo/);
    }
  });

  test('thrown things that are no errors are only named', () => {
    assert.equal(describeError('segredo'), 'thrown string');
    assert.equal(describeError(null), 'thrown null');
    assert.equal(describeError(ApplicationFailure.nonRetryable('not made by our code', 'type')), 'ApplicationFailure');
  });
});

describe('fields in a log line', () => {
  test('nested objects are cut where secrets hide; flat ones stay readable', () => {
    const { text, lines } = linesOf((logger) => {
      logger.info({ a: { b: { c: { password: 'segredo', anything: 'segredo' } } } }, 'deep');
      logger.info({ pfxPassword: 'segredo', senha: 'segredo', headers: { authorization: 'segredo' } }, 'named');
      logger.info(
        { bytes: Buffer.from('segredo'), map: new Map([['k', 'segredo']]), list: [{ token: 'segredo' }] },
        'kinds',
      );
      logger
        .child({ certificate: { privateKey: 'segredo' } })
        .child({ passphrase: 'segredo' })
        .info('children');
      logger.info('formatted %j %s', { password: 'segredo' }, 'shown');
      logger.info({ capture: { companyId: 'c1', documentType: 'nfe' }, pages: 3, at: new Date(0) }, 'flat');
    });
    assert.doesNotMatch(text, /segredo/);
    assert.match(text, /formatted .* shown/);
    const { capture, pages, at } = lines[5] ?? {};
    assert.deepEqual(
      { capture, pages, at },
      {
        capture: { companyId: 'c1', documentType: 'nfe' },
        pages: 3,
        at: '1970-01-01T00:00:00.000Z',
      },
    );
  });

  test('requests: method and path, no query, no headers', () => {
    const { text, lines } = linesOf((logger) => {
      const req = {
        id: 'r1',
        method: 'GET',
        url: '/v1/documents?q=segredo',
        headers: { authorization: 'Bearer segredo' },
      };
      logger.info({ req, res: { statusCode: 200, headers: { cookie: 'segredo' } } }, 'done');
    });
    assert.doesNotMatch(text, /segredo/);
    assert.deepEqual(lines[0]?.req, { id: 'r1', method: 'GET', path: '/v1/documents' });
    assert.deepEqual(lines[0]?.res, { statusCode: 200 });
  });

  test('case C96: its object leaves no secret and no tax ID in the line', (t) => {
    const path = sharedFile('cases/96-pino-nested-secrets.json');
    if (path === null) return t.skip('../shared is not there');
    const input = JSON.parse(readFileSync(path, 'utf8')) as object;
    const { text } = linesOf((logger) => logger.info(input, 'case'));
    assert.doesNotMatch(text, /segredo|Bearer x|MIIK|98765432000198/);
    assert.match(text, /…0198/);
  });
});

describe('scrubbing of a finished line', () => {
  const cases: [what: string, text: string, expected: string][] = [
    ['CNPJ', 'of 12345678000195.', 'of …0195.'],
    ['CNPJ with letters', 'of 12ABC34501DE35', 'of …DE35'],
    ['CNPJ with punctuation', '12.345.678/0001-95', '…0195'],
    ['CPF', 'cpf=12345678909&x', 'cpf=…8909&x'],
    ['CPF with punctuation', '123.456.789-09', '…8909'],
    ['after an escaped line end', String.raw`"a\n12345678909"`, String.raw`"a\n…8909"`],
    ['access key', '35261112345678000195550010000012341000012345', '…2345'],
    ['access key with letters', '35261112ABC34501DE35550010000012341000012345', '…2345'],
    ['API key', 'key mlt_abcDEF-123_x', 'key mlt_[secret]'],
    ['webhook secret', 'whsec_AbC+/=', 'whsec_[secret]'],
    ['authorization', 'Authorization: Bearer abc.def', 'Authorization: Bearer [secret]'],
    ['URL with password', 'postgres://u:p%40ss@host/db', 'postgres://u:[secret]@host/db'],
    ['PEM', 'x -----BEGIN PRIVATE KEY-----\\nMIIK\\n-----END PRIVATE KEY----- y', 'x [PEM] y'],
    ['a long base64 text', `x ${'QUJD'.repeat(40)} y`, 'x [base64] y'],
    ['stays: NSU', '000000000012345', '000000000012345'],
    ['stays: uuid', '0193a1b2-1234-7abc-8def-123456789012', '0193a1b2-1234-7abc-8def-123456789012'],
    ['stays: milliseconds', '1796073613352', '1796073613352'],
    ['stays: time', '2026-11-30T21:26:15.980Z', '2026-11-30T21:26:15.980Z'],
  ];
  for (const [what, text, expected] of cases) {
    test(what, () => assert.equal(scrub(text), expected));
  }

  test('XML goes up to the end of its string, quotes included, and the line stays JSON', () => {
    const line = JSON.stringify({
      a: '<?xml version="1.0", x="2"?><nfeProc a="b",>secret</nfeProc>',
      b: 'cut -----BEGIN X-----abc',
      c: 1,
    });
    assert.deepEqual(JSON.parse(scrub(line)), { a: '[XML]', b: 'cut [PEM]', c: 1 });
  });
});
