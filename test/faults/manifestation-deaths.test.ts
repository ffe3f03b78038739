import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Failpoint } from '../../src/activities/index.js';
import { eventWorld, manifestation, requested, SendActivity, sendDue } from '../activities/manifestation-support.js';
import { count, dies, dyingAt, eventsOf, newCapture } from '../activities/support.js';
import { key } from '../documents/samples.js';

/** Whatever dies where, a request makes one event: the same Id, the same bytes, and one document and one webhook of it. */
const w = await eventWorld();

let notes = 5000;

interface Row {
  readonly at: Failpoint;
  /** Requests that left before the death. */
  readonly sent: number;
  /** Requests in all. */
  readonly inAll: number;
  /** Whether the answer of the first request was found. */
  readonly found: boolean;
}

const TABLE: Row[] = [
  { at: 'before_record', sent: 0, inAll: 1, found: true },
  { at: 'after_record', sent: 0, inAll: 1, found: true },
  { at: 'before_send', sent: 0, inAll: 1, found: true },
  // Nobody knows what became of it: it is sent once more, and the government knows it already.
  { at: 'after_send', sent: 1, inAll: 2, found: false },
  { at: 'after_archive', sent: 1, inAll: 1, found: true },
  { at: 'inside_transaction', sent: 1, inAll: 1, found: true },
  { at: 'after_commit', sent: 1, inAll: 1, found: true },
];

/** The government's own memory: an Id is registered once, and then answered 573. */
function remembering(): void {
  const known = new Set<string>();
  w.events.script = (ids) =>
    ids.map((id) => {
      const cStat = known.has(id) ? '573' : '135';
      known.add(id);
      return { id, cStat };
    });
}

describe('a process that dies while it sends a manifestation', () => {
  for (const { at, sent, inAll, found } of TABLE) {
    for (const successor of ['another attempt', 'another workflow'] as const) {
      test(`${at}, found by ${successor}: ${inAll} requests in all, one event`, async () => {
        const capture = await newCapture(w);
        const row = await requested(w, capture, key(++notes), '210200');
        remembering();
        const before = w.events.requests.length;
        const activity = new SendActivity(capture);
        await dies(activity.attempt({ ...w.deps, failpoint: dyingAt(at) }));
        assert.equal(w.events.requests.length - before, sent);

        const next = () => (successor === 'another attempt' ? activity.attempt(w.deps) : sendDue(w, capture));
        if (successor === 'another workflow') {
          // Until the deadline of the dead one's call nobody else takes the event.
          if (!['before_record', 'after_commit'].includes(at)) {
            assert.equal((await next()).sent, 0);
            w.clock.advance(90_000);
          }
        }
        await next();
        for (let i = 0; i < 3 && (await manifestation(w, row.id)).status === 'pending'; i++) {
          w.clock.advance(61_000);
          await sendDue(w, capture);
        }
        assert.equal(w.events.requests.length - before, inAll);
        const requests = w.events.requests.slice(before);
        assert.equal(new Set(requests.flatMap(({ events }) => events)).size, 1, 'the same bytes');

        const { status, statusCode, documentId } = await manifestation(w, row.id);
        assert.deepEqual([status, statusCode], ['registered', found ? '135' : '573']);
        assert.ok(documentId);
        assert.equal(await count(w, 'documents', capture.companyId), 1);
        assert.deepEqual(await eventsOf(w, capture.companyId), [
          'product_invoice_inbound/input_event_raised_successfully',
        ]);
      });
    }
  }

  test('a worker that is asked to stop sends nothing, and counts nothing', async () => {
    const capture = await newCapture(w);
    const row = await requested(w, capture, key(++notes), '210200');
    remembering();
    const before = w.events.requests.length;
    await assert.rejects(new SendActivity(capture).attempt(w.deps, 'stopped'));
    assert.equal(w.events.requests.length, before);
    assert.deepEqual((await manifestation(w, row.id)).attempts, 0);
    assert.equal((await sendDue(w, capture)).registered, 1);
  });

  test('an answer that comes after its call was given up still counts, while nobody else has sent the event', async () => {
    const capture = await newCapture(w);
    const row = await requested(w, capture, key(++notes), '210200');
    remembering();
    const slow = new SendActivity(capture);
    let goOn = () => {};
    const arrived = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const late = slow.attempt({ ...w.deps, failpoint: async (name) => (name === 'after_send' ? arrived : undefined) });
    while (w.events.sent[`ID210200${row.key}01`] !== 1) await new Promise((resolve) => setTimeout(resolve, 5));
    // Another attempt finds the call open, and no answer.
    await slow.attempt(w.deps);
    assert.equal((await manifestation(w, row.id)).status, 'pending');
    goOn();
    await late;
    const { status, statusCode, documentId } = await manifestation(w, row.id);
    assert.deepEqual([status, statusCode, documentId !== null], ['registered', '135', true]);
    w.clock.advance(120_000);
    assert.equal((await sendDue(w, capture)).sent, 0);
  });
});
