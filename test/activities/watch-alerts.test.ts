import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { createWatchAlerts } from '../../src/activities/background/watch-alerts.js';
import type { AlertCode, CaptureKey, Environment } from '../../src/model/words.js';
import { listAlerts } from '../../src/storage/alerts.js';
import { disableCapture, enableCapture, holdCapture, resumeCapture } from '../../src/storage/capture-orders.js';
import { insertGaps } from '../../src/storage/gaps.js';
import { newDocument } from '../storage/documents-support.js';
import { newCompany } from '../storage/support.js';
import { documents, none, nothing, nsu, refusal, summaries, throttled } from './government.js';
import {
  Activity,
  alertsOf,
  eventsOf,
  giveCertificate,
  HOUR,
  MINUTE,
  newCapture,
  query,
  rowOf,
  run,
  type World,
  world,
} from './support.js';

const w = await world();
const DAY = 24 * HOUR;
const keyOf = (n: number) => String(n).padStart(44, '0');

const watch = (every: 'minute' | 'hour', at: World = w) => run(createWatchAlerts(at.deps).watchAlerts, { every });
const eachMinute = () => watch('minute');
const eachHour = () => watch('hour');

async function openOf(
  companyId: string,
): Promise<{ code: AlertCode; subject: string; severity: string; detail: string }[]> {
  const { rows } = await listAlerts(w.db, { companyId, open: true }, { limit: 50 });
  return rows.map(({ code, subject, severity, detail }) => ({ code, subject, severity, detail }));
}

/** How often the customer's feed told of an alert. */
async function told(companyId: string, code: AlertCode): Promise<number> {
  return (await eventsOf(w, companyId)).filter((name) => name === `capture_alert/${code}`).length;
}

function order(work: (tx: Parameters<Parameters<typeof w.db.transaction>[0]>[0], now: number) => Promise<unknown>) {
  return w.db.transaction(async (tx) => work(tx, await w.clock.now()));
}

/** A capture with 50 documents stored and 50 more to come. */
async function withPending(environment: Environment = 'homologation'): Promise<CaptureKey> {
  const capture = { ...(await newCapture(w)), environment };
  w.government.answers(documents(summaries(1, 50, keyOf), 50, 100));
  await query(w, capture);
  return capture;
}

/** The government refuses, as long as it takes: no query is ever overdue. */
async function refusedFor(capture: CaptureKey, hours: number): Promise<void> {
  const end = (await w.clock.now()) + hours * HOUR;
  for (;;) {
    const next = (await rowOf(w, capture)).state.nextQueryAt ?? 0;
    if (next > end) break;
    w.clock.advance(Math.max(next - (await w.clock.now()), 0) + 1_000);
    w.government.answers(refusal('215'));
    await query(w, capture);
  }
  w.clock.advance(Math.max(end - (await w.clock.now()), 0));
}

describe('documents are pending and none comes', () => {
  test('for six hours: told once, with where it stands; over with the next page', async () => {
    const capture = await withPending();
    await refusedFor(capture, 5.9);
    await eachMinute();
    assert.deepEqual(await openOf(capture.companyId), []);
    await refusedFor(capture, 0.3);
    assert.equal((await eachMinute()).opened, 1);
    assert.equal((await eachMinute()).opened, 0);
    const [alert] = await openOf(capture.companyId);
    assert.match(alert?.detail ?? '', /^documents are pending and none came since 20.*Z; blocked: .*215/);
    assert.deepEqual([alert?.code, alert?.severity], ['capture_stalled', 'warning']);
    assert.equal(await told(capture.companyId, 'capture_stalled'), 1);
    w.clock.advance(2 * HOUR);
    w.government.answers(documents(summaries(51, 100, keyOf), 100));
    await query(w, capture);
    await eachMinute();
    assert.deepEqual(await openOf(capture.companyId), []);
    assert.equal(await told(capture.companyId, 'capture_stalled'), 1);
  });

  test('an item that cannot be read is progress all the same: the cursor moves', async () => {
    const capture = await withPending();
    await refusedFor(capture, 5.5);
    w.clock.advance(HOUR);
    w.government.answers(documents([{ nsu: 51, base64: 'no gzip' }], 51, 100));
    await query(w, capture);
    await eachMinute();
    assert.deepEqual(await alertsOf(w, capture.companyId), ['item_failed']);
  });

  test('a person who holds or stops the capture knows; afterwards it counts anew', async () => {
    const capture = await withPending();
    await order((tx, now) => holdCapture(tx, capture, Number.POSITIVE_INFINITY, now));
    w.clock.advance(7 * HOUR);
    await eachMinute();
    assert.deepEqual(await openOf(capture.companyId), []);
    await order((tx, now) => resumeCapture(tx, capture, now));
    await eachMinute();
    assert.deepEqual(await openOf(capture.companyId), [], 'resumed just now');
    await refusedFor(capture, 6.1);
    await eachMinute();
    assert.deepEqual(await alertsOf(w, capture.companyId), ['capture_stalled']);
    await order((tx, now) => disableCapture(tx, capture, now));
    await eachMinute();
    assert.deepEqual(await openOf(capture.companyId), []);
    w.clock.advance(7 * HOUR);
    await order((tx, now) => enableCapture(tx, { capture, options: (current) => current, now }));
    await eachMinute();
    assert.deepEqual(await openOf(capture.companyId), [], 'started just now');
  });

  test('on a time scale of 60 six minutes are enough', async () => {
    const fast = { ...w, deps: { ...w.deps, timeScale: 60 } };
    const capture = await withPending();
    w.clock.advance(5 * MINUTE);
    w.government.answers(refusal('215'));
    await query(w, capture);
    await watch('minute', fast);
    assert.deepEqual(await openOf(capture.companyId), []);
    w.clock.advance(1.1 * MINUTE);
    await watch('minute', fast);
    assert.deepEqual(await alertsOf(w, capture.companyId), ['capture_stalled']);
  });
});

test('a query an hour overdue although it was woken: told once, over with the query', async () => {
  const capture = await newCapture(w);
  w.government.answers(none());
  await query(w, capture);
  const due = (await rowOf(w, capture)).state.nextQueryAt ?? 0;
  w.clock.advance(due - (await w.clock.now()) + 59 * MINUTE);
  await eachMinute();
  assert.deepEqual(await openOf(capture.companyId), []);
  w.clock.advance(2 * MINUTE);
  await eachMinute();
  await eachMinute();
  const [alert] = await openOf(capture.companyId);
  assert.match(alert?.detail ?? '', /overdue by more than an hour although it was woken/);
  assert.equal(await told(capture.companyId, 'capture_stalled'), 1);
  w.government.answers(none());
  await query(w, capture);
  await eachMinute();
  assert.deepEqual(await openOf(capture.companyId), []);
});

describe('nobody asks for a known company', () => {
  const at = async (capture: CaptureKey) =>
    (await openOf(capture.companyId))
      .filter(({ code }) => code === 'numbering_at_risk')
      .map(({ subject, severity }) => `${subject} ${severity}`);

  test('for 45 days, stopped or held: told; at 60, when numbering stops, told again; over with the next query', async () => {
    const [held, stopped] = [await newCapture(w), await newCapture(w)];
    for (const capture of [held, stopped]) {
      w.government.answers(none());
      await query(w, capture);
    }
    await order((tx, now) => holdCapture(tx, held, Number.POSITIVE_INFINITY, now));
    await order((tx, now) => disableCapture(tx, stopped, now));
    w.clock.advance(45 * DAY - HOUR);
    await eachHour();
    assert.deepEqual([...(await at(held)), ...(await at(stopped))], []);
    w.clock.advance(2 * HOUR);
    await eachHour();
    await eachHour();
    assert.deepEqual([await at(held), await at(stopped)], [['45 critical'], ['45 warning']]);
    const [alert] = await openOf(stopped.companyId);
    assert.match(
      alert?.detail ?? '',
      /^nobody has asked since \d{4}-\d\d-\d\d: from \d{4}-\d\d-\d\d on the government numbers no more/,
    );
    w.clock.advance(15 * DAY);
    await eachHour();
    assert.deepEqual([await at(held), await at(stopped)], [['60 critical'], ['60 warning']]);
    assert.equal(await told(stopped.companyId, 'numbering_at_risk'), 2);
    await giveCertificate(w, held.companyId);
    await order((tx, now) => resumeCapture(tx, held, now));
    w.government.answers(none());
    await query(w, held);
    await eachHour();
    assert.deepEqual(await at(held), []);
  });

  test('a refusal is no query that keeps numbers coming', async () => {
    const capture = await newCapture(w);
    w.clock.advance(44 * DAY);
    w.government.answers(throttled(0));
    await query(w, capture);
    w.clock.advance(2 * DAY);
    await eachHour();
    assert.deepEqual(await at(capture), ['45 critical']);
  });

  test('the environment that it moved away from is nobody’s business', async () => {
    const capture = await newCapture(w);
    await order((tx, now) => disableCapture(tx, capture, now));
    const moved = { ...capture, environment: 'production' } as const;
    await order((tx, now) => enableCapture(tx, { capture: moved, options: (current) => current, now }));
    w.clock.advance(46 * DAY);
    await eachHour();
    const { rows } = await listAlerts(w.db, { companyId: capture.companyId, open: true }, { limit: 9 });
    assert.deepEqual(
      rows.filter(({ code }) => code === 'numbering_at_risk').map(({ environment }) => environment),
      ['production'],
    );
  });
});

describe('certificates', () => {
  const steps = async (companyId: string) =>
    (await openOf(companyId))
      .filter(({ code }) => code.startsWith('certificate'))
      .map(({ code, subject, severity }) => `${code} ${subject} ${severity}`.replace('  ', ' '));

  test('end: told 30, 15, 7, 3 and 1 days before, each time once, and when it is over; a renewed one ends it all', async () => {
    const capture = await newCapture(w, { certificate: false });
    const end = (await w.clock.now()) + 31 * DAY;
    await giveCertificate(w, capture.companyId, { to: end });
    await eachHour();
    assert.deepEqual(await steps(capture.companyId), []);
    for (const [days, expected] of [
      [30, 'certificate_expiring 30 warning'],
      [15.1, 'certificate_expiring 30 warning'],
      [15, 'certificate_expiring 15 warning'],
      [7, 'certificate_expiring 7 warning'],
      [3, 'certificate_expiring 3 critical'],
      [1, 'certificate_expiring 1 critical'],
      [-0.01, 'certificate_expired critical'],
    ] as const) {
      w.clock.advance(end - days * DAY - (await w.clock.now()));
      await eachHour();
      await eachHour();
      assert.deepEqual(await steps(capture.companyId), [expected], `${days} days before`);
    }
    assert.deepEqual(
      [await told(capture.companyId, 'certificate_expiring'), await told(capture.companyId, 'certificate_expired')],
      [5, 1],
    );
    await giveCertificate(w, capture.companyId);
    await eachHour();
    assert.deepEqual(await steps(capture.companyId), []);
  });

  test('serve a root: one alert for all its branches, none while another one lasts longer, none that nobody needs', async () => {
    const root = '91919191';
    const head = await newCompany(w.db, { taxId: `${root}000100` });
    const branches = [
      await newCompany(w.db, { taxId: `${root}000200` }),
      await newCompany(w.db, { taxId: `${root}000300` }),
    ];
    const soon = (await w.clock.now()) + 10 * DAY;
    await giveCertificate(w, head.id, { to: soon });
    await eachHour();
    assert.deepEqual(await steps(head.id), [], 'nobody is captured');
    for (const { id } of branches) {
      const capture = { companyId: id, documentType: 'nfe', environment: 'homologation' } as const;
      await order((tx, now) => enableCapture(tx, { capture, options: (current) => current, now }));
    }
    await eachHour();
    assert.deepEqual(await steps(head.id), ['certificate_expiring 15 warning']);
    for (const { id } of branches) assert.deepEqual(await steps(id), []);
    await giveCertificate(w, branches[1]?.id ?? '');
    await eachHour();
    assert.deepEqual(await steps(head.id), []);
  });

  test('that the guard misses: one alert for all captures of the company', async () => {
    const nfe = await newCapture(w, { certificate: false });
    const cte = { ...nfe, documentType: 'cte' } as const;
    await order((tx, now) => enableCapture(tx, { capture: cte, options: (current) => current, now }));
    for (const capture of [nfe, cte]) await query(w, capture);
    await eachHour();
    assert.deepEqual(await steps(nfe.companyId), ['certificate_expired critical']);
    assert.equal(await told(nfe.companyId, 'certificate_expired'), 1);
    for (const capture of [nfe, cte]) await order((tx, now) => disableCapture(tx, capture, now));
    await eachHour();
    assert.deepEqual(await steps(nfe.companyId), []);
  });
});

test('a note that must be answered within 10 days: told once for all notes, over when they are answered', async () => {
  const capture = await newCapture(w);
  const { rows } = await w.db.query<{ tax_id: string }>('select tax_id from companies where id = $1', [
    capture.companyId,
  ]);
  const now = await w.clock.now();
  const note = (key: string, days: number) =>
    newDocument(w.db, {
      company_id: capture.companyId,
      key,
      recipient_tax_id: rows[0]?.tax_id,
      authorized_at: new Date(now - days * DAY),
    });
  await note('early', 79.9);
  await note('late', 90.1);
  await eachHour();
  assert.deepEqual(await openOf(capture.companyId), []);
  await note('due', 80.1);
  await note('due too', 85);
  await eachHour();
  await eachHour();
  const [alert] = await openOf(capture.companyId);
  const end = new Date(now + 5 * DAY).toLocaleDateString('en-CA', { timeZone: 'America/Sao_Paulo' });
  assert.deepEqual(alert, {
    code: 'manifestation_deadline',
    subject: '',
    severity: 'warning',
    detail: `the time for a conclusive manifestation of a note ends on ${end}: list documents with deadlineBefore`,
  });
  assert.equal(await told(capture.companyId, 'manifestation_deadline'), 1);
  for (const key of ['due', 'due too']) {
    const event = { kind: 'procEventoNFe', event_type: '210200', event: JSON.stringify({ type: '210200' }) };
    await newDocument(w.db, { company_id: capture.companyId, key, ...event });
  }
  await eachHour();
  assert.deepEqual(await openOf(capture.companyId), []);
});

describe('alerts that nothing else closes', () => {
  test('attention: over when a person resumes it, whoever writes that down, or stops it', async () => {
    const captures = [await newCapture(w), await newCapture(w)];
    for (const capture of captures) {
      for (let tries = 0; tries < 10; tries++) {
        w.government.answers(nothing('not_sent', 'connect ECONNREFUSED'));
        await query(w, capture);
        w.clock.advance(31 * MINUTE);
      }
      await eachMinute();
      assert.deepEqual(await alertsOf(w, capture.companyId), ['capture_attention']);
    }
    const [resumed, stopped] = captures;
    await order(async (tx, now) => {
      if (resumed) await resumeCapture(tx, resumed, now);
      if (stopped) await disableCapture(tx, stopped, now);
    });
    await eachMinute();
    for (const { companyId } of captures) assert.deepEqual(await alertsOf(w, companyId), []);
    await w.db.query(`update services set paused_until = null, reason = null`);
  });

  test('another program: over after a day without a sign of it, not with the next answer', async () => {
    const capture = await newCapture(w);
    const sign = async () => {
      w.clock.advance(1.1 * HOUR);
      w.government.answers(throttled(0));
      await query(w, capture);
      w.clock.advance(1.1 * HOUR);
      w.government.answers(none());
      await query(w, capture);
    };
    await sign();
    await eachMinute();
    assert.deepEqual(await alertsOf(w, capture.companyId), ['other_consumer']);
    w.clock.advance(20 * HOUR);
    await sign();
    w.clock.advance(20 * HOUR);
    w.government.answers(none());
    await query(w, capture);
    await eachMinute();
    assert.deepEqual(await alertsOf(w, capture.companyId), ['other_consumer'], 'it was seen again');
    assert.equal(await told(capture.companyId, 'other_consumer'), 1);
    w.clock.advance(5 * HOUR);
    w.government.answers(none());
    await query(w, capture);
    await eachMinute();
    assert.deepEqual(await alertsOf(w, capture.companyId), []);
  });

  test('a cursor above the highest number: told once, over with an answer, or when the capture stops', async () => {
    const [answered, stopped] = [await newCapture(w), await newCapture(w)] as const;
    for (const capture of [answered, stopped]) {
      for (let times = 0; times < 2; times++) {
        w.government.answers(refusal('589'));
        await query(w, capture);
        w.clock.advance(1.1 * HOUR);
      }
      await eachMinute();
      assert.deepEqual(await alertsOf(w, capture.companyId), ['cursor_ahead']);
      assert.equal(await told(capture.companyId, 'cursor_ahead'), 1);
    }
    w.government.answers(none());
    await query(w, answered);
    await order((tx, now) => disableCapture(tx, stopped, now));
    await eachMinute();
    assert.deepEqual(await alertsOf(w, answered.companyId), []);
    assert.deepEqual(await alertsOf(w, stopped.companyId), []);
  });

  test('a database that was behind: over once it is repaired', async () => {
    const capture = await newCapture(w);
    const ahead = new Activity({ capture, ultNsu: nsu(0), revision: 50 });
    for (let times = 0; times < 2; times++) await ahead.attempt(w.activities);
    await eachMinute();
    assert.deepEqual(await alertsOf(w, capture.companyId), ['database_behind']);
    assert.equal(await told(capture.companyId, 'database_behind'), 1);
    await w.db.query('update captures set behind = false where company_id = $1', [capture.companyId]);
    await eachMinute();
    assert.deepEqual(await alertsOf(w, capture.companyId), []);
  });

  test('a failed item, a large gap: over with the last of them', async () => {
    const capture = await newCapture(w);
    w.government.answers(documents([{ nsu: 1, base64: 'no gzip' }], 1));
    await query(w, capture);
    await order((tx, now) =>
      insertGaps(tx, capture, [{ from: nsu(2), to: nsu(5_000), status: 'awaiting_confirmation', cause: 'jump' }], now),
    );
    await w.db.query(
      `insert into alerts (id, code, company_id, document_type, environment, detail, opened_at)
       values ($1, 'gap_too_large', $2, 'nfe', 'homologation', 'x', now())`,
      [randomUUID(), capture.companyId],
    );
    await eachMinute();
    assert.deepEqual(await alertsOf(w, capture.companyId), ['gap_too_large', 'item_failed']);
    await w.db.query('update failed_items set resolved_at = now() where company_id = $1', [capture.companyId]);
    await w.db.query(`update gaps set status = 'nonexistent', next_attempt_at = null where company_id = $1`, [
      capture.companyId,
    ]);
    await eachMinute();
    assert.deepEqual(await alertsOf(w, capture.companyId), []);
  });

  test('nothing opens for a company that is being deleted', async () => {
    const capture = await withPending();
    await w.db.query('update companies set deleting_at = now() where id = $1', [capture.companyId]);
    w.clock.advance(61 * DAY);
    await eachMinute();
    await eachHour();
    assert.equal((await eventsOf(w, capture.companyId)).filter((name) => name.startsWith('capture_alert')).length, 0);
  });

  test('of a company that is being deleted, and of a host that is no more', async () => {
    const deleted = await newCapture(w);
    const hosted = await newCapture(w, { options: { handler: { taskQueue: 'q', activity: 'a' } } });
    for (const { companyId } of [deleted, hosted]) {
      for (const [code, subject] of [
        ['handler_unavailable', ''],
        ['cursor_ahead', 'host'],
      ]) {
        await w.db.query(
          `insert into alerts (id, code, company_id, document_type, environment, subject, detail, opened_at)
           values ($1, $2, $3, 'nfe', 'homologation', $4, 'x', now())`,
          [randomUUID(), code, companyId, subject],
        );
      }
    }
    await eachMinute();
    assert.deepEqual(await alertsOf(w, hosted.companyId), ['cursor_ahead', 'handler_unavailable']);
    assert.deepEqual(await alertsOf(w, deleted.companyId), [], 'it has no handler');
    await w.db.query('update companies set deleting_at = now() where id = $1', [hosted.companyId]);
    await eachMinute();
    assert.deepEqual(await alertsOf(w, hosted.companyId), []);
  });
});
