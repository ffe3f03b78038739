import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ConfigError } from '../../src/platform/config.js';
import { loadSettings, SEPARATE_PROCESS } from '../../src/runtime/settings.js';
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

const elsewhereOf = (environment: string) =>
  Object.fromEntries(
    ['nfeDistribution', 'nfeEvent', 'nfeEventSvrs'].map((name) => [
      name,
      `https://127.0.0.1:4443/${environment}/${name}`,
    ]),
  );
const elsewhere = JSON.stringify({
  production: elsewhereOf('production'),
  homologation: elsewhereOf('homologation'),
});

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
    assert.equal(faultsOf({ MALOTE_TIME_SCALE: '60' }, []).length, 6);
    const half = file('half.json', JSON.stringify({ homologation: JSON.parse(elsewhere).homologation }));
    const faults = faultsOf({ MALOTE_TIME_SCALE: '60', MALOTE_ENDPOINTS_FILE: half }, []);
    assert.equal(faults.length, 3);
    assert.match(faults[0] ?? '', /nfeDistribution of production is the government's own/);
    const all = { MALOTE_TIME_SCALE: '60', MALOTE_ENDPOINTS_FILE: file('all.json', elsewhere) };
    assert.equal(loadSettings(all).timeScale, 60);
    assert.equal(loadSettings({ MALOTE_TIME_SCALE: '1' }).timeScale, 1);
  });
});
