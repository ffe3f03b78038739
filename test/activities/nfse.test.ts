import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CaptureKey } from '../../src/model/words.js';
import { enableCapture } from '../../src/storage/capture-orders.js';
import { releaseHistory } from '../../src/storage/held-documents.js';
import { nfse, nfseEvent, nfseKey } from '../documents/nfse-samples.js';
import { cnpj } from '../documents/samples.js';
import { newCompany } from '../storage/support.js';
import { type AdnItem, ScriptedAdn } from './adn-government.js';
import { nsu } from './government.js';
import {
  alertsOf,
  committed,
  count,
  eventsOf,
  giveCertificate,
  HOUR,
  MINUTE,
  newCapture,
  query,
  refused,
  rowOf,
  run,
  world,
} from './support.js';

const adn = new ScriptedAdn();
const w = await world({ services: { nfse: adn.service } });

/** A capture of NFS-e and its own tax ID. */
async function capturing(
  options: Parameters<typeof newCapture>[1] = {},
): Promise<{ capture: CaptureKey; taxId: string }> {
  const capture = await newCapture(w, { documentType: 'nfse', ...options });
  const { rows } = await w.db.query<{ taxId: string }>('select tax_id as "taxId" from companies where id = $1', [
    capture.companyId,
  ]);
  adn.asked.length = 0;
  adn.box = [];
  return { capture, taxId: rows[0]?.taxId ?? '' };
}

const received = (number: number, taxId: string, more: Partial<Parameters<typeof nfse>[0]> = {}): AdnItem => ({
  nsu: number,
  xml: nfse({ key: nfseKey(number), taker: taxId, ...more }),
});

async function drain(capture: CaptureKey): Promise<void> {
  for (;;) {
    const { outcome } = committed(await query(w, capture));
    w.clock.advance(3_000);
    if (outcome !== 'documents') return;
  }
}

const documentsOf = async ({ companyId }: CaptureKey) =>
  (
    await w.db.query<{ nsu: string | null; kind: string; state: string; origin: string; suppressed: string | null }>(
      `select nsu::text, kind, state, origin, split_part(suppressed, ':', 1) as suppressed from documents where company_id = $1 order by nsu, id`,
      [companyId],
    )
  ).rows;
const gapsOf = async ({ companyId }: CaptureKey) =>
  (
    await w.db.query<{ gap: string }>(
      `select from_nsu || '-' || to_nsu || ' ' || status as gap from gaps where company_id = $1 order by from_nsu`,
      [companyId],
    )
  ).rows.map(({ gap }) => gap);

describe('a page of the ADN', () => {
  test('moves the cursor to its highest number and is followed by the next, until there is none', async () => {
    const { capture, taxId } = await capturing();
    adn.pageSize = 2;
    adn.box = [5, 6, 9].map((n) => received(n, taxId));
    await drain(capture);
    adn.pageSize = 50;
    assert.deepEqual(adn.asks, [0, 6, 9]);
    const { state } = await rowOf(w, capture);
    assert.deepEqual([state.ultNsu, state.phase, state.lastAnswer?.code], [nsu(9), 'waiting', 'E2220']);
    assert.deepEqual(await gapsOf(capture), ['1-4 before_onboarding', '7-8 pending']);
    assert.deepEqual(
      await eventsOf(w, capture.companyId),
      Array(3).fill('service_invoice_inbound/issued_successfully'),
    );
  });

  test('one document that is broken is a failed item; the page is committed', async () => {
    const { capture } = await capturing();
    adn.next = {
      status: 200,
      body: JSON.stringify({
        StatusProcessamento: 'DOCUMENTOS_LOCALIZADOS',
        TipoAmbiente: 'HOMOLOGACAO',
        LoteDFe: [{ NSU: 1, ArquivoXml: null }, { NSU: 2, ArquivoXml: 'H4sIAAAAAAAA' }, { NSU: 3 }],
      }),
    };
    assert.equal(committed(await query(w, capture)).documents, 0);
    assert.equal(await count(w, 'failed_items', capture.companyId), 3);
    assert.equal((await rowOf(w, capture)).state.ultNsu, nsu(3));
  });

  test('from another environment nothing is stored', async () => {
    const { capture } = await capturing();
    adn.next = {
      status: 200,
      body: '{"StatusProcessamento":"DOCUMENTOS_LOCALIZADOS","TipoAmbiente":"PRODUCAO","LoteDFe":[{"NSU":1}]}',
    };
    assert.equal(committed(await query(w, capture)).outcome, 'unreadable');
    assert.equal((await rowOf(w, capture)).state.ultNsu, nsu(0));
  });
});

describe('pacing', () => {
  /** A capture of NFS-e of another branch of the root that a tax ID has. */
  async function branchOf(taxId: string): Promise<CaptureKey> {
    const root = taxId.slice(0, 8);
    const branch = await newCompany(w.db, { taxId: cnpj(`${root}0777`) });
    const { rows } = await w.db.query<{ ok: boolean }>('select root = $2 as ok from companies where id = $1', [
      branch.id,
      root,
    ]);
    assert.equal(rows[0]?.ok, true);
    const capture = { companyId: branch.id, documentType: 'nfse', environment: 'homologation' } as const;
    const now = await w.clock.now();
    await w.db.transaction((tx) => enableCapture(tx, { capture, options: () => ({}), now }));
    return capture;
  }
  test('branches share their root’s certificate and its turns', async () => {
    const first = await capturing();
    const second = await branchOf(first.taxId);
    committed(await query(w, first.capture));
    const { refusal } = refused(await query(w, second));
    assert.equal(refusal.reason, 'too_early');
    w.clock.advance(2_000);
    committed(await query(w, second));
  });

  test('one certificate that was stored for each branch has one turn, also when it is stored again', async () => {
    const first = await capturing();
    const second = await branchOf(first.taxId);
    const thumbprint = 'one for both';
    await giveCertificate(w, first.capture.companyId, { thumbprint });
    await giveCertificate(w, second.companyId, { thumbprint });

    committed(await query(w, first.capture));
    assert.equal(refused(await query(w, second)).refusal.reason, 'too_early');
    await giveCertificate(w, second.companyId, { thumbprint });
    await giveCertificate(w, first.capture.companyId, { thumbprint });
    assert.equal(
      refused(await query(w, second)).refusal.reason,
      'too_early',
      'its rows are new, the certificate is not',
    );
    w.clock.advance(2_000);
    committed(await query(w, second));
  });

  test('another certificate of the root has turns of its own', async () => {
    const first = await capturing();
    const second = await branchOf(first.taxId);
    await giveCertificate(w, second.companyId);
    committed(await query(w, first.capture));
    committed(await query(w, second));
  });

  test('of two that want the same turn at once, one gets it', async () => {
    const first = await capturing();
    const second = await branchOf(first.taxId);
    const thumbprint = 'wanted by two';
    await giveCertificate(w, first.capture.companyId, { thumbprint });
    await giveCertificate(w, second.companyId, { thumbprint });
    for (let round = 0; round < 5; round += 1) {
      const before = await w.clock.now();
      const results = await Promise.all([query(w, first.capture), query(w, second)]);
      const called = results.filter(({ kind }) => kind === 'committed').length;
      // On a slow machine the second may come in the turn after.
      assert.ok(called === 1 || (await w.clock.now()) - before >= 2_000, `${called} calls in one turn`);
      w.clock.advance(2 * HOUR);
    }
  });
});

describe('whose notes are told of', () => {
  const kinds = async (capture: CaptureKey) => (await documentsOf(capture)).map(({ suppressed }) => suppressed);

  test('issued ones only when wanted; strangers’ never, with the endings of its parties', async () => {
    const { capture, taxId } = await capturing();
    adn.box = [
      received(1, taxId),
      { nsu: 2, xml: nfse({ key: nfseKey(2), provider: taxId }) },
      { nsu: 3, xml: nfse({ key: nfseKey(3) }) },
      { nsu: 4, xml: nfse({ key: nfseKey(4), provider: taxId, taker: taxId }) },
    ];
    await drain(capture);
    assert.deepEqual(await kinds(capture), [null, 'issued_not_captured', 'not_a_party', null]);
    assert.equal((await eventsOf(w, capture.companyId)).length, 2);

    const wanting = await capturing({ options: { captureIssued: true } });
    adn.box = [{ nsu: 1, xml: nfse({ key: nfseKey(1), provider: wanting.taxId }) }];
    await drain(wanting.capture);
    assert.deepEqual(await eventsOf(w, wanting.capture.companyId), ['service_invoice_inbound/outbound_successfully']);
  });

  test('switched on, captureIssued counts for later documents only', async () => {
    const { capture, taxId } = await capturing();
    adn.box = [{ nsu: 1, xml: nfse({ key: nfseKey(1), provider: taxId }) }];
    await drain(capture);
    const now = await w.clock.now();
    await w.db.transaction((tx) => enableCapture(tx, { capture, options: () => ({ captureIssued: true }), now }));
    w.clock.advance(HOUR);
    adn.box.push({ nsu: 2, xml: nfse({ key: nfseKey(2), provider: taxId }) });
    await drain(capture);
    assert.deepEqual(await kinds(capture), ['issued_not_captured', null]);
    assert.deepEqual(await eventsOf(w, capture.companyId), ['service_invoice_inbound/outbound_successfully']);
  });

  test('events as their note, in any order', async () => {
    const { capture, taxId } = await capturing();
    adn.box = [
      { nsu: 1, xml: nfseEvent({ key: nfseKey(3) }) },
      { nsu: 2, xml: nfse({ key: nfseKey(2), provider: taxId }) },
      received(3, taxId),
      { nsu: 4, xml: nfseEvent({ key: nfseKey(2) }) },
    ];
    adn.pageSize = 1;
    await drain(capture);
    adn.pageSize = 50;
    assert.deepEqual(
      (await documentsOf(capture)).map(({ state, suppressed }) => [state, suppressed]),
      [
        ['cancelled', null],
        ['cancelled', 'issued_not_captured'],
        ['cancelled', null],
        ['cancelled', 'issued_not_captured'],
      ],
    );
    assert.deepEqual(await eventsOf(w, capture.companyId), [
      'service_invoice_inbound/issued_successfully',
      'service_invoice_inbound/event_raised_successfully',
    ]);
  });

  test('before the cutoff by the note’s own day; released in order, once', async () => {
    const { capture, taxId } = await capturing({ options: { cutoffDate: '2026-09-01' } });
    adn.box = [
      received(1, taxId, { issuedAt: '2026-08-31T23:30:00-03:00' }),
      received(2, taxId, { issuedAt: '2026-09-01T00:30:00-03:00' }),
      // Already September in Brasília, still August where it was issued.
      received(3, taxId, { issuedAt: '2026-08-31T23:30:00-04:00' }),
      { nsu: 4, xml: nfseEvent({ key: nfseKey(1) }) },
    ];
    await drain(capture);
    assert.deepEqual(await kinds(capture), ['before_cutoff', null, 'before_cutoff', 'before_cutoff']);
    const before = await eventsOf(w, capture.companyId);
    assert.equal(before.length, 1);

    const now = await w.clock.now();
    assert.equal(await w.db.transaction((tx) => releaseHistory(tx, capture, now)), 3);
    const { rows: waiting } = await w.db.query<{ nsu: string }>(
      `select d.nsu::text from held_documents h join documents d on d.id = h.document_id
       where h.company_id = $1 order by h.release_at`,
      [capture.companyId],
    );
    assert.deepEqual(
      waiting.map(({ nsu: number }) => number),
      ['1', '3', '4'],
      'however many there are, the oldest are taken first',
    );
    w.clock.advance(1_000);
    await run(w.activities.housekeeping.releaseHeld);
    await run(w.activities.housekeeping.releaseHeld);
    assert.deepEqual((await eventsOf(w, capture.companyId)).slice(1), [
      'service_invoice_inbound/issued_successfully',
      'service_invoice_inbound/issued_successfully',
      'service_invoice_inbound/event_raised_successfully',
    ]);
    assert.deepEqual(await kinds(capture), [null, null, null, null]);
  });

  test('a block that is lifted leaves the note valid', async () => {
    const { capture, taxId } = await capturing();
    const event = (n: number, type: string): AdnItem => ({
      nsu: n,
      xml: nfseEvent({ key: nfseKey(1), type, sequence: n }),
    });
    adn.box = [received(1, taxId), event(2, '305102')];
    await drain(capture);
    assert.equal((await documentsOf(capture))[0]?.state, 'blocked');
    w.clock.advance(HOUR);
    adn.box.push(event(3, '305103'));
    await drain(capture);
    assert.deepEqual(
      (await documentsOf(capture)).map(({ state }) => state),
      ['authorized', 'authorized', 'authorized'],
    );
  });
});

describe('the second pass', () => {
  test('in the night, from before the first gap to the cursor; what is missing then is no gap again', async () => {
    const { capture, taxId } = await capturing();
    adn.box = [1, 2, 5, 8].map((n) => received(n, taxId));
    await drain(capture);
    assert.deepEqual(await gapsOf(capture), ['3-4 pending', '6-7 pending']);
    const { state: before } = await rowOf(w, capture);
    assert.equal((await rowOf(w, capture)).recoveryAt, null, 'no number is asked for by itself');

    // The numbers come to light later; others never do.
    adn.box.push(received(4, taxId), received(9, taxId));
    adn.asked.length = 0;
    w.clock.advance(25 * HOUR);
    adn.pageSize = 2;
    const first = committed(await query(w, capture));
    assert.deepEqual(
      [first.outcome, first.snapshot.state.ultNsu, (await rowOf(w, capture)).passNsu],
      ['documents', nsu(8), nsu(5)],
    );
    w.clock.advance(3_000);
    committed(await query(w, capture));
    adn.pageSize = 50;
    const after = await rowOf(w, capture);
    assert.deepEqual([adn.asks, after.state.ultNsu, after.passNsu], [[2, 5], before.ultNsu, null]);
    assert.deepEqual(await gapsOf(capture), ['3-4 recovered', '6-7 nonexistent']);
    const came = (await documentsOf(capture)).find(({ nsu: n }) => n === '4');
    assert.deepEqual([came?.origin, came?.suppressed], ['recovery', null]);
    assert.equal(
      (await documentsOf(capture)).some(({ nsu: n }) => n === '9'),
      false,
      'that comes in its sequence',
    );

    w.clock.advance(3_000);
    await drain(capture);
    assert.deepEqual(adn.asks.slice(2), [8, 9]);
    adn.asked.length = 0;
    w.clock.advance(50 * HOUR);
    await drain(capture);
    assert.deepEqual(adn.asks, [9], 'a quiet company is not walked every night');
  });

  test('goes on where it stood after a failure; the cadence is the same', async () => {
    const { capture, taxId } = await capturing();
    adn.box = [1, 3].map((n) => received(n, taxId));
    await drain(capture);
    w.clock.advance(25 * HOUR);
    adn.next = 'unknown';
    const failed = committed(await query(w, capture));
    assert.deepEqual(
      [failed.outcome, failed.snapshot.state.phase, failed.snapshot.state.failures],
      ['unknown', 'backing-off', 1],
    );
    assert.equal((await rowOf(w, capture)).passNsu, nsu(1));
    w.clock.advance(5 * MINUTE);
    committed(await query(w, capture));
    assert.deepEqual([(await rowOf(w, capture)).passNsu, await gapsOf(capture)], [null, ['2-2 nonexistent']]);
  });

  test('a fresh copy mends a failed item', async () => {
    const { capture, taxId } = await capturing();
    adn.next = {
      status: 200,
      body: '{"StatusProcessamento":"DOCUMENTOS_LOCALIZADOS","TipoAmbiente":"HOMOLOGACAO","LoteDFe":[{"NSU":1,"ArquivoXml":null}]}',
    };
    committed(await query(w, capture));
    assert.deepEqual([await gapsOf(capture), await alertsOf(w, capture.companyId)], [['1-1 pending'], ['item_failed']]);
    adn.box = [received(1, taxId)];
    w.clock.advance(25 * HOUR);
    committed(await query(w, capture));
    assert.deepEqual([await gapsOf(capture), await alertsOf(w, capture.companyId)], [['1-1 recovered'], []]);
    assert.equal((await documentsOf(capture)).length, 1);
  });
});

test('a certificate that the service refuses ten times disables; resuming begins anew', async () => {
  const { capture } = await capturing();
  for (let i = 0; i < 10; i++) {
    adn.next = { status: 496, body: '<html>SSL Certificate Required</html>' };
    committed(await query(w, capture));
    w.clock.advance(61 * MINUTE);
  }
  assert.deepEqual(
    [(await rowOf(w, capture)).phase, await alertsOf(w, capture.companyId)],
    ['disabled', ['capture_disabled']],
  );
  assert.equal(refused(await query(w, capture)).refusal.reason, 'disabled');
  const resumed = await run(w.activities.captureRow.resumeCapture, { capture });
  assert.equal(resumed.state.certificateRefusals, 0);
  assert.equal(committed(await query(w, capture)).outcome, 'none');
  assert.deepEqual(await alertsOf(w, capture.companyId), []);
});

test('without a certificate it looks again within the hour, and stays active', async () => {
  const { capture } = await capturing({ certificate: false });
  const { refusal, snapshot } = refused(await query(w, capture));
  assert.ok(refusal.reason === 'certificate' && refusal.until !== null);
  assert.equal(Math.round((refusal.until - (await w.clock.now())) / MINUTE), 60);
  assert.deepEqual([snapshot.enabled, snapshot.state.phase], [true, 'certificate']);
  await giveCertificate(w, capture.companyId);
  assert.equal(committed(await query(w, capture)).outcome, 'none');
});

test('calls that an open breaker held back are nobody’s failure, and no outage', async () => {
  // Nobody was answered lately.
  w.clock.advance(HOUR);
  for (let i = 0; i < 6; i++) {
    const { capture } = await capturing();
    adn.next = 'held_back';
    const { outcome, snapshot } = committed(await query(w, capture));
    assert.deepEqual([outcome, snapshot.state.failures, snapshot.state.phase], ['not_sent', 0, 'backing-off']);
  }
  const { rows } = await w.db.query('select from services where paused_until is not null');
  assert.equal(rows.length, 0);
});

test('where all are held back the service is left alone for a minute by everybody, until a probe is answered', async () => {
  const paused = async () => {
    const { rows } = await w.db.query<{ service: string; until: number }>(
      'select service, paused_until as until from services where paused_until is not null',
    );
    return rows;
  };
  const alerts = async () =>
    (await w.db.query(`select from alerts where code = 'service_outage' and closed_at is null`)).rows.length;
  const [first, second, third] = [await capturing(), await capturing(), await capturing()];
  adn.next = 'all_held_back';
  const held = committed(await query(w, first.capture));
  assert.deepEqual([held.snapshot.state.failures, held.snapshot.state.phase], [0, 'backing-off']);
  const [row] = await paused();
  assert.deepEqual([row?.service, await alerts()], ['nfse-distribution', 1]);
  const asked = adn.asked.length;
  const { refusal } = refused(await query(w, second.capture));
  assert.ok(
    refusal.reason === 'paused' && refusal.until === row?.until && refusal.spread === MINUTE,
    `${refusal.reason}`,
  );
  assert.equal(adn.asked.length, asked);

  // A probe in a process that asks nobody leaves it to a later one.
  w.clock.advance(MINUTE + 1_000);
  adn.next = 'all_held_back';
  assert.equal(committed(await query(w, second.capture)).outcome, 'not_sent');
  assert.equal(refused(await query(w, third.capture)).refusal.reason, 'paused');
  w.clock.advance(MINUTE + 1_000);
  assert.equal(committed(await query(w, third.capture)).outcome, 'none');
  assert.deepEqual([await paused(), await alerts()], [[], 0]);
  assert.equal((await rowOf(w, second.capture)).state.failures, 0);
});
