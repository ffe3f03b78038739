import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import pLimit from 'p-limit';
import { key } from '../documents/samples.js';
import { until } from '../support/until.js';
import { documents, none, nothing, refusal, summaries } from './government.js';
import {
  committed,
  eventsOf,
  MINUTE,
  newCapture,
  nextActivity,
  query,
  refused,
  rowOf,
  type World,
  world,
} from './support.js';

const tenAtOnce = pLimit(10);

async function captures(w: World, count: number) {
  return Promise.all(Array.from({ length: count }, () => tenAtOnce(() => newCapture(w))));
}

async function openAlerts(w: World): Promise<string[]> {
  const { rows } = await w.db.query<{ code: string }>('select code from alerts where closed_at is null');
  return rows.map(({ code }) => code);
}

async function service(w: World) {
  const { rows } = await w.db.query<{ reason: string | null; from: number | null; until: number | null }>(
    'select reason, paused_from as "from", paused_until as until from services',
  );
  return rows[0] ?? { reason: null, from: null, until: null };
}

describe('a service that is shut down (108)', () => {
  test('500 captures: one asks, the rest are refused; after the pause one probes, then all come back', async () => {
    const w = await world();
    const all = await captures(w, 500);
    const [first, ...others] = all;
    assert.ok(first);
    w.government.answers(refusal('108'));
    const paused = committed(await query(w, first));
    assert.equal(paused.snapshot.state.phase, 'paused');
    const end = (await service(w)).until ?? 0;
    const during = await Promise.all(others.map((capture) => tenAtOnce(() => query(w, capture))));
    for (const answer of during) {
      const { refusal: why } = refused(answer);
      assert.deepEqual(why, { reason: 'paused', until: end, spread: 5 * MINUTE });
    }
    assert.equal(w.government.calls, 1);

    // All come back at once, while the probe is in the air.
    w.clock.advance(5 * MINUTE + 1_000);
    let answer = () => {};
    w.government.answers(
      () =>
        new Promise((resolve) => {
          answer = () => resolve(none());
        }),
    );
    const back = others.map((capture) => tenAtOnce(() => query(w, capture)));
    await until(() => w.government.calls === 2, 'the probe');
    let refusedNow = 0;
    await Promise.all(
      back.map(async (one) => {
        if (refusedNow === others.length - 1) return;
        const result = await one;
        if (result.kind === 'refused') refusedNow += 1;
        if (refusedNow === others.length - 1) answer();
      }),
    );
    assert.equal(w.government.calls, 2, 'one probe');
    await until(async () => (await service(w)).until === null, 'the pause is over');
    w.government.answers(none());
    const after = await Promise.all(others.slice(0, 50).map((capture) => tenAtOnce(() => query(w, capture))));
    assert.ok(after.filter(({ kind }) => kind === 'committed').length >= 49);
  });

  test('a probe that finds it shut down still prolongs the pause; one that dies is replaced after its deadline', async () => {
    const w = await world();
    const [first, second, third] = await captures(w, 3);
    assert.ok(first && second && third);
    w.government.answers(refusal('109'));
    await query(w, first);
    w.clock.advance(21 * MINUTE);
    w.government.answers(refusal('108'));
    assert.equal(committed(await query(w, second)).outcome, 'paused');
    assert.equal((await service(w)).reason, '108');

    w.clock.advance(6 * MINUTE);
    const probing = await nextActivity(w, third);
    const dead = w.process({
      failpoint: (name) => {
        if (name === 'after_send') throw new Error('killed');
      },
    });
    await assert.rejects(probing.attempt(dead));
    const { refusal: why } = refused(await query(w, first));
    assert.equal(why.reason, 'paused');
    w.clock.advance(6 * MINUTE);
    w.government.answers(none());
    assert.equal(committed(await query(w, first)).outcome, 'none');
    assert.equal((await service(w)).until, null);
  });

  test('an answer that was in the air when the pause began does not end it', async () => {
    const w = await world();
    const [first, second] = await captures(w, 2);
    assert.ok(first && second);
    let answer = () => {};
    w.government.answers(
      () =>
        new Promise((resolve) => {
          answer = () => resolve(none());
        }),
      refusal('108'),
    );
    const flying = query(w, first);
    await until(() => w.government.calls === 1, 'the call');
    await query(w, second);
    answer();
    assert.equal(committed(await flying).outcome, 'none');
    assert.equal((await service(w)).reason, '108');
  });

  test('homologation and production are two services', async () => {
    const w = await world();
    const [first, second] = await captures(w, 2);
    assert.ok(first && second);
    w.government.answers(refusal('108'));
    await query(w, first);
    await w.db.query(`update captures set environment = 'production' where company_id = $1`, [second.companyId]);
    w.government.answers(none());
    assert.equal(committed(await query(w, { ...second, environment: 'production' })).outcome, 'none');
  });
});

describe('an outage', () => {
  test('five captures fail and none is answered: it counts against nobody, and doubles until a probe is answered', async () => {
    const w = await world();
    const all = await captures(w, 7);
    w.government.answers(nothing('not_sent', 'connect ECONNREFUSED'));
    for (const capture of all.slice(0, 4)) await query(w, capture);
    assert.equal((await service(w)).until, null);
    const [fifth, sixth, seventh] = all.slice(4);
    assert.ok(fifth && sixth && seventh);
    const found = committed(await query(w, fifth));
    assert.equal(found.snapshot.state.failures, 0);
    assert.deepEqual(await openAlerts(w), ['service_outage']);
    assert.deepEqual(await eventsOf(w, fifth.companyId), ['capture_alert/service_outage']);
    assert.equal(refused(await query(w, sixth)).refusal.reason, 'paused');

    for (const minutes of [5, 10, 20, 30, 30]) {
      const { from, until: end } = await service(w);
      assert.equal(Math.round(((end ?? 0) - (from ?? 0)) / MINUTE), minutes);
      w.clock.advance((minutes + 0.1) * MINUTE);
      const probe = committed(await query(w, sixth));
      assert.equal(probe.snapshot.state.failures, 0);
      // Its own wait is shorter than the pause: only the pause keeps the others back.
      assert.equal(refused(await query(w, seventh)).refusal.reason, 'paused');
    }
    w.clock.advance(31 * MINUTE);
    w.government.answers(documents(summaries(1, 2, key), 2));
    assert.equal(committed(await query(w, seventh)).outcome, 'documents');
    assert.deepEqual(await openAlerts(w), []);
    assert.equal((await service(w)).until, null);
    const stillCounted = await rowOf(w, all[0] ?? fifth);
    assert.equal(stillCounted.state.failures, 1);
  });

  test('one answer among the failures: it is theirs, not the service’s', async () => {
    const w = await world();
    const all = await captures(w, 8);
    w.government.answers(
      nothing('not_sent', 'reset'),
      nothing('not_sent', 'reset'),
      none(),
      nothing('not_sent', 'reset'),
    );
    for (const capture of all) await query(w, capture);
    assert.equal((await service(w)).until, null);
    assert.equal((await rowOf(w, all[7] ?? assert.fail())).state.failures, 1);
  });

  test('failures of more than ten minutes ago, or of one capture, say nothing', async () => {
    const w = await world();
    const all = await captures(w, 5);
    w.government.answers(nothing('unknown', 'time limit'));
    for (const capture of all.slice(0, 4)) await query(w, capture);
    w.clock.advance(11 * MINUTE);
    w.government.answers(nothing('not_sent', 'reset'));
    for (let i = 0; i < 5; i++) {
      await query(w, all[4] ?? assert.fail());
      w.clock.advance(MINUTE);
    }
    assert.equal((await service(w)).until, null);
  });

  test('calls that were dropped unsent, because their worker stops, say nothing', async () => {
    const w = await world();
    const all = await captures(w, 5);
    for (const capture of all.slice(0, 4)) {
      const activity = await nextActivity(w, capture);
      const stopping = w.process({ failpoint: () => activity.environment.cancel('WORKER_SHUTDOWN') });
      assert.equal(committed(await activity.attempt(stopping)).outcome, 'not_sent');
    }
    w.government.answers(nothing('not_sent', 'reset'));
    await query(w, all[4] ?? assert.fail());
    assert.equal((await service(w)).until, null);
  });

  test('a probe that is dropped because its worker stops leaves the lease to the next', async () => {
    const w = await world();
    const [first, second, third] = await captures(w, 3);
    assert.ok(first && second && third);
    w.government.answers(refusal('108'));
    await query(w, first);
    w.clock.advance(6 * MINUTE);
    const probing = await nextActivity(w, second);
    const stopping = w.process({
      failpoint: (name) => {
        if (name === 'after_record') probing.environment.cancel('WORKER_SHUTDOWN');
      },
    });
    assert.equal(committed(await probing.attempt(stopping)).outcome, 'not_sent');
    w.government.answers(none());
    assert.equal(committed(await query(w, third)).outcome, 'none');
  });
});
