import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ConfigError, describeConfig, loadConfig, type Need } from '../../src/platform/config.js';
import { scratchFolder } from '../support/scratch.js';

const folder = scratchFolder('config');
const KEY = Buffer.from('0123456789abcdef0123456789ABCDEF').toString('base64');

function faultsOf(env: NodeJS.ProcessEnv, needs: readonly Need[] = []): readonly string[] {
  try {
    loadConfig(env, needs);
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    assert.equal(error.exitCode, 2);
    return error.faults;
  }
}

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

describe('configuration', () => {
  test('without any variable everything has its default', () => {
    const config = loadConfig({});
    assert.deepEqual(
      { ...config, temporal: { ...config.temporal, connectionOptions: undefined } },
      {
        databaseUrl: null,
        objectStore: null,
        dataFolder: '.malote',
        masterKey: null,
        apiKey: null,
        http: { host: null, port: 3000 },
        publicUrl: null,
        workerPort: null,
        temporalMetricsPort: null,
        apiUrl: null,
        endpointsFile: null,
        governmentCaFile: null,
        rates: { nfe: 30, cte: 30, nfse: 20 },
        timeScale: null,
        allowPrivateWebhooks: false,
        mail: null,
        logLevel: 'info',
        temporal: { address: null, namespace: 'default', connectionOptions: undefined },
      },
    );
  });

  test('every fault is told at once, each with its variable and what is expected', () => {
    const faults = faultsOf(
      {
        DATABASE_URL: 'mysql://localhost/x',
        MALOTE_OBJECT_STORE: 'ftp://host/x',
        MALOTE_HTTP_PORT: '99999',
        MALOTE_RATE_NFE: '-1',
        MALOTE_TIME_SCALE: '0.5',
        MALOTE_ALLOW_PRIVATE_WEBHOOKS: 'yes',
        LOG_LEVEL: 'loud',
        MALOTE_MASTERKEY: KEY,
      },
      ['TEMPORAL_ADDRESS'],
    );
    const start = (fault: string): string => fault.split(' ').slice(0, 2).join(' ');
    assert.deepEqual(faults.map(start).sort(), [
      'DATABASE_URL is',
      'LOG_LEVEL must',
      'MALOTE_ALLOW_PRIVATE_WEBHOOKS must',
      'MALOTE_HTTP_PORT is',
      'MALOTE_MASTERKEY is',
      'MALOTE_OBJECT_STORE is',
      'MALOTE_RATE_NFE must',
      'MALOTE_TIME_SCALE must',
      'TEMPORAL_ADDRESS is',
    ]);
  });

  test('a misspelt variable is named with the nearest one, a strange one without', () => {
    assert.deepEqual(faultsOf({ MALOTE_MASTERKEY: KEY }), [
      'MALOTE_MASTERKEY is unknown: did you mean MALOTE_MASTER_KEY?',
    ]);
    assert.deepEqual(faultsOf({ MALOTE_COFFEE: '1' }), [
      'MALOTE_COFFEE is unknown (docs/operating.md lists all variables)',
    ]);
    assert.deepEqual(faultsOf({ MALOTE_TEST_POSTGRES_URL: 'x' }), [], 'the tests have variables of their own');
  });

  test('an empty variable counts as absent, as compose files pass them', () => {
    assert.equal(loadConfig({ MALOTE_HTTP_PORT: '', DATABASE_URL: ' ' }).http.port, 3000);
    assert.equal(faultsOf({ MALOTE_MASTER_KEY: '' }, ['MALOTE_MASTER_KEY']).length, 1);
  });

  test('mails need server, sender and recipients, all or none', () => {
    const mail = {
      MALOTE_SMTP_URL: 'smtp://malote:geheim@mail.example:587',
      MALOTE_ALERT_EMAIL_FROM: 'malote@firm.example',
      MALOTE_ALERT_EMAIL_TO: 'a@firm.example, b@firm.example',
    };
    assert.deepEqual(loadConfig(mail).mail, {
      url: mail.MALOTE_SMTP_URL,
      from: 'malote@firm.example',
      to: ['a@firm.example', 'b@firm.example'],
    });
    assert.deepEqual(faultsOf({ ...mail, MALOTE_ALERT_EMAIL_FROM: '' }), [
      'MALOTE_ALERT_EMAIL_FROM is not set: mails about alerts need MALOTE_SMTP_URL, MALOTE_ALERT_EMAIL_FROM, MALOTE_ALERT_EMAIL_TO',
    ]);
    assert.deepEqual(
      faultsOf({
        MALOTE_SMTP_URL: 'https://mail.example',
        MALOTE_ALERT_EMAIL_FROM: 'x',
        MALOTE_ALERT_EMAIL_TO: 'a@firm.example,',
      }).map((fault) => fault.split(' ').slice(0, 3).join(' ')),
      ['MALOTE_SMTP_URL is no', 'MALOTE_ALERT_EMAIL_FROM is no', 'MALOTE_ALERT_EMAIL_TO must be'],
    );
    const shown = JSON.stringify(describeConfig(loadConfig(mail)).mail);
    assert.equal(shown, '{"url":"smtp://malote:***@mail.example:587","from":"malote@firm.example","to":2}');
  });

  test('no fault repeats a secret', () => {
    const text = faultsOf({
      MALOTE_TIME_SCALE: '0',
      MALOTE_API_KEY: 'never-show-this',
      DATABASE_URL: 'http://user:never-show-this@host/x',
    }).join('\n');
    assert.equal(text.split('\n').length, 3);
    assert.doesNotMatch(text, /never-show/);
  });

  test('files are read, and what the parts say of their content is told with the rest', () => {
    const path = file('endpoints.json', '{}');
    assert.equal(loadConfig({ MALOTE_ENDPOINTS_FILE: path }).endpointsFile, '{}');
    const absent = join(folder, 'absent');
    assert.deepEqual(faultsOf({ MALOTE_ENDPOINTS_FILE: absent }), [
      `MALOTE_ENDPOINTS_FILE names ${absent}, which cannot be read (ENOENT)`,
    ]);
  });

  test("Temporal's own variables are read as its tools read them, its files only when named", () => {
    const config = loadConfig({
      TEMPORAL_ADDRESS: 'temporal.example:7233',
      TEMPORAL_NAMESPACE: 'fiscal',
      TEMPORAL_API_KEY: 'secret-key',
    });
    assert.equal(config.temporal.address, 'temporal.example:7233');
    assert.equal(config.temporal.namespace, 'fiscal');
    assert.equal(config.temporal.connectionOptions.tls, true, 'an API key means TLS');
    const profile = file('temporal.toml', '[profile.default]\naddress = "from-file:7233"\n');
    assert.equal(loadConfig({ TEMPORAL_CONFIG_FILE: profile }).temporal.address, 'from-file:7233');
    assert.match(faultsOf({ TEMPORAL_TLS_CLIENT_CERT_PATH: '/nowhere/x.pem' })[0] ?? '', /^TEMPORAL_\*: .*nowhere/);
  });

  test('what is shown of it hides every secret', () => {
    const shown = JSON.stringify(
      describeConfig(
        loadConfig({
          DATABASE_URL: 'postgresql://malote:hidden-one@host/db?password=hidden-two',
          MALOTE_MASTER_KEY: KEY,
          MALOTE_API_KEY: `mlt_hidden-three${'x'.repeat(32)}`,
          TEMPORAL_ADDRESS: 'x:1',
          TEMPORAL_API_KEY: 'hidden-four',
        }),
      ),
    );
    assert.doesNotMatch(shown, /hidden-|MDEyMzQ1/);
    assert.match(shown, /malote:\*\*\*@host/);
  });
});
