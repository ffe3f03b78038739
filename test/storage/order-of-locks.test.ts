import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CaptureKey, DocumentType } from '../../src/model/words.js';
import { disableCapture, enableCapture } from '../../src/storage/capture-orders.js';
import { commitState, lockCapture } from '../../src/storage/captures.js';
import type { CertificateRow } from '../../src/storage/certificates.js';
import { storeCertificate } from '../../src/storage/certificates.js';
import type { Transaction } from '../../src/storage/database.js';
import { DatabaseError, isTransientDatabaseError } from '../../src/storage/database-error.js';
import { insertEvents } from '../../src/storage/events.js';
import { alertEvent } from '../../src/webhooks/body.js';
import { until } from '../support/until.js';
import { newCompany, openDatabase } from './support.js';

const { db } = await openDatabase({ max: 8 });
const NOW = Date.UTC(2026, 10, 30, 12);

describe('order of locks', () => {
  test('starts, stops, certificates and pages of one company never wait in a circle', async () => {
    const company = await newCompany(db);
    let runs = 0;
    const counted =
      <T>(work: (tx: Transaction) => Promise<T>) =>
      (tx: Transaction) => {
        runs += 1;
        return work(tx);
      };
    const captureOf = (documentType: DocumentType): CaptureKey => ({
      companyId: company.id,
      documentType,
      environment: 'homologation',
    });
    const start = (capture: CaptureKey) =>
      db.transaction(counted((tx) => enableCapture(tx, { capture, options: (current) => current, now: NOW })));
    /** The locks of a page's transaction: the capture first, the company's numbers last. */
    const page = (capture: CaptureKey) =>
      db.transaction(
        counted(async (tx) => {
          const row = await lockCapture(tx, capture);
          assert.ok(row);
          await commitState(tx, capture, row.state, { now: NOW });
          const event = alertEvent({ code: 'capture_stalled', detail: 'made up' }, company, NOW);
          await insertEvents(tx, { companyId: company.id, at: NOW, events: [event] });
        }),
      );
    const certificate = (round: number) =>
      db.transaction(counted((tx) => storeCertificate(tx, certificateOf(company.id, round))));
    const stop = (capture: CaptureKey) => db.transaction(counted((tx) => disableCapture(tx, capture, NOW)));

    const captures = (['nfe', 'cte'] as const).map(captureOf);
    for (const capture of captures) assert.ok((await start(capture)).ok);
    const before = runs;
    const work: Promise<unknown>[] = [];
    for (let round = 0; round < 60; round += 1) {
      for (const capture of captures) work.push(page(capture), start(capture), page(capture), stop(capture));
      work.push(certificate(round));
    }
    await Promise.all(work);
    assert.equal(runs - before, work.length, 'no transaction had to be begun again');
  });

  test('two first starts in different environments: one wins, the other is told', async () => {
    for (let round = 0; round < 20; round += 1) {
      const { id } = await newCompany(db);
      const answers = await Promise.all(
        (['homologation', 'production'] as const).map((environment) =>
          db.transaction((tx) =>
            enableCapture(tx, {
              capture: { companyId: id, documentType: 'nfe', environment },
              options: () => ({}),
              now: NOW,
            }),
          ),
        ),
      );
      assert.deepEqual(answers.map(({ ok }) => ok).sort(), [false, true]);
      assert.ok(answers.some((answer) => !answer.ok && answer.problem === 'environment_in_use'));
    }
  });
});

describe('transactions that cross', () => {
  test('a deadlock is begun again, and both are done', async () => {
    await db.query("insert into settings values ('a', '0'), ('b', '0')");
    let runs = 0;
    let holding = 0;
    const both = (first: string, second: string) =>
      db.transaction(async (tx) => {
        runs += 1;
        await tx.query('update settings set value = to_jsonb(value::int + 1) where name = $1', [first]);
        holding += 1;
        await until(() => holding >= 2, 'each holds one');
        await tx.query('update settings set value = to_jsonb(value::int + 1) where name = $1', [second]);
      });
    await Promise.all([both('a', 'b'), both('b', 'a')]);
    assert.equal(runs, 3);
    const { rows } = await db.query("select value from settings where name in ('a', 'b')");
    assert.deepEqual(rows, [{ value: 2 }, { value: 2 }]);
  });

  test('what crosses again and again is given up, as transient; other errors are not tried again', async () => {
    const runsOf = async (code: string) => {
      let runs = 0;
      const failing = db.transaction((tx) => {
        runs += 1;
        return tx.query(`do $$ begin raise exception using errcode = '${code}'; end $$`);
      });
      await assert.rejects(failing, (error) => error instanceof DatabaseError && error.code === code);
      return { runs, error: await failing.catch((error: unknown) => error) };
    };
    for (const code of ['40001', '40P01']) {
      const { runs, error } = await runsOf(code);
      assert.equal(runs, 4);
      assert.ok(isTransientDatabaseError(error));
    }
    for (const code of ['23505', '57014', '55P03']) assert.equal((await runsOf(code)).runs, 1);
  });

  test('serializable transactions that cannot be ordered are begun again', async () => {
    await db.query("insert into settings values ('x', '1'), ('y', '2')");
    let reading = 0;
    const copy = (from: string, to: string) =>
      db.transaction(
        async (tx) => {
          const { rows } = await tx.query<{ value: number }>('select value from settings where name = $1', [from]);
          reading += 1;
          await until(() => reading >= 2, 'both have read');
          await tx.query('update settings set value = $2 where name = $1', [to, JSON.stringify(rows[0]?.value)]);
        },
        { isolation: 'serializable' },
      );
    await Promise.all([copy('x', 'y'), copy('y', 'x')]);
    const { rows } = await db.query<{ value: number }>("select value from settings where name in ('x', 'y')");
    assert.equal(rows[0]?.value, rows[1]?.value, 'as if one had come after the other');
  });
});

function certificateOf(companyId: string, round: number): CertificateRow {
  return {
    id: crypto.randomUUID(),
    companyId,
    root: '12345678',
    taxId: '12345678000195',
    subject: 'CN=made up',
    thumbprint: String(round).padStart(64, '0'),
    notBefore: NOW,
    notAfter: NOW + 86_400_000,
    chain: '',
    keyId: 'test',
    wrappedKey: Buffer.alloc(1),
    sealed: Buffer.alloc(1),
    createdAt: NOW,
  };
}
