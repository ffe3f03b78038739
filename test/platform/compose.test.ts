import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { buildProgram } from '../../src/cli/program.js';
import { variables } from '../../src/platform/config-variables.js';

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const compose = read('docker-compose.yml');
const dockerfile = read('Dockerfile');

/** Temporal's own, of its environment configuration; and the AWS SDK's. */
const OTHERS = /^(TEMPORAL_(ADDRESS|NAMESPACE|API_KEY|TLS_\w+)|AWS_(ACCESS_KEY_ID|SECRET_ACCESS_KEY|REGION))$/;

/** A service's lines. */
const service = (name: string) => new RegExp(`^  ${name}:\\n((?:    .*\\n|\\n)+)`, 'm').exec(compose)?.[1] ?? '';

describe('docker-compose.yml', () => {
  test('sets variables that there are', () => {
    const ours = `${/x-malote:[\s\S]*?\n\n/.exec(compose)?.[0]}${service('api')}${service('worker')}`;
    const set = [...ours.matchAll(/^\s+([A-Z][A-Z0-9_]+):/gm)].map(([, name]) => name ?? '');
    assert.ok(set.length > 6);
    assert.deepEqual(
      set.filter((name) => !(name in variables.shape) && !OTHERS.test(name)),
      [],
    );
  });

  test('starts commands that there are, after the migration, with a health check and time to stop', () => {
    const commands = new Set(buildProgram().commands.map((command) => command.name()));
    for (const name of ['api', 'worker', 'migrate']) {
      const command = /^ {4}command: (\w+)$/m.exec(service(name))?.[1];
      assert.equal(command, name);
      assert.ok(commands.has(name));
    }
    for (const name of ['api', 'worker']) {
      assert.match(service(name), /healthcheck:/, name);
      assert.match(service(name), /stop_grace_period:/, name);
    }
    assert.match(service('api'), /migrate: \{ condition: service_completed_successfully \}/);
    assert.match(service('worker'), /depends_on: \*ready/);
  });

  test('pins every image', () => {
    const images = [...compose.matchAll(/image: (\S+)/g)].map(([, image]) => image ?? '');
    assert.ok(images.length >= 5);
    for (const image of images) assert.match(image, /:(\d+(\.\d+)*|RELEASE\.[\dTZ-]+)$/);
  });
});

describe('Dockerfile', () => {
  test('copies what is there, and does not run as root', () => {
    for (const [, from] of dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)) {
      for (const path of from?.split(' ') ?? []) {
        assert.ok(existsSync(new URL(`../../${path}`, import.meta.url)), path);
      }
    }
    const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM'));
    assert.match(last, /^USER node$/m);
    assert.match(last, /^ENTRYPOINT \["tini", "--", "node"/m);
  });
});
