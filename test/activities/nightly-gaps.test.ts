import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import fc from 'fast-check';
import { createNightlyGaps } from '../../src/activities/background/nightly-gaps.js';
import type { CaptureKey } from '../../src/model/words.js';
import { type Gap, insertGaps } from '../../src/storage/gaps.js';
import { missingRanges } from '../../src/storage/missing-nsus.js';
import { key } from '../documents/samples.js';
import { documents, nsu, summaries } from './government.js';
import { alertsOf, committed, HOUR, newCapture, query, rowOf, run, world } from './support.js';

const w = await world();
const DAY = 24 * HOUR;
const woken: string[] = [];
const { lookForGaps } = createNightlyGaps({
  ...w.deps,
  wakeCapture: async ({ companyId }) => void woken.push(companyId),
});
/** The whole walk, as the workflow makes it. */
async function walk() {
  const totals = { captures: 0, found: 0, reopened: 0, expired: 0 };
  for (let after: CaptureKey | null = null; ; ) {
    const { next, ...found }: Awaited<ReturnType<typeof lookForGaps>> = await run(lookForGaps, { after });
    for (const name of ['captures', 'found', 'reopened', 'expired'] as const) totals[name] += found[name];
    if (next === null) return totals;
    after = next;
  }
}

let keys = 0;
async function captured(from: number, to: number): Promise<CaptureKey> {
  const capture = await newCapture(w);
  w.government.answers(
    documents(
      summaries(from, to, () => key(++keys)),
      to,
    ),
  );
  committed(await query(w, capture));
  return capture;
}

/** As if these had been lost by a fault of ours: no document, no gap. */
const lose = (capture: CaptureKey, ...nsus: number[]) =>
  w.db.query('delete from documents where company_id = $1 and nsu = any($2::bigint[])', [capture.companyId, nsus]);

async function gapsOf(capture: CaptureKey): Promise<string[]> {
  const { rows } = await w.db.query<{ line: string }>(
    `select from_nsu || '-' || to_nsu || ' ' || status || ' ' || cause as line from gaps
     where company_id = $1 and status <> 'before_onboarding' order by from_nsu`,
    [capture.companyId],
  );
  return rows.map(({ line }) => line);
}

describe('the nightly look', () => {
  beforeEach(async () => {
    await w.db.query('update captures set enabled = false');
    woken.length = 0;
  });

  test('makes items of numbers that nothing is known of, wakes their capture, and finds nothing the next time', async () => {
    const capture = await captured(11, 40);
    const whole = await captured(11, 40);
    await lose(capture, 15, 16, 30, 40);
    assert.deepEqual(await walk(), { captures: 2, found: 3, reopened: 0, expired: 0 });
    assert.deepEqual(await gapsOf(capture), [
      '15-16 pending nightly',
      '30-30 pending nightly',
      '40-40 pending nightly',
    ]);
    assert.deepEqual(await gapsOf(whole), []);
    assert.deepEqual(woken, [capture.companyId]);
    assert.ok(((await rowOf(w, capture)).recoveryAt ?? Number.POSITIVE_INFINITY) <= (await w.clock.now()));
    assert.equal((await walk()).found, 0);
  });

  test('the first page is a baseline; what is known in any way is not missing', async () => {
    const capture = await captured(101, 120);
    await lose(capture, 105, 106, 107, 108);
    const gap = (from: number, to: number, status: Gap['status']): Gap => ({
      from: nsu(from),
      to: nsu(to),
      status,
      cause: 'page',
    });
    const now = await w.clock.now();
    await w.db.transaction((tx) => insertGaps(tx, capture, [gap(104, 105, 'awaiting_confirmation')], now));
    await w.db.query(
      `insert into failed_items (id, company_id, document_type, environment, nsu, failure, detail, archive_id, object_key, byte_offset, byte_length, encoding, created_at)
       values (gen_random_uuid(), $1, 'nfe', 'homologation', 107, 'gzip', 'x', gen_random_uuid(), 'k', 0, 1, 'base64', now())`,
      [capture.companyId],
    );
    await walk();
    assert.deepEqual(await gapsOf(capture), [
      '104-105 awaiting_confirmation page',
      '106-106 pending nightly',
      '108-108 pending nightly',
    ]);
  });

  test('goes over the numbers of three days, not over older ones; a recovered old number does not widen it', async () => {
    const capture = await captured(1, 20);
    await lose(capture, 10);
    w.clock.advance(4 * DAY);
    w.government.answers(
      documents(
        summaries(21, 40, () => key(++keys)),
        40,
      ),
    );
    committed(await query(w, capture));
    await lose(capture, 30);
    await w.db.query(`update documents set captured_at = $2, origin = 'recovery' where company_id = $1 and nsu = 5`, [
      capture.companyId,
      new Date(await w.clock.now()),
    ]);
    await walk();
    assert.deepEqual(await gapsOf(capture), ['30-30 pending nightly']);
  });

  test('a range above 2,000 waits for a person, who is told', async () => {
    const capture = await captured(1, 2);
    await w.db.query(
      `update captures set ult_nsu = 3000, state = state || '{"ultNsu":"000000000003000"}' where company_id = $1`,
      [capture.companyId],
    );
    await walk();
    assert.deepEqual(await gapsOf(capture), ['3-3000 awaiting_confirmation nightly']);
    assert.deepEqual(await alertsOf(w, capture.companyId), ['gap_too_large']);
  });

  test('exhausted items are due again with a new series; after 90 days they are given up', async () => {
    const capture = await captured(1, 40);
    for (const [n, status, days] of [
      [5, 'exhausted', 1],
      [6, 'exhausted', 91],
      [7, 'pending', 91],
      [8, 'awaiting_confirmation', 91],
      [9, 'nonexistent', 91],
    ] as const) {
      await w.db.query(
        `insert into gaps (id, company_id, document_type, environment, from_nsu, to_nsu, status, cause, attempts, created_at, next_attempt_at)
         values (gen_random_uuid(), $1, 'nfe', 'homologation', $2, $2, $3, 'page', 8, $4, $5)`,
        [
          capture.companyId,
          n,
          status,
          new Date((await w.clock.now()) - days * DAY),
          status === 'pending' ? new Date(await w.clock.now()) : null,
        ],
      );
    }
    assert.deepEqual(await walk(), { captures: 1, found: 0, reopened: 1, expired: 3 });
    assert.deepEqual(await gapsOf(capture), [
      '5-5 pending page',
      '6-6 expired page',
      '7-7 expired page',
      '8-8 expired page',
      '9-9 nonexistent page',
    ]);
    assert.deepEqual(woken, [capture.companyId]);
    const { rows } = await w.db.query('select attempts from gaps where company_id = $1 and from_nsu = 5', [
      capture.companyId,
    ]);
    assert.deepEqual(rows, [{ attempts: 0 }]);
  });

  test('passes over stopped captures; of those with a second pass it makes their gaps due, and looks for no others', async () => {
    const stopped = await captured(1, 5);
    await lose(stopped, 3);
    await w.db.query('update captures set enabled = false where company_id = $1', [stopped.companyId]);
    const other = await captured(1, 5);
    await lose(other, 3);
    await w.db.query(`update captures set document_type = 'nfse' where company_id = $1`, [other.companyId]);
    const night = new Date((await w.clock.now()) + 20 * HOUR);
    await w.db.query(
      `insert into gaps (company_id, document_type, environment, id, from_nsu, to_nsu, status, cause, means, created_at, next_attempt_at)
       values ($1, 'nfse', 'homologation', gen_random_uuid(), 5, 5, 'pending', 'page', 'pass', now(), $2)`,
      [other.companyId, night],
    );
    const { captures, found } = await walk();
    assert.deepEqual([captures, found], [1, 0]);
    const { rows } = await w.db.query<{ at: number }>('select next_attempt_at as at from gaps where company_id = $1', [
      other.companyId,
    ]);
    assert.ok(Number(rows[0]?.at) <= (await w.clock.now()), 'due at once, also when somebody runs it by hand');
    await w.db.query('update captures set enabled = false where company_id = $1', [other.companyId]);
  });

  test('walks in batches by key, each capture once', async () => {
    await w.db.query(
      `insert into companies (id, tax_id, root, name, uf)
       select gen_random_uuid(), lpad(n::text, 14, '9'), '99999999', 'x', 'SP' from generate_series(10000, 10449) n`,
    );
    await w.db.query(
      `insert into captures (company_id, document_type, environment, state, phase)
       select id, 'nfe', 'homologation', '{"version":1}', 'waiting' from companies where root = '99999999'`,
    );
    assert.equal((await walk()).captures, 450);
  });
});

describe('missing ranges', () => {
  test('are exactly the numbers between the first in sequence and the cursor that nothing is known of', async () => {
    const capture = await newCapture(w);
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          came: fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 40 }),
          recovered: fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 5 }),
          ranges: fc.array(fc.tuple(fc.integer({ min: 1, max: 60 }), fc.nat(12)), { maxLength: 4 }),
          beyond: fc.nat(10),
        }),
        async ({ came, recovered, ranges, beyond }) => {
          const { companyId } = capture;
          for (const table of ['documents', 'gaps'])
            await w.db.query(`delete from ${table} where company_id = $1`, [companyId]);
          for (const [numbers, origin] of [
            [came, 'distribution'],
            [recovered, 'recovery'],
          ] as const) {
            await w.db.query(
              `insert into documents (id, company_id, document_type, environment, nsu, kind, root, direction, state, full_xml, origin,
                 captured_at, metadata, xml_sha256, xml_length, archive_id, object_key, byte_offset, byte_length, encoding)
               select gen_random_uuid(), $1, 'nfe', 'homologation', n, 'resNFe', 'r', 'received', 'authorized', 'awaited', $3,
                 now(), '{}', $3, 1, gen_random_uuid(), 'k', 0, 1, 'identity' from unnest($2::bigint[]) n`,
              [companyId, numbers, origin],
            );
          }
          const gaps = ranges.map(
            ([from, length]): Gap => ({ from: nsu(from), to: nsu(from + length), status: 'pending', cause: 'page' }),
          );
          await w.db.transaction((tx) => insertGaps(tx, capture, gaps, Date.now()));
          const cursor = Math.max(...came) + beyond;
          await w.db.query('update captures set ult_nsu = $2 where company_id = $1', [companyId, cursor]);

          const found = (await missingRanges(w.db, [capture], 0)).flatMap(({ from, to }) =>
            numbersOf(Number(from), Number(to)),
          );
          const known = new Set([
            ...came,
            ...recovered,
            ...ranges.flatMap(([from, length]) => numbersOf(from, from + length)),
          ]);
          const expected = numbersOf(Math.min(...came), cursor).filter((n) => !known.has(n));
          assert.deepEqual(found, expected);
        },
      ),
      { numRuns: 150 },
    );
  });

  const numbersOf = (from: number, to: number) =>
    Array.from({ length: Math.max(to - from + 1, 0) }, (_, i) => from + i);
});
