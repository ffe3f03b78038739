import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { ALERT_CODES } from '../../src/model/words.js';
import { alertEvent, documentEvent, newEventId } from '../../src/webhooks/body.js';
import { EVENT_TYPES } from '../../src/webhooks/events.js';
import { newSecret, signedHeaders } from '../../src/webhooks/signature.js';
import { document } from './support.js';

const guide = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8');
const blocks = (language: string) =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map((match) => match[1] ?? '');

describe('the examples of verifying a signature', () => {
  const folder = mkdtempSync(join(tmpdir(), 'malote-webhook-docs-'));
  after(() => rmSync(folder, { recursive: true }));
  const [secret, other] = [newSecret(), newSecret()];
  const body = JSON.stringify({ texto: 'ação, "aspas" & José' });
  const signed = (secrets: string[], at = Date.now(), text = body) => signedHeaders(newEventId(), at, text, secrets);
  const cases: [string, Record<string, string>, string, boolean][] = [
    ['genuine', signed([secret]), body, true],
    ['of two secrets, ours second', signed([other, secret]), body, true],
    ['signed by somebody else', signed([other]), body, false],
    ['changed', signed([secret]), body.replace('José', 'Jose'), false],
    ['old', signed([secret], Date.now() - 6 * 60_000), body, false],
    ['from the future', signed([secret], Date.now() + 6 * 60_000), body, false],
    ['without headers', {}, body, false],
    ['of another version', { ...signed([secret]), 'webhook-signature': 'v2,AAAA' }, body, false],
    ['with nonsense', { ...signed([secret]), 'webhook-signature': 'v1,', 'webhook-timestamp': 'now' }, body, false],
  ];
  const input = JSON.stringify(cases.map(([, headers, text]) => ({ headers, body: text, secret })));

  const languages = [
    {
      name: 'js',
      program: process.execPath,
      file: 'verify.mjs',
      harness: `
import { readFileSync } from 'node:fs';
const cases = JSON.parse(readFileSync(0, 'utf8'));
console.log(JSON.stringify(cases.map(({ headers, body, secret }) => isFromMalote(headers, Buffer.from(body), secret))));`,
    },
    {
      name: 'python',
      program: 'python3',
      file: 'verify.py',
      harness: `
import json, sys
cases = json.load(sys.stdin)
print(json.dumps([is_from_malote(c["headers"], c["body"].encode(), c["secret"]) for c in cases]))`,
    },
    {
      name: 'php',
      program: 'php',
      file: 'verify.php',
      harness: `
$cases = json_decode(file_get_contents('php://stdin'), true);
echo json_encode(array_map(fn ($c) => is_from_malote($c['headers'], $c['body'], $c['secret']), $cases));`,
    },
  ];
  for (const { name, program, file, harness } of languages) {
    const missing = spawnSync(program, ['--version']).error ? `${program} is not installed here` : false;
    test(`in ${name} accept what is genuine and nothing else`, { skip: missing }, () => {
      const [code] = blocks(name);
      assert.ok(code);
      writeFileSync(join(folder, file), code + harness);
      const { stdout, stderr } = spawnSync(program, [join(folder, file)], { input, encoding: 'utf8' });
      assert.equal(stderr, '');
      const verdicts: unknown = JSON.parse(stdout);
      assert.deepEqual(
        cases.map(([what], i) => [what, (verdicts as boolean[])[i]]),
        cases.map(([what, , , expected]) => [what, expected]),
      );
    });
  }
});

describe('the catalogue', () => {
  const examples = blocks('json').map((text) => JSON.parse(text));

  test('has an example of every type, as Malote would write it', () => {
    assert.deepEqual(new Set(examples.map((example) => example.type)), new Set(EVENT_TYPES));
    for (const example of examples) {
      const { company, data, sequence } = example;
      const at = Date.parse(example.createdAt);
      const event =
        example.type === 'capture_alert'
          ? alertEvent(data, company, at)
          : documentEvent(
              document(company.id, {
                schema: null,
                nsu: null,
                key: null,
                ...data,
                capturedAt: Date.parse(data.capturedAt),
                warnings: [],
              }),
              company,
              at,
            );
      const written = JSON.parse(event.body(sequence));
      assert.deepEqual({ ...written, id: example.id }, example);
      assert.deepEqual(Object.keys(written), Object.keys(example), 'in the same order');
    }
  });

  test('explains every alert', () => {
    for (const code of ALERT_CODES) assert.ok(guide.includes(`\`${code}\``), code);
  });
});
