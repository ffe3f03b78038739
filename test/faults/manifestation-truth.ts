import assert from 'node:assert/strict';
import { MANIFESTATION_RULES } from '../../src/model/manifestation.js';
import type { ManifestationRow } from '../../src/storage/manifestations.js';
import { listManifestations } from '../../src/storage/manifestations.js';
import type { Scene } from './capture-scene.js';

/** What must be so of a company's manifestations whatever happened, by what left for the government and what it registered. */

const MINUTE = 60_000;
const MOST_EVENTS = 20;

/** Statuses that bring a document, besides 573 of an event whose own answer got lost. */
const WITH_DOCUMENT: ReadonlySet<string | null> = new Set(['135', '136', '155']);

/** After every command. */
export async function assertEventsInOrder(scene: Scene): Promise<void> {
  const now = await scene.now();
  // Before the rows: an event is signed in its row before it leaves.
  const requests = [...scene.government.requests];
  const rows = await manifestationsOf(scene);
  assertWire(requests, rows);
  for (const row of rows) {
    const what = `${row.type} ${row.sequence} ${row.status}`;
    const isPending = row.status === 'pending';
    assert.deepEqual([row.nextAttemptAt !== null, row.settledAt === null], [isPending, isPending], what);
    // A capture that is blocked, a queue that is out of service: nothing of it holds up what is due.
    const late = row.nextAttemptAt === null ? 0 : now - row.nextAttemptAt;
    assert.ok(late < 5 * MINUTE, `${what} has been due for ${Math.round(late / MINUTE)} min`);
  }
}

/**
 * Whatever left is what a request was signed as, to the letter and however often: one body for each request, and only a rejected one can be
 * followed by another of the same Id. At most twenty in an envelope, and no sequence that the norm does not know.
 */
function assertWire(requests: Scene['government']['requests'], rows: readonly ManifestationRow[]): void {
  const signed = new Set(rows.map((row) => row.signed?.toString()));
  for (const request of requests) {
    assert.ok(request.length >= 1 && request.length <= MOST_EVENTS, `${request.length} events in a request`);
    for (const event of request) {
      const id = /Id="(ID\w{52})"/.exec(event)?.[1] ?? '';
      assert.ok(signed.has(event), `${id.slice(0, 8)} left with another body than the one that is kept`);
      const times = MANIFESTATION_RULES.get(id.slice(2, 8))?.times ?? 0;
      assert.ok(Number(id.slice(52)) <= times, `nSeqEvento ${id.slice(52)} of at most ${times}`);
    }
  }
  const standing = rows.filter(({ status }) => status === 'pending' || status === 'registered').map(idOf);
  assert.equal(new Set(standing).size, standing.length, 'two requests for one event');
}

/** In the end, when everything works and time has passed: all is settled, and we and the government say the same. */
export async function assertSettled(scene: Scene, awarenessOn: readonly Span[]): Promise<void> {
  const rows = await manifestationsOf(scene);
  const registered = new Map(
    scene.government.events
      .list()
      .filter(({ author }) => author === scene.taxId)
      .map((event) => [event.id, event]),
  );
  // What was rejected can be asked for anew, as the same event.
  const claimed = new Set(rows.filter(({ status }) => status === 'registered').map(idOf));
  for (const row of rows) {
    const there = registered.has(idOf(row));
    assert.notEqual(row.status, 'pending');
    if (row.status === 'rejected' && OF_THE_ENVELOPE.has(row.statusCode))
      assert.equal(row.together, 1, 'rejected for what may be the fault of another event');
    if (row.status === 'registered') assert.ok(there, `${row.type} (${row.statusCode}) is not registered there`);
    if (row.status === 'rejected' && !claimed.has(idOf(row)) && !mayHaveChanged(row))
      assert.ok(!there, `${row.type} (${row.statusCode}) is registered there`);
  }
  const known = new Set(rows.map(idOf));
  assert.deepEqual(
    [...registered.keys()].filter((id) => !known.has(id)),
    [],
    'registered and not known to us',
  );
  await assertDocuments(scene, rows);
  await assertSummaries(scene, awarenessOn);
}

const OF_THE_ENVELOPE: ReadonlySet<string | null> = new Set(['215', '225']);

/** Registered with its answer lost; before it was sent again the note was cancelled or its time over, or a script refused its form. */
const mayHaveChanged = ({ attempts, statusCode }: ManifestationRow) =>
  attempts > 1 && ['650', '651', '596', '215', '225'].includes(statusCode ?? '');

/** Every registered event is one document of its own and one notification; one that is asked for anew is the same event. */
async function assertDocuments({ database, capture }: Scene, rows: readonly ManifestationRow[]): Promise<void> {
  const { rows: documents } = await database.query<{ id: string; protocol: string; told: number }>(
    `select id, event ->> 'protocol' as protocol, (select count(*)::int from events e where e.document_id = d.id) as told
     from documents d where company_id = $1 and origin = 'manifestation'`,
    [capture.companyId],
  );
  const registered = rows.filter(({ status }) => status === 'registered');
  const rejected = new Set(rows.filter(({ status }) => status === 'rejected').map(idOf));
  for (const row of registered) {
    const hasDocument = WITH_DOCUMENT.has(row.statusCode) || row.answerLost;
    assert.equal(row.documentId !== null, hasDocument, `${row.type} (${row.statusCode})`);
    // There is no other program here that says anything: what was there before is ours.
    if (!hasDocument) assert.ok(rejected.has(idOf(row)), `${row.type} (${row.statusCode}) has no document`);
  }
  const withDocument = registered.filter(({ documentId }) => documentId !== null);
  const expected = withDocument.map(({ documentId, protocol }) => `${documentId} ${protocol} told 1 times`);
  const found = documents.map(({ id, protocol, told }) => `${id} ${protocol} told ${told} times`);
  assert.deepEqual(found.sort(), expected.sort());
}

/** From when until when automatic Awareness was on. Milliseconds. */
export interface Span {
  readonly from: number;
  to: number;
}

/**
 * A summary that came while automatic Awareness was on had one, or says why not. And every whole note is known to its summary.
 */
async function assertSummaries({ database, capture, ...scene }: Scene, awarenessOn: readonly Span[]): Promise<void> {
  const { rows } = await database.query<
    Record<'key' | 'reason' | 'fullXml', string> & Record<'asked' | 'whole', boolean> & { capturedAt: number }
  >(
    `select d.key, coalesce(awareness_skipped, '') as reason, full_xml as "fullXml", captured_at as "capturedAt",
       exists (select from manifestations m where m.company_id = $1 and m.key = d.key and m.type = '210210') as asked,
       exists (select from documents w where w.company_id = $1 and w.key = d.key and w.kind = 'procNFe') as whole
     from documents d where company_id = $1 and kind = 'resNFe'`,
    [capture.companyId],
  );
  for (const { key, reason, fullXml, asked, whole, capturedAt } of rows) {
    if (whole) assert.equal(fullXml, 'present');
    const wasOn = awarenessOn.some(({ from, to }) => capturedAt >= from && capturedAt < to);
    if (wasOn) assert.ok(asked || reason !== '', 'a summary without Awareness, and without a reason');
    const released = scene.government.events
      .about('homologation', scene.taxId, key)
      .some(({ type }) => RELEASES.has(type));
    if (released) assert.ok(whole, 'a released note that did not come');
  }
}
const RELEASES: ReadonlySet<string> = new Set(['210200', '210210', '210240']);

const idOf = ({ type, key, sequence }: ManifestationRow) => `ID${type}${key}${String(sequence).padStart(2, '0')}`;

async function manifestationsOf({ database, capture }: Scene): Promise<ManifestationRow[]> {
  const { companyId } = capture;
  const rows: ManifestationRow[] = [];
  let cursor: string | undefined;
  do {
    const page = await listManifestations(
      database,
      { companyId },
      { limit: 500, ...(cursor !== undefined && { cursor }) },
    );
    rows.push(...page.rows);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return rows;
}
