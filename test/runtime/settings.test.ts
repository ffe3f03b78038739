import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { governmentAddresses } from '../../src/government/addresses.js';
import { type GovernmentRequest, TransportFailure } from '../../src/government/types.js';
import { ConfigError } from '../../src/platform/config.js';
import { loadSettings, SEPARATE_PROCESS } from '../../src/runtime/settings.js';
import { awayFromGovernment } from '../../src/runtime/simulated-transport.js';
import { scratchFolder } from '../support/scratch.js';

const folder = scratchFolder('settings');
function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

function faultsOf(env: NodeJS.ProcessEnv, needs = SEPARATE_PROCESS): readonly string[] {
  try {
    loadSettings(env, needs);
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.faults;
  }
}

/** Addresses of our own for every service. */
const services = Object.keys(governmentAddresses(null).production);
const own = (environment: string) =>
  Object.fromEntries(services.map((service) => [service, `https://127.0.0.1:4443/${environment}/${service}`]));

describe('settings', () => {
  test('what the parts say of their variables comes together with all other faults', () => {
    const faults = faultsOf({
      DATABASE_URL: 'postgresql://localhost/malote',
      MALOTE_MASTER_KEY: 'c2hvcnQ=',
      MALOTE_ENDPOINTS_FILE: file('bad.json', '{"production":{"nfeDistribution":"http://example.org"}}'),
      MALOTE_GOVERNMENT_CA_FILE: file('bad.pem', 'hello'),
      MALOTE_HTTP_PORT: 'x',
    });
    const found = (pattern: RegExp): boolean => faults.some((fault) => pattern.test(fault));
    assert.ok(found(/^MALOTE_MASTER_KEY cannot be used: The master key has 5 bytes, not 32/));
    assert.ok(found(/^MALOTE_ENDPOINTS_FILE cannot be used: .*production\.nfeDistribution/));
    assert.ok(found(/^MALOTE_GOVERNMENT_CA_FILE cannot be used: .*no certificate/));
    assert.ok(found(/^MALOTE_HTTP_PORT is no port/));
    assert.ok(found(/^MALOTE_OBJECT_STORE is not set/));
    assert.ok(found(/^TEMPORAL_ADDRESS is not set/));
    assert.equal(faults.length, 6);
  });

  test('a time scale is refused while the government itself would be asked, in either environment', () => {
    assert.equal(faultsOf({ MALOTE_TIME_SCALE: '60' }, []).length, 2 * services.length);
    const half = file('half.json', JSON.stringify({ homologation: own('homologation') }));
    const faults = faultsOf({ MALOTE_TIME_SCALE: '60', MALOTE_ENDPOINTS_FILE: half }, []);
    assert.equal(faults.length, services.length);
    assert.match(faults[0] ?? '', /nfeDistribution of production is the government's own/);
    const whole = file('whole.json', JSON.stringify({ production: own('p'), homologation: own('h') }));
    assert.equal(loadSettings({ MALOTE_TIME_SCALE: '60', MALOTE_ENDPOINTS_FILE: whole }).timeScale, 60);
    assert.equal(loadSettings({ MALOTE_TIME_SCALE: '1' }).timeScale, 1);
  });

  test('a simulated system never sends a byte to the government, whatever the addresses say', async () => {
    const asked: string[] = [];
    const transport = awayFromGovernment(async ({ url }) => {
      asked.push(url);
      return { status: 200, contentType: null, headers: {}, body: new Uint8Array() };
    });
    const to = (url: string) => transport({ url } as GovernmentRequest);
    await assert.rejects(to(governmentAddresses(null).production.nfeDistribution), (error: unknown) => {
      assert.ok(error instanceof TransportFailure);
      return error.stage === 'not_sent';
    });
    await to('https://127.0.0.1:4443/production');
    assert.deepEqual(asked, ['https://127.0.0.1:4443/production']);
  });
});
