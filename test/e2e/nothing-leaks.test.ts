import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Writable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { governmentAddresses } from '../../src/government/addresses.js';
import { createLogger } from '../../src/platform/log.js';
import { type RunningWorker, startWorker } from '../../src/runtime/worker.js';
import { testDatabase } from '../support/database.js';
import { devServer, type TestTemporal } from '../support/temporal.js';
import { until } from '../support/until.js';
import { System } from './system.js';

const TAX_IDS = ['11222333000181', 'A1B2C3D4000193', '52998224725'];

describe('what can be read in Temporal and in the logs after a run full of trouble', () => {
  let temporal: TestTemporal;
  let system: System;
  let worker: RunningWorker;
  const lines: string[] = [];
  before(async () => {
    // What Temporal's SDK logs goes to the standard error here.
    const write = process.stderr.write.bind(process.stderr);
    process.stderr.write = ((text: string, ...more: []) => {
      lines.push(String(text));
      return write(text, ...more);
    }) as typeof process.stderr.write;
    temporal = await devServer();
    const { url } = await testDatabase();
    const masterKey = randomBytes(32).toString('base64');
    system = await System.start({
      temporal,
      timeScale: 600,
      simulator: { policy: { tolerateRepeat: true } },
      database: { url, masterKey },
    });
    worker = await startWorker({
      addresses: governmentAddresses(system.simulator.endpointsFile()),
      timeScale: 600,
      database: url,
      objectStore: system.objectStoreUrl,
      masterKey,
      governmentCaFile: system.simulator.caPem,
      rates: { nfe: 1000, cte: 1000, nfse: 1000 },
      allowPrivateWebhooks: true,
      temporal: { namespace: temporal.namespace, connectionOptions: { address: temporal.address } },
      logger: createLogger({
        level: 'trace',
        role: 'worker',
        destination: new Writable({
          write: (chunk, _encoding, done) => {
            lines.push(String(chunk));
            done();
          },
        }),
      }),
      port: null,
    });
  });
  after(async () => {
    await worker?.stop();
    await system?.stop();
  });

  test('no full tax ID, key, password, secret or XML', async () => {
    await system.addEndpoint();
    system.receiver.status = 500;
    // A page first: with more pending, the lost answer after it is asked for again soon.
    const trouble = [
      { type: 'page', size: 10 },
      { type: 'reset' },
      { type: 'soap_fault' },
      { type: 'html' },
      { type: 'corrupt', how: 'truncated_xml' },
      { type: 'corrupt', how: 'doctype' },
      { type: 'status', cStat: '593' },
      { type: 'misuse', pointer: 3 },
    ] as const;
    for (const taxId of TAX_IDS) {
      system.simulator.companies.add({ taxId, backlog: 120 });
      for (const answer of trouble) system.simulator.script(answer, { taxId, count: 1 });
      const autoAwareness = { enabled: true, minutesToWait: 5 };
      await system.startCapture(await system.addCompany(taxId), { autoAwareness });
    }
    const settled = async () =>
      Number(
        (await system.database.query<{ n: string }>('select count(*) as n from calls where settled_at is not null'))
          .rows[0]?.n,
      );
    await until(async () => (await settled()) >= TAX_IDS.length * (trouble.length + 1), 'all trouble met', 120_000);
    const said = async () =>
      (await system.database.query("select from manifestations where status = 'registered'")).rowCount > 0;
    await until(said, 'Awareness was registered');
    // A failure of our own, with a value of the row in PostgreSQL's message.
    await system.database.query("alter table events add constraint broken check (body = '') not valid");
    system.simulator.companies.arrive({ taxId: TAX_IDS[0] ?? '', count: 5 });
    const broken = async () =>
      (await system.database.query("select from failed_items where failure = 'internal'")).rowCount > 0;
    await until(broken, 'a page that PostgreSQL refuses');

    const histories = await everythingIn(temporal);
    assert.ok(histories.length > 10_000, 'there is something to read');
    assert.ok(lines.length > 20, 'there are log lines');
    const { rows } = await system.database.query<{ chain: string; subject: string }>(
      'select chain, subject from certificates',
    );
    const { rows: notes } = await system.database.query<{ key: string }>('select distinct key from manifestations');
    const forbidden = [
      ...TAX_IDS,
      ...notes.map(({ key }) => key),
      'segredo-de-teste',
      system.receiver.secret,
      'PRIVATE KEY',
      'BEGIN CERTIFICATE',
      '<nfeProc',
      '<resNFe',
      '<retDistDFeInt',
      'xmlns',
      'H4sIA',
      ...rows.map(({ chain }) => chain.slice(60, 120)),
    ];
    for (const [where, text] of [
      ['Temporal', histories],
      ['the logs', lines.join('')],
    ] as const) {
      for (const secret of forbidden) assert.ok(!text.includes(secret), `"${secret.slice(0, 12)}…" stands in ${where}`);
      // Any run that looks like an access key or a CNPJ of the documents themselves.
      assert.deepEqual(
        text.match(/(?<![0-9A-Fa-f-])[0-9]{6}[0-9A-Z]{12}[0-9]{26}(?![0-9])/g),
        null,
        `an access key stands in ${where}`,
      );
    }
  });
});

/** Every history of the namespace, payloads decoded. */
async function everythingIn({ client }: TestTemporal): Promise<string> {
  const texts: string[] = [];
  for await (const { workflowId, runId } of client.workflow.list()) {
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    texts.push(
      workflowId,
      JSON.stringify(events, (_key, value) => (value instanceof Uint8Array ? Buffer.from(value).toString() : value)),
    );
  }
  return texts.join('\n');
}
