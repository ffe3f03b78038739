import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import fc from 'fast-check';
import type { Failpoint } from '../../src/activities/index.js';
import type { CaptureKey } from '../../src/model/words.js';
import type { ManifestationRow } from '../../src/storage/manifestations.js';
import { nfse, nfseKey } from '../documents/nfse-samples.js';
import { ScriptedAdn } from './adn-government.js';
import { eventWorld, manifestation, requested, SendActivity, sendDue } from './manifestation-support.js';
import { type Fate, ScriptedSefin } from './scripted-sefin.js';
import { committed, count, dies, dyingAt, eventsOf, MINUTE, newCapture, query, world } from './support.js';

const adn = new ScriptedAdn();
const captures = await world({ services: { nfse: adn.service } });
const w = await eventWorld(captures);
const sefin = new ScriptedSefin();
const deps = { ...w.deps, eventServices: { nfse: sefin.service } };
const at = { ...w, deps };

let numbers = 100;
let capture: CaptureKey;
let taxId: string;
let key: string;
beforeEach(async () => {
  capture = await newCapture(captures, { documentType: 'nfse' });
  const { rows } = await w.db.query<{ taxId: string }>('select tax_id as "taxId" from companies where id = $1', [
    capture.companyId,
  ]);
  taxId = rows[0]?.taxId ?? '';
  key = nfseKey(++numbers);
  sefin.exchanges.length = 0;
  sefin.requests.length = 0;
  sefin.fates = [];
  adn.box = [];
});

/** The company’s own copy of the note. */
async function noteCame(): Promise<void> {
  adn.box = [{ nsu: 1, xml: nfse({ key, taker: taxId }) }];
  committed(await query(captures, capture));
  w.clock.advance(3_000);
}

const confirm = () => requested(at, capture, key, '203202');

/** Sends what is due, and what becomes due within an hour, until nothing is. */
async function settled(row: ManifestationRow): Promise<ManifestationRow> {
  for (let i = 0; i < 12; i++) {
    w.clock.advance(3_000);
    const { nextDueAt } = await sendDue(at, capture);
    if (nextDueAt === null) break;
    w.clock.advance(Math.max(nextDueAt - (await w.clock.now()), 0));
  }
  return manifestation(at, row.id);
}

const eventDocuments = async () =>
  (
    await w.db.query<{ nsu: string | null; type: string; origin: string }>(
      `select nsu::text, event_type as type, origin from documents where company_id = $1 and kind = 'evento'`,
      [capture.companyId],
    )
  ).rows;
const told = async () =>
  (await eventsOf(captures, capture.companyId)).filter((event) => event.endsWith('event_raised_successfully')).length;

describe('a statement about an NFS-e', () => {
  test('registered: a document, told of once, and known again when it is distributed in other bytes', async () => {
    await noteCame();
    const row = await settled(await confirm());
    assert.deepEqual([row.status, row.attempts, row.statusCode], ['registered', 1, 'HTTP 201']);
    assert.equal(row.registeredAt, Date.parse('2026-09-20T10:00:00-03:00'));
    assert.deepEqual(sefin.exchanges, ['POST 203202']);
    assert.deepEqual(await eventDocuments(), [{ nsu: null, type: '203202', origin: 'manifestation' }]);
    assert.equal(await told(), 1);

    adn.box.push({ nsu: 2, xml: `${sefin.registered.get(key)?.xml}\n` });
    w.clock.advance(3_000);
    committed(await query(captures, capture));
    assert.deepEqual(await eventDocuments(), [{ nsu: '2', type: '203202', origin: 'manifestation' }]);
    assert.equal(await told(), 1);
    const { rows } = await w.db.query<{ warnings: string[] }>('select warnings from documents where id = $1', [
      row.documentId,
    ]);
    assert.match(rows[0]?.warnings.at(-1) ?? '', /^other_bytes: /);
  });

  test('of a note that is not here it is told of at once, too', async () => {
    await settled(await confirm());
    assert.equal(await told(), 1);
  });

  test('rejected: visible with code and text, nobody is told', async () => {
    await noteCame();
    sefin.fates = [{ status: 400, body: '{"erro":{"Codigo":"E0813","Descricao":"Autor não permitido"}}' }];
    const row = await settled(await confirm());
    assert.deepEqual([row.status, row.statusCode, row.statusText], ['rejected', 'E0813', 'Autor não permitido']);
    assert.deepEqual([await told(), await eventDocuments(), sefin.exchanges.length], [0, [], 1]);
  });

  test('the reason and its text stand in the request, signed', async () => {
    const row = await requested(at, capture, key, '203206', {
      justification: 'Serviço <não> contratado & não prestado',
      fields: { cMotivo: '9' },
    });
    await settled(row);
    assert.match(
      sefin.requests.at(-1) ?? '',
      /<cMotivo>9<\/cMotivo><xMotivo>Serviço &lt;não&gt; contratado &amp; não prestado<\/xMotivo><\/e203206>.*<Signature /,
    );
  });

  test('the service’s own failures are waited out: the same bytes again', async () => {
    sefin.fates = ['E1217', 'E1831', 'E1206', 'E1843'].map((code) => ({
      status: 400,
      body: `{"erro":{"codigo":"${code}"}}`,
    }));
    const row = await settled(await confirm());
    assert.deepEqual([row.status, row.attempts], ['registered', 5]);
    assert.deepEqual(sefin.exchanges, Array(5).fill('POST 203202'));
    assert.equal(new Set(sefin.requests).size, 1);
  });

  test('429 and a refused certificate send nothing for an hour, and put nothing in doubt', async () => {
    for (const status of [429, 401, 496]) {
      sefin.exchanges.length = 0;
      key = nfseKey(++numbers);
      sefin.fates = [{ status, body: '<html></html>' }];
      const row = await confirm();
      w.clock.advance(3_000);
      await sendDue(at, capture);
      w.clock.advance(59 * MINUTE);
      await sendDue(at, capture);
      assert.equal(sefin.exchanges.length, 1);
      assert.equal((await settled(row)).status, 'registered');
      assert.deepEqual(sefin.exchanges, ['POST 203202', 'POST 203202']);
    }
  });
});

describe('an answer that got lost', () => {
  test('registered all the same: read back, not sent again', async () => {
    await noteCame();
    sefin.fates = ['lost_after'];
    const row = await settled(await confirm());
    assert.deepEqual(sefin.exchanges, ['POST 203202', 'GET 203202']);
    assert.deepEqual([row.status, row.attempts, await told()], ['registered', 1, 1]);
    assert.equal((await eventDocuments()).length, 1);
  });

  test('not registered: read back first, and then sent again, the same bytes', async () => {
    sefin.fates = ['lost_before'];
    const row = await settled(await confirm());
    assert.deepEqual(sefin.exchanges, ['POST 203202', 'GET 203202', 'POST 203202']);
    assert.deepEqual([row.status, row.attempts], ['registered', 2]);
  });

  test('while the read-back brings no word either, nothing is sent', async () => {
    const nothing: ScriptedSefin['fates'] = [
      'lost_before',
      'not_sent',
      { status: 503, body: '<html></html>' },
      { status: 404, body: '<html>not the service</html>' },
      { status: 429, body: '' },
      { status: 403, body: '{"erro":{"codigo":"E2241"}}' },
      { status: 401, body: '' },
      'lost_before',
      { status: 200, body: '{"tipoAmbiente":1,"eventoXmlGZipB64":"QUJD"}' },
      { status: 200, body: '{"tipoAmbiente":2,"eventoXmlGZipB64":"QUJD"}' },
    ];
    sefin.fates = ['lost_before', ...nothing];
    const row = await confirm();
    for (let i = 0; i <= nothing.length; i++) {
      await sendDue(at, capture);
      w.clock.advance(70 * MINUTE);
    }
    assert.equal(sefin.posts, 1);
    assert.deepEqual([(await manifestation(at, row.id)).status, sefin.fates], ['pending', []]);
    assert.equal((await settled(row)).status, 'registered');
    assert.equal(sefin.posts, 2);
  });

  test('an answer of 5xx is none, whatever it says; nor is one without the event', async () => {
    for (const fate of [
      { status: 502, body: '{"erro":"Bad Gateway"}' },
      { status: 500, body: '{"erro":{"codigo":"E0813"}}' },
      { status: 201, body: '{"tipoAmbiente":2}' },
      { status: 201, body: '{"tipoAmbiente":2,"eventoXmlGZipB64":"QUJD"}' },
    ]) {
      sefin.exchanges.length = 0;
      key = nfseKey(++numbers);
      sefin.fates = [{ ...fate, done: true }];
      const row = await settled(await confirm());
      assert.deepEqual([row.status, sefin.exchanges], ['registered', ['POST 203202', 'GET 203202']]);
    }
  });

  test('"registered before" is read back: the same statement is a success', async () => {
    sefin.fates = ['lost_after', { status: 404, body: '{"tipoAmbiente":2}' }];
    const row = await settled(await confirm());
    assert.deepEqual(sefin.exchanges, ['POST 203202', 'GET 203202', 'POST 203202', 'GET 203202']);
    assert.equal(row.status, 'registered');
    for (const code of ['E0802', 'E1833', 'E1835']) {
      sefin.exchanges.length = 0;
      key = nfseKey(++numbers);
      sefin.fates = [{ status: 400, body: `{"erro":{"codigo":"${code}"}}`, done: true }];
      assert.equal((await settled(await confirm())).status, 'registered', code);
      assert.deepEqual(sefin.exchanges, ['POST 203202', 'GET 203202'], code);
    }
  });

  test('another statement registered before is a rejection, with the first answer’s code', async () => {
    // By another program, and not distributed yet.
    sefin.registered.set(key, { type: '203206', xml: '' });
    const row = await settled(await confirm());
    assert.deepEqual([row.status, row.statusCode], ['rejected', 'E1833']);
    assert.deepEqual(sefin.exchanges, ['POST 203202', 'GET 203202', 'GET 203202']);
  });

  test('a copy of the register that lags behind: looked for once more, ten minutes later, and never sent a third time', async () => {
    const lagging: Fate = { status: 404, body: '{"tipoAmbiente":2}' };
    sefin.fates = ['lost_after', lagging, { status: 400, body: '{"erro":{"codigo":"E0802"}}' }, lagging];
    const row = await confirm();
    for (let i = 0; i < 4; i++) {
      w.clock.advance(3 * MINUTE);
      await sendDue(at, capture);
    }
    const { status, statusCode, nextAttemptAt } = await manifestation(at, row.id);
    assert.deepEqual([status, statusCode], ['pending', 'E0802']);
    const wait = (nextAttemptAt ?? 0) - (await w.clock.now());
    assert.ok(wait > 8 * MINUTE && wait <= 10 * MINUTE, `${wait} ms`);
    assert.equal((await settled(row)).status, 'registered');
    assert.deepEqual(sefin.exchanges, ['POST 203202', 'GET 203202', 'POST 203202', 'GET 203202', 'GET 203202']);
    assert.deepEqual([(await eventDocuments()).length, await told()], [1, 1]);
  });

  test('said to be registered and missing twice, with a failure in between: sent again only after a read-back', async () => {
    sefin.registered.set(key, { type: '203206', xml: '' });
    sefin.fates = [{ status: 400, body: '{"erro":{"codigo":"E1833"}}' }, { status: 404, body: '{}' }, 'lost_before'];
    const row = await settled(await confirm());
    assert.deepEqual([row.status, row.statusCode], ['rejected', 'E1833']);
    const [post, get] = ['POST 203202', 'GET 203202'];
    assert.deepEqual(sefin.exchanges, [post, get, get, get, post, get, get]);
  });
});

test('whatever gets lost, no request is sent before the one that may have arrived was read back as not there (property)', async () => {
  const fate: fc.Arbitrary<Fate> = fc.oneof(
    fc.constantFrom<Fate>('lost_after', 'lost_before', 'not_sent'),
    fc
      .tuple(
        fc.constantFrom(
          { status: 503, body: '<html></html>' },
          { status: 500, body: '{"erro":{"codigo":"E0813"}}' },
          { status: 404, body: '<html></html>' },
          { status: 201, body: '{"tipoAmbiente":2}' },
          { status: 400, body: '{"erro":{"codigo":"E1217"}}' },
          { status: 429, body: '' },
        ),
        fc.boolean(),
      )
      // What says that it was refused was not done.
      .map(
        ([answer, done]): Fate => (done && ![400, 429].includes(answer.status) ? { ...answer, done: true } : answer),
      ),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fate, { maxLength: 6 }), async (fates) => {
      key = nfseKey(++numbers);
      sefin.exchanges.length = 0;
      sefin.answers.length = 0;
      sefin.fates = [...fates];
      const row = await settled(await confirm());
      let inDoubt = false;
      sefin.exchanges.forEach((exchange, i) => {
        const answer = sefin.answers[i] ?? null;
        if (exchange.startsWith('POST')) {
          assert.ok(!inDoubt, `${sefin.exchanges}`);
          const certain = answer !== null && /^(400 .*E1217|429 |201 .*eventoXml)/.test(answer);
          inDoubt = !certain;
        } else if (answer?.startsWith('404 {')) {
          inDoubt = false;
        }
      });
      assert.equal(row.status, 'registered', `${sefin.exchanges} ${sefin.answers}`);
      const { rows } = await w.db.query('select from documents where key = $1', [key]);
      assert.equal(rows.length, 1);
      const { rows: events } = await w.db.query(
        'select from events e join documents d on d.id = e.document_id where d.key = $1',
        [key],
      );
      assert.equal(events.length, 1);
    }),
    { numRuns: 40 },
  );
});

describe('a process that dies while it sends', () => {
  const table: { readonly point: Failpoint; readonly exchanges: string[] }[] = [
    { point: 'after_record', exchanges: ['GET 203202', 'POST 203202'] },
    { point: 'before_send', exchanges: ['GET 203202', 'POST 203202'] },
    { point: 'after_send', exchanges: ['POST 203202', 'GET 203202'] },
    { point: 'after_archive', exchanges: ['POST 203202'] },
    { point: 'inside_transaction', exchanges: ['POST 203202'] },
    { point: 'after_commit', exchanges: ['POST 203202'] },
  ];
  for (const { point, exchanges } of table) {
    for (const successor of ['another attempt', 'another workflow'] as const) {
      test(`${point}, found by ${successor}: one event, one webhook`, async () => {
        const row = await confirm();
        const activity = new SendActivity(capture);
        await dies(activity.attempt({ ...deps, failpoint: dyingAt(point) }));
        if (successor === 'another workflow') w.clock.advance(5 * MINUTE);
        else await activity.attempt(deps);
        const { status } = await settled(row);
        assert.deepEqual([status, sefin.exchanges], ['registered', exchanges]);
        assert.deepEqual([(await eventDocuments()).length, await told()], [1, 1]);
      });
    }
  }

  test('an answer of 5xx that was stored is no more than it was', async () => {
    sefin.fates = [{ status: 500, body: '{"erro":{"codigo":"E0813"}}', done: true }];
    const row = await confirm();
    const activity = new SendActivity(capture);
    await dies(activity.attempt({ ...deps, failpoint: dyingAt('after_archive') }));
    await activity.attempt(deps);
    assert.equal((await settled(row)).status, 'registered');
    assert.deepEqual(sefin.exchanges, ['POST 203202', 'GET 203202']);
  });
});

test('the certificate’s turn is shared with distribution', async () => {
  await noteCame();
  await confirm();
  w.clock.advance(3_000);
  committed(await query(captures, capture));
  const early = sendDue(at, capture);
  await assert.rejects(early, (error: { type?: string }) => error.type === 'not_our_turn');
  assert.equal(await count(captures, 'documents', capture.companyId), 1);
});
