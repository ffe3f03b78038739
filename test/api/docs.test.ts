import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { PASSWORD, pfxFor, testApi } from './support.js';

/** The requests of docs/api.md, one after the other, as a reader would send them. */
const guide = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8');
const requests = [...guide.matchAll(/```http\n(GET|POST|PUT|DELETE) (\S+)\n([\s\S]*?)```/g)].map(
  ([, method, path, body]) => ({
    method: method as 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: path ?? '',
    body: body ?? '',
  }),
);

test('the examples of docs/api.md do what they say', async () => {
  const api = await testApi({ allowPrivateWebhooks: false });
  const known: Record<string, string> = { pfx: pfxFor('98765432000198').toString('base64'), password: PASSWORD };
  const filled = (text: string) => text.replaceAll(/\{(\w+)\}/g, (_, name: string) => known[name] ?? `{${name}}`);
  assert.ok(requests.length >= 10, `${requests.length} examples`);
  for (const { method, path, body } of requests) {
    const answer = await api.ask(method, encodeURI(filled(path)), {
      ...(body === '' ? {} : { body: JSON.parse(filled(body)) }),
    });
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
    if (path === '/v1/companies') known.companyId = answer.json.id;
  }
});
