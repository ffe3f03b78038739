import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createSecureContext } from 'node:tls';
import getPort from 'get-port';
import {
  createAuthority,
  type JournalEntry,
  type Simulator,
  startSimulator,
  type TruthEntry,
} from '../../src/simulator/index.js';
import { TestCompany } from './client.js';

const COMPANY = '98765432000198';
let simulator: Simulator;
let company: TestCompany;

before(async () => {
  simulator = await startSimulator({ authority: createAuthority() });
});
after(() => simulator.stop());

async function call(
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; json: unknown; text: string }> {
  const response = await fetch(simulator.controlUrl + path, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  return { status: response.status, text, json: isJson ? JSON.parse(text) : null };
}

test('a whole session over the control API', async () => {
  const { json: overview } = await call('GET', '/');
  assert.equal((overview as { government: string }).government, simulator.url);
  assert.deepEqual((await call('GET', '/endpoints')).json, simulator.endpoints());
  assert.deepEqual(JSON.parse(simulator.endpointsFile()), simulator.endpoints());
  assert.equal((await call('GET', '/ca.pem')).text, simulator.caPem);

  const { json: a1 } = await call('POST', '/certificates', { taxId: COMPANY, password: 'abc', format: '3des' });
  const { pfx, keyPem, chainPem } = a1 as { pfx: string; keyPem: string; chainPem: string };
  createSecureContext({ pfx: Buffer.from(pfx, 'base64'), passphrase: 'abc' });
  company = new TestCompany(simulator, COMPANY, { keyPem, chainPem });

  const made = await call('POST', '/companies', {
    taxId: '98.765.432/0001-98',
    uf: 'MT',
    backlog: 60,
    kinds: { resNFe: 1 },
    gaps: { every: 10 },
    seed: 'um',
    startNsu: '1000',
  });
  assert.equal(made.status, 201);
  assert.equal((made.json as { maxNsu: string }).maxNsu, '000000000001060');
  assert.equal((await company.page(1000)).items.length, 50);

  const arrived = await call('POST', `/companies/${COMPANY}/arrivals`, {
    count: 4,
    kinds: { procEventoNFe: 1 },
    eventType: '210210',
  });
  assert.equal((arrived.json as { numbered: number }).numbered, 4);
  const xml = '<resNFe xmlns="urn:x"><quebrado></resNFe>';
  await call('POST', `/companies/${COMPANY}/documents`, { documents: [{ schema: 'resNFe_v1.01.xsd', xml }] });
  assert.equal((await call('GET', `/document?taxId=${COMPANY}&nsu=1065`)).text, xml);
  const summary = (await call('GET', `/document?taxId=${COMPANY}&nsu=1001`)).text;
  const key = /<chNFe>([^<]*)/.exec(summary)?.[1];
  await call('POST', `/companies/${COMPANY}/whole`, { keys: [key] });
  const whole = (await call('GET', `/document?taxId=${COMPANY}&nsu=1066`)).text;
  assert.ok(whole.startsWith('<nfeProc') && whole.includes(`<chNFe>${key}</chNFe>`));

  const { json: truth } = await call('GET', `/truth?taxId=${COMPANY}`);
  const entries = truth as TruthEntry[];
  assert.equal(entries.length, 66);
  assert.deepEqual(
    entries.filter(({ reach }) => reach === 'point').map(({ nsu }) => nsu.slice(-4)),
    ['1010', '1020', '1030', '1040', '1050', '1060'],
  );
  assert.equal(entries[0]?.sha256, createHash('sha256').update(summary).digest('hex'));
  const { json: page } = await call('GET', `/truth?taxId=${COMPANY}&after=1010&limit=2`);
  assert.deepEqual(page, entries.slice(10, 12));

  await call('POST', `/companies/${COMPANY}/steal`, { count: 5 });
  const { json: state } = await call('GET', `/companies/${COMPANY}`);
  assert.equal((state as { state: { pointer: string } }).state.pointer, '000000000001060');
  assert.equal(((await call('GET', '/companies')).json as unknown[]).length, 1);

  const { json: script } = await call('POST', '/scripts', {
    taxId: COMPANY,
    count: 3,
    answer: { type: 'status', cStat: '109' },
  });
  assert.equal((await company.page(1060)).cStat, '109');
  assert.equal(((await call('GET', '/scripts')).json as { remaining: number }[])[0]?.remaining, 2);
  await call('DELETE', `/scripts/${(script as { id: number }).id}`);
  assert.deepEqual((await call('GET', '/scripts')).json, []);

  await call('PUT', '/outage', { mode: '108' });
  assert.equal((await company.page(1060)).cStat, '108');
  await call('PUT', '/outage', { mode: null });

  await call('PUT', '/policy', { pointQueriesCounted: 'all' });
  assert.equal(((await call('GET', '/policy')).json as { pointQueriesCounted: string }).pointQueriesCounted, 'all');

  await company.page(1);
  const { json: violations } = await call('GET', `/violations?taxId=${COMPANY}`);
  assert.deepEqual(
    (violations as JournalEntry[]).map(({ rule, asked, cStat }) => [rule, asked, cStat]),
    [['wrong_ultnsu', '000000000000001', '656']],
  );
  const { json: journal } = await call('GET', '/journal?after=1&limit=2');
  assert.deepEqual(
    (journal as JournalEntry[]).map(({ sequence, cStat }) => [sequence, cStat]),
    [
      [2, '109'],
      [3, '108'],
    ],
  );

  assert.equal((await call('DELETE', `/companies/${COMPANY}`)).status, 204);
  assert.equal((await call('GET', `/companies/${COMPANY}`)).status, 404);
  await call('POST', '/reset');
  assert.deepEqual((await call('GET', '/journal')).json, []);
});

test('the clock is pushed, stands, advances, and never goes back', async () => {
  const clock = async (body: unknown) => (await call('PUT', '/clock', body)).json as { now: string; stopped: boolean };
  assert.deepEqual(await clock({ now: '2030-01-01T00:00:00-03:00', stopped: true }), {
    now: '2030-01-01T03:00:00.000Z',
    stopped: true,
  });
  assert.equal((await clock({ now: Date.parse('2029-01-01T00:00:00Z') })).now, '2030-01-01T03:00:00.000Z');
  assert.deepEqual(await clock({ advanceMs: 3_600_000 }), { now: '2030-01-01T04:00:00.000Z', stopped: true });
  const running = await clock({ advanceMs: 0, stopped: false });
  assert.equal(running.stopped, false);
  const { json } = await call('GET', '/clock');
  assert.ok(Date.parse((json as { now: string }).now) >= Date.parse(running.now));
});

test('faulty requests say what is wrong and where', async () => {
  const cases: [string, string, unknown, number, RegExp][] = [
    ['POST', '/companies', { taxId: '98765432000199' }, 422, /taxId.*check digits/],
    ['POST', '/companies', { taxId: COMPANY, backlog: -1 }, 422, /backlog/],
    ['POST', '/companies', { taxId: COMPANY, kinds: { procNFe: 0 } }, 422, /kinds.*weight/],
    ['POST', '/companies', { taxId: COMPANY, startNsu: '12a' }, 422, /startNsu.*1 to 15 digits/],
    ['POST', '/scripts', { answer: { type: 'explode' } }, 422, /answer.type/],
    ['POST', '/scripts', { answer: { type: 'corrupt', how: 'melt' } }, 422, /answer.how/],
    ['PUT', '/outage', { mode: 'maybe' }, 422, /mode/],
    ['PUT', '/clock', {}, 422, /either now or advanceMs/],
    ['GET', '/truth?taxId=11144477735', undefined, 404, /7735 in homologation: add it/],
    ['POST', '/companies/11144477735/arrivals', { count: 1 }, 404, /add it/],
    ['GET', '/nowhere', undefined, 404, /GET \/ lists/],
    ['POST', '/certificates', { taxId: '1' }, 422, /taxId.*14 characters/],
  ];
  for (const [method, path, body, status, text] of cases) {
    const answer = await call(method, path, body);
    assert.equal(answer.status, status, `${method} ${path}`);
    assert.match(answer.text, text);
  }
});

test('one that cannot listen at its control port lets go of the government’s', async () => {
  const port = await getPort();
  const controlPort = Number(new URL(simulator.controlUrl).port);
  await assert.rejects(startSimulator({ port, controlPort }), { code: 'EADDRINUSE' });
  await (await startSimulator({ port })).stop();
});
