import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CallObserver } from '../../src/activities/index.js';
import type { EventAnswer } from '../../src/government/event-answer.js';
import { getArchive } from '../../src/storage/archives.js';
import { listCalls } from '../../src/storage/call-log.js';
import { getDocument } from '../../src/storage/documents.js';
import { readXml } from '../../src/storage/read-xml.js';
import { key } from '../documents/samples.js';
import { verifySignature } from '../government/verify-signature.js';
import {
  answer,
  eventWorld,
  idOf,
  manifestation,
  requested,
  SendActivity,
  sendDue,
  silence,
  whole,
} from './manifestation-support.js';
import { count, eventsOf, giveCertificate, HOUR, MINUTE, newCapture } from './support.js';

const w = await eventWorld();
const DAY = 24 * HOUR;
const REASON = 'Mercadoria recusada no recebimento';

let notes = 1000;
const note = () => key(++notes);
const everything = (cStat: string) => (ids: readonly string[]) => ids.map((id) => ({ id, cStat }));

describe('events that are due', () => {
  test('are counted as calls of their service, once each, with the documents that they brought', async () => {
    const heard: string[] = [];
    const observer: CallObserver = {
      refused: () => assert.fail('nothing is refused here'),
      settled: ({ service }, { outcome, statusCode, documents, durationMs }) =>
        heard.push([service, outcome, statusCode, documents, durationMs === null ? 'later' : 'now'].join(' ')),
    };
    const capture = await newCapture(w);
    for (const type of ['210200', '210210']) await requested(w, capture, note(), type);
    w.events.script = (ids) => ids.map((id, i) => ({ id, cStat: i === 0 ? '135' : '573' }));
    const activity = new SendActivity(capture);
    await activity.attempt({ ...w.deps, observer });
    await activity.attempt({ ...w.deps, observer });
    await requested(w, capture, note(), '211128', { fields: { indAceitacao: '1' } });
    w.events.script = async () => silence('unknown');
    await new SendActivity(capture).attempt({ ...w.deps, observer });
    assert.deepEqual(heard, ['nfe-event documents 128 1 now', 'nfe-event-svrs unknown  0 now']);
  });

  test('go together, up to twenty, and the rest follows at once', async () => {
    const capture = await newCapture(w);
    const rows = [];
    for (let i = 0; i < 23; i++) rows.push(await requested(w, capture, note(), '210210'));
    w.events.script = everything('135');
    const before = w.events.requests.length;
    const first = await sendDue(w, capture);
    assert.deepEqual([first.sent, first.registered, first.pending, first.statusCode], [20, 20, 3, '128']);
    assert.ok(first.nextDueAt !== null && first.nextDueAt <= (await w.clock.now()));
    const second = await sendDue(w, capture);
    assert.deepEqual([second.sent, second.pending, second.nextDueAt], [3, 0, null]);
    assert.deepEqual(
      w.events.requests.slice(before).map(({ ids }) => ids.length),
      [20, 3],
    );
    assert.deepEqual(
      w.events.requests[before]?.ids,
      rows.slice(0, 20).map((row) => `ID210210${row.key}01`),
    );
    const nothing = await sendDue(w, capture);
    assert.deepEqual([nothing.sent, nothing.obstacle, nothing.pending], [0, null, 0]);
  });

  test('of the Tax Reform go to SVRS, one in a request, and do not mix with others', async () => {
    const capture = await newCapture(w);
    const fields = { indAceitacao: '1' };
    await requested(w, capture, note(), '211128', { fields });
    await requested(w, capture, note(), '210200');
    await requested(w, capture, note(), '212110', { fields });
    w.events.script = everything('135');
    const before = w.events.requests.length;
    while ((await sendDue(w, capture)).pending > 0);
    const requests = w.events.requests.slice(before);
    assert.deepEqual(
      requests.map(({ authority, ids }) => `${authority} ${ids.map((id) => id.slice(2, 8))}`),
      ['svrs 211128', 'an 210200', 'svrs 212110'],
    );
    assert.match(
      requests[0]?.events[0] ?? '',
      /<cOrgaoAutor>35<\/cOrgaoAutor><tpAutor>2<\/tpAutor><verAplic>Malote test</,
    );
  });

  test('are judged one by one, by key, type and sequence, in whatever order the answer names them', async () => {
    const capture = await newCapture(w);
    const rows = [];
    for (const type of ['210200', '210210', '210220', '210240', '210200']) {
      rows.push(await requested(w, capture, note(), type, type === '210240' ? { justification: REASON } : {}));
    }
    const statuses = ['135', '573', '155', '596', '136'];
    w.events.script = (ids) => answer(ids.map((id, i) => ({ id, cStat: statuses[i] ?? '' })).reverse());
    const result = await sendDue(w, capture);
    assert.deepEqual([result.sent, result.registered, result.rejected], [5, 4, 1]);
    const after = await Promise.all(rows.map(({ id }) => manifestation(w, id)));
    assert.deepEqual(
      after.map((row) => [row.status, row.statusCode, row.late, row.protocol !== null, row.documentId !== null]),
      [
        ['registered', '135', false, true, true],
        // There already: success, but whose event it is nobody knows.
        ['registered', '573', false, false, false],
        ['registered', '155', true, true, true],
        ['rejected', '596', false, false, false],
        ['registered', '136', false, true, true],
      ],
    );
    assert.equal(after[3]?.statusText, 'Texto do 596');
    assert.equal(after[0]?.registeredAt, Date.parse('2026-11-30T09:00:02-03:00'));
  });
});

describe('a registered event', () => {
  test('is stored as its own document from the signed bytes and the answer, told of once, and counted', async () => {
    const capture = await newCapture(w);
    const row = await requested(w, capture, note(), '210240', { justification: 'Não chegou & não veio' });
    w.events.script = everything('135');
    await sendDue(w, capture);
    const { documentId, protocol } = await manifestation(w, row.id);
    const document = await getDocument(w.db, documentId ?? '');
    assert.deepEqual(
      [document?.kind, document?.origin, document?.nsu, document?.key, document?.eventType, document?.eventSequence],
      ['procEventoNFe', 'manifestation', null, row.key, '210240', 1],
    );
    assert.deepEqual([document?.event?.protocol, document?.event?.statusCode], [protocol, '135']);
    assert.ok(document);
    const xml = Buffer.from(await readXml(w.deps.objectStore, document, (bytes) => bytes)).toString();
    const { digest, signature } = verifySignature(xml);
    assert.ok(digest && signature, 'the signature holds inside the document');
    assert.ok(xml.includes(w.events.requests.at(-1)?.events[0] ?? 'nothing'));
    assert.match(xml, /<retEvento xmlns="http:\/\/www.portalfiscal.inf.br\/nfe" versao="1.00"><infEvento><tpAmb>2/);
    assert.deepEqual(await eventsOf(w, capture.companyId), ['product_invoice_inbound/input_event_raised_successfully']);
    assert.equal(await count(w, 'usage_records', capture.companyId), 1);
    const archive = await getArchive(w.db, document.archiveId);
    assert.equal(archive?.size, Buffer.byteLength(xml));
  });

  test('leaves a row in the call log and the exact answer in an archive', async () => {
    const capture = await newCapture(w);
    await requested(w, capture, note(), '210200');
    w.events.script = everything('135');
    await sendDue(w, capture);
    const { rows } = await listCalls(w.db, capture, { limit: 10 });
    const [call] = rows;
    assert.deepEqual([rows.length, call?.kind, call?.statusCode, call?.documents], [1, 'nfeRecepcaoEvento', '128', 1]);
    const archive = await getArchive(w.db, call?.archiveId ?? '');
    const bytes = await w.deps.objectStore.get(archive?.objectKey ?? '');
    assert.match(bytes.toString(), /^<retEnvEvento/);
  });
});

describe('an event that was registered before (573)', () => {
  const told = ['product_invoice_inbound/input_event_raised_successfully'];
  const becomes = async (lost: () => EventAnswer) => {
    const capture = await newCapture(w);
    const row = await requested(w, capture, note(), '210200');
    w.events.script = lost;
    await sendDue(w, capture);
    w.clock.advance(HOUR);
    w.events.script = everything('573');
    assert.equal((await sendDue(w, capture)).registered, 1);
    return { capture, row: await manifestation(w, row.id) };
  };

  for (const [name, lost] of [
    ['no answer', () => silence('unknown')],
    ['an answer that cannot be read', () => whole('<html>502</html>', 502)],
    ['an answer about others only', () => answer([{ id: `ID210200${key(1)}01`, cStat: '135' }])],
  ] as const) {
    test(`after ${name}, it is ours: a document of the signed bytes and this answer, told of once, and counted`, async () => {
      const { capture, row } = await becomes(lost);
      assert.deepEqual([row.status, row.statusCode, row.protocol], ['registered', '573', null]);
      const document = await getDocument(w.db, row.documentId ?? '');
      assert.ok(document);
      assert.deepEqual(
        [document.kind, document.origin, document.key, document.eventType, document.event?.statusCode],
        ['procEventoNFe', 'manifestation', row.key, '210200', '573'],
      );
      assert.equal(document.event?.protocol, undefined);
      assert.match(document.warnings.join(), /^answer_lost: .*\(573\)/);
      const xml = Buffer.from(await readXml(w.deps.objectStore, document, (bytes) => bytes)).toString();
      assert.ok(xml.includes(row.signed?.toString() ?? 'nothing'));
      const { digest, signature } = verifySignature(xml);
      assert.ok(digest && signature);
      assert.deepEqual(await eventsOf(w, capture.companyId), told);
      assert.equal(await count(w, 'usage_records', capture.companyId), 1);
      await sendDue(w, capture);
      assert.deepEqual(await eventsOf(w, capture.companyId), told);
    });
  }

  for (const [name, refused] of [
    ['never left', () => silence('not_sent')],
    ['met a service that was shut down', () => answer([], '108')],
  ] as const) {
    test(`although ours ${name}, it is another program's: no document of ours, and nobody is told`, async () => {
      const { capture, row } = await becomes(refused);
      assert.deepEqual([row.status, row.statusCode, row.documentId], ['registered', '573', null]);
      assert.deepEqual(await eventsOf(w, capture.companyId), []);
      assert.equal(await count(w, 'documents', capture.companyId), 0);
    });
  }

  test('stays ours whatever the service says in between', async () => {
    const capture = await newCapture(w);
    const row = await requested(w, capture, note(), '210200');
    for (const script of [() => silence('unknown'), () => answer([], '108'), everything('656'), everything('573')]) {
      w.events.script = script;
      await sendDue(w, capture);
      w.clock.advance(2 * HOUR);
    }
    const { status, statusCode, documentId } = await manifestation(w, row.id);
    assert.deepEqual([status, statusCode, documentId !== null], ['registered', '573', true]);
  });
});

describe('a failure to communicate', () => {
  const failures: [name: string, script: () => ReturnType<typeof whole>][] = [
    ['nothing sent', () => silence('not_sent')],
    ['no answer', () => silence('unknown')],
    ['108', () => answer([], '108')],
    ['109', () => answer([], '109')],
    ['999', () => answer([], '999')],
    ['HTML', () => whole('<html>502</html>', 502)],
    ['a fault', () => whole('<e:Fault xmlns:e="x"><faultstring>busy</faultstring></e:Fault>', 500)],
    ['an empty answer', () => whole('')],
    ['128 that says nothing about it', () => answer([{ id: `ID210200${key(1)}01`, cStat: '135' }])],
  ];
  for (const [name, script] of failures) {
    test(`${name}: the same bytes again, after 1, 2, 4 minutes and so on, up to an hour`, async () => {
      const capture = await newCapture(w);
      const row = await requested(w, capture, note(), '210200');
      w.events.script = script;
      const waits = [];
      const bytes = new Set<string>();
      for (let i = 0; i < 8; i++) {
        const result = await sendDue(w, capture);
        assert.deepEqual([result.sent, result.pending, result.registered, result.rejected], [1, 1, 0, 0]);
        const { nextAttemptAt, signed, status, failures: inARow } = await manifestation(w, row.id);
        assert.deepEqual([status, inARow], ['pending', i + 1]);
        const wait = (nextAttemptAt ?? 0) - (await w.clock.now());
        waits.push(Math.round(wait / MINUTE));
        bytes.add(signed?.toString() ?? '');
        w.clock.advance(wait);
      }
      assert.deepEqual(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
      assert.equal(bytes.size, 1);
      w.events.script = everything('573');
      await sendDue(w, capture);
      assert.equal((await manifestation(w, row.id)).status, 'registered');
      assert.equal(new Set(w.events.requests.slice(-9).flatMap(({ events }) => events)).size, 1);
    });
  }

  test('goes on until the legal deadline, then the request is expired', async () => {
    const capture = await newCapture(w);
    const row = await requested(w, capture, note(), '210200');
    w.events.script = () => silence('unknown');
    await sendDue(w, capture);
    w.clock.advance(row.expiresAt - (await w.clock.now()) - 10 * MINUTE);
    await sendDue(w, capture);
    const { nextAttemptAt } = await manifestation(w, row.id);
    assert.ok(nextAttemptAt !== null && nextAttemptAt <= row.expiresAt);
    w.clock.advance(10 * MINUTE);
    const before = w.events.requests.length;
    const result = await sendDue(w, capture);
    assert.deepEqual([result.sent, result.pending], [0, 0]);
    assert.equal(w.events.requests.length, before);
    assert.equal((await manifestation(w, row.id)).status, 'expired');
  });

  test('656 waits an hour and a minute, for one event as for the request; a refused certificate an hour', async () => {
    for (const [script, minutes] of [
      [() => answer([], '656'), 61],
      [everything('656'), 61],
      [() => answer([], '283'), 60],
      [() => whole('<html>403</html>', 403), 60],
    ] as const) {
      const capture = await newCapture(w);
      const row = await requested(w, capture, note(), '210200');
      w.events.script = script;
      await sendDue(w, capture);
      const { status, nextAttemptAt } = await manifestation(w, row.id);
      assert.equal(status, 'pending');
      assert.equal(Math.round(((nextAttemptAt ?? 0) - (await w.clock.now())) / MINUTE), minutes);
    }
  });

  test('656 holds back whatever else is due there, also what is asked for later; other authorities go on', async () => {
    for (const script of [() => answer([], '656'), everything('656')]) {
      const capture = await newCapture(w);
      await requested(w, capture, note(), '210200');
      w.events.script = script;
      await sendDue(w, capture);
      const refusedAt = await w.clock.now();
      w.clock.advance(20 * MINUTE);
      w.events.script = everything('135');
      const before = w.events.requests.length;
      await requested(w, capture, note(), '210210');
      const held = await sendDue(w, capture);
      assert.deepEqual([held.sent, held.pending, w.events.requests.length], [0, 2, before]);
      assert.equal(Math.round(((held.nextDueAt ?? 0) - refusedAt) / MINUTE), 61);
      await requested(w, capture, note(), '211128', { fields: { indAceitacao: '1' } });
      assert.equal((await sendDue(w, capture)).registered, 1, 'SVRS has refused nothing');
      w.clock.advance(42 * MINUTE);
      assert.deepEqual((await sendDue(w, capture)).registered, 2);
    }
  });
});

describe('a request that is refused as a whole', () => {
  for (const cStat of ['215', '225', '402']) {
    test(`${cStat}: each event goes by itself, and only the one that is meant is rejected`, async () => {
      const capture = await newCapture(w);
      const rows = [];
      for (let i = 0; i < 4; i++) rows.push(await requested(w, capture, note(), '210210'));
      const bad = `ID210210${rows[2]?.key}01`;
      w.events.script = (ids) => (ids.includes(bad) ? answer([], cStat) : ids.map((id) => ({ id, cStat: '135' })));
      const before = w.events.requests.length;
      for (let i = 0; i < 5; i++) await sendDue(w, capture);
      assert.deepEqual(
        w.events.requests.slice(before).map(({ ids }) => ids.length),
        [4, 1, 1, 1, 1],
      );
      const after = await Promise.all(rows.map(({ id }) => manifestation(w, id)));
      assert.deepEqual(
        after.map(({ status }) => status),
        ['registered', 'registered', 'rejected', 'registered'],
      );
      assert.deepEqual([after[2]?.statusCode, after[2]?.statusText], [cStat, `Texto do lote ${cStat}`]);
    });
  }

  test('the third one without an answer is split too: an event may be the reason', async () => {
    const capture = await newCapture(w);
    for (let i = 0; i < 3; i++) await requested(w, capture, note(), '210210');
    w.events.script = (ids) => (ids.length > 1 ? silence('unknown') : ids.map((id) => ({ id, cStat: '135' })));
    const before = w.events.requests.length;
    for (let i = 0; i < 6; i++) {
      await sendDue(w, capture);
      w.clock.advance(4 * MINUTE);
    }
    assert.deepEqual(
      w.events.requests.slice(before).map(({ ids }) => ids.length),
      [3, 3, 3, 1, 1, 1],
    );
  });

  test('a service that is shut down is no reason to split', async () => {
    const capture = await newCapture(w);
    for (let i = 0; i < 3; i++) await requested(w, capture, note(), '210210');
    w.events.script = () => answer([], '108');
    const before = w.events.requests.length;
    for (let i = 0; i < 5; i++) {
      await sendDue(w, capture);
      w.clock.advance(HOUR);
    }
    assert.deepEqual(
      w.events.requests.slice(before).map(({ ids }) => ids.length),
      [3, 3, 3, 3, 3],
    );
  });

  test('an answer that names no event counts when there was only one', async () => {
    const nameless =
      '<retEnvEvento><cStat>128</cStat><xMotivo>Lote</xMotivo><retEvento><infEvento><cStat>491</cStat><xMotivo>tpEvento</xMotivo></infEvento></retEvento></retEnvEvento>';
    const capture = await newCapture(w);
    const row = await requested(w, capture, note(), '210210');
    w.events.script = () => whole(nameless);
    await sendDue(w, capture);
    const { status, statusCode } = await manifestation(w, row.id);
    assert.deepEqual([status, statusCode], ['rejected', '491']);
    const two = await newCapture(w);
    await requested(w, two, note(), '210210');
    await requested(w, two, note(), '210210');
    assert.equal((await sendDue(w, two)).pending, 2);
  });
});

describe('certificates', () => {
  test('what was signed anew is not what a lost answer was about: then 573 leaves no document', async () => {
    const capture = await newCapture(w, { certificate: false });
    const now = await w.clock.now();
    await giveCertificate(w, capture.companyId, { from: now - HOUR, to: now + HOUR });
    const row = await requested(w, capture, note(), '210200');
    w.events.script = () => silence('unknown');
    await sendDue(w, capture);
    w.clock.advance(2 * HOUR);
    await giveCertificate(w, capture.companyId);
    w.events.script = everything('573');
    await sendDue(w, capture);
    const { status, documentId } = await manifestation(w, row.id);
    assert.deepEqual([status, documentId], ['registered', null]);
    assert.deepEqual(await eventsOf(w, capture.companyId), []);
  });

  test('an event whose certificate has ended is signed again under the same Id', async () => {
    const capture = await newCapture(w, { certificate: false });
    const now = await w.clock.now();
    await giveCertificate(w, capture.companyId, { from: now - HOUR, to: now + HOUR });
    const row = await requested(w, capture, note(), '210200');
    w.events.script = () => silence('unknown');
    await sendDue(w, capture);
    const first = await manifestation(w, row.id);
    w.clock.advance(2 * HOUR);
    await giveCertificate(w, capture.companyId);
    w.useOther = true;
    try {
      w.events.script = everything('135');
      await sendDue(w, capture);
    } finally {
      w.useOther = false;
    }
    const second = await manifestation(w, row.id);
    assert.equal(second.status, 'registered');
    const [before, after] = [first.signed?.toString() ?? '', second.signed?.toString() ?? ''];
    assert.equal(idOf(after), idOf(before));
    assert.notEqual(after, before);
    assert.ok(verifySignature(after).signature);
  });

  test('without one nothing is sent; it goes at once when one is stored, and not after its time', async () => {
    const capture = await newCapture(w, { certificate: false });
    const row = await requested(w, capture, note(), '210200');
    w.events.script = everything('135');
    const waiting = await sendDue(w, capture);
    assert.deepEqual([waiting.sent, waiting.obstacle, waiting.pending], [0, 'certificate_missing', 1]);
    assert.equal(Math.round(((waiting.nextDueAt ?? 0) - (await w.clock.now())) / HOUR), 1);
    await giveCertificate(w, capture.companyId);
    assert.equal((await sendDue(w, capture)).registered, 1);
    assert.equal((await manifestation(w, row.id)).attempts, 1);
    const never = await newCapture(w, { certificate: false });
    const lost = await requested(w, never, note(), '210200');
    w.clock.advance(91 * DAY);
    await sendDue(w, never);
    assert.equal((await manifestation(w, lost.id)).status, 'expired');
  });
});

test('a company that is being erased says nothing any more', async () => {
  const capture = await newCapture(w);
  await requested(w, capture, note(), '210200');
  await w.db.query('update companies set deleting_at = now() where id = $1', [capture.companyId]);
  const before = w.events.requests.length;
  assert.equal((await sendDue(w, capture)).sent, 0);
  assert.equal(w.events.requests.length, before);
});
