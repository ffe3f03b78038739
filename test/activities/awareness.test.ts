import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CaptureKey, CaptureOptions } from '../../src/model/words.js';
import { type DocumentRow, listDocuments } from '../../src/storage/documents.js';
import { event, key, note, summary } from '../documents/samples.js';
import { documents, type Item } from './government.js';
import { eventWorld, manifestation, manifestationsOf, requested, sendDue } from './manifestation-support.js';
import { alertsOf, committed, eventsOf, HOUR, MINUTE, newCapture, query, world } from './support.js';

const woken: string[] = [];
const w = await world({ wakeManifestations: ({ companyId }) => void woken.push(companyId) });
const e = await eventWorld(w);
e.events.script = (ids) => ids.map((id) => ({ id, cStat: '135' }));

const DAY = 24 * HOUR;
const ON: CaptureOptions = { autoAwareness: { enabled: true, minutesToWait: 30 } };
let notes = 20_000;
let nsus = 0;

interface SummaryOptions {
  readonly noteKey?: string;
  readonly situation?: string;
  readonly issuer?: string;
  /** Days before now. Default 1. */
  readonly age?: number;
}

async function resNFe({
  noteKey = key(++notes),
  situation = '1',
  issuer,
  age = 1,
}: SummaryOptions = {}): Promise<Item> {
  const authorized = new Date((await w.clock.now()) - age * DAY).toISOString().slice(0, 19);
  const xml = summary({ key: noteKey, situation, ...(issuer && { issuer }) }).replace(
    /<dhRecbto>[^<]*/,
    `<dhRecbto>${authorized}Z`,
  );
  return { nsu: ++nsus, xml };
}
const keyOf = ({ xml }: Item) => /<chNFe>(\w+)/.exec(xml ?? '')?.[1] ?? '';

/** One page with these documents, and more to come, so that the next may be asked for at once. */
async function page(capture: CaptureKey, ...items: Item[]): Promise<void> {
  const last = Math.max(...items.map(({ nsu }) => nsu ?? 0));
  w.government.answers(documents(items, last, last + 1_000));
  assert.equal(committed(await query(w, capture)).documents, items.length);
}

async function summariesOf({ companyId }: CaptureKey): Promise<DocumentRow[]> {
  const { rows } = await listDocuments(w.db, { companyId, kind: 'resNFe' }, { limit: 200 });
  return rows.toReversed();
}
async function reasons(capture: CaptureKey): Promise<(string | null)[]> {
  return (await summariesOf(capture)).map(({ awarenessSkipped }) => awarenessSkipped?.split(':')[0] ?? null);
}

describe('each summary that comes', () => {
  test('schedules one Awareness, so many minutes later, in the transaction of its page', async () => {
    const capture = await newCapture(w, { options: ON });
    const first = await resNFe();
    const second = await resNFe();
    const now = await w.clock.now();
    await page(capture, first, second);
    const rows = await manifestationsOf(e, capture);
    assert.deepEqual(
      rows.map((row) => [row.key, row.type, row.sequence, row.origin, row.status]).sort(),
      [first, second].map((item) => [keyOf(item), '210210', 1, 'awareness', 'pending']).sort(),
    );
    for (const { nextAttemptAt, deadline } of rows) {
      assert.ok(Math.abs((nextAttemptAt ?? 0) - now - 30 * MINUTE) < MINUTE);
      assert.ok(Math.abs((deadline ?? 0) - now - 9 * DAY) < MINUTE);
    }
    assert.deepEqual(await reasons(capture), [null, null]);
    assert.deepEqual(woken, [capture.companyId], 'one wake a page');
    assert.equal((await sendDue(e, capture)).sent, 0, 'not before its time');
    w.clock.advance(30 * MINUTE);
    assert.equal((await sendDue(e, capture)).registered, 2, 'together');
    assert.deepEqual(
      (await eventsOf(w, capture.companyId)).filter((name) => name.startsWith('product_invoice_inbound/')),
      Array(2).fill('product_invoice_inbound/input_event_raised_successfully'),
    );
    assert.deepEqual(
      (await summariesOf(capture)).map(({ fullXml }) => fullXml),
      ['awaited', 'awaited'],
    );
  });

  test('or says why it does not', async () => {
    const capture = await newCapture(w, { options: ON });
    const { taxId } = await companyOf(capture);
    const cancelled = await resNFe();
    const whole = await resNFe();
    const items = [
      await resNFe({ issuer: `<CNPJ>${taxId}</CNPJ>` }),
      await resNFe({ situation: '2' }),
      await resNFe({ situation: '3' }),
      await resNFe({ age: 10.01 }),
      await resNFe({ age: 9.99 }),
      cancelled,
      { nsu: ++nsus, xml: event({ key: keyOf(cancelled), type: '110111' }), schema: 'procEventoNFe_v1.00.xsd' },
      { nsu: ++nsus, xml: note({ key: keyOf(whole) }), schema: 'procNFe_v4.00.xsd' },
      { ...whole, nsu: ++nsus },
    ];
    await page(capture, ...items);
    assert.deepEqual(await reasons(capture), [
      'own_document',
      'denied',
      'cancelled',
      'too_late',
      null,
      'cancelled',
      'full_document_present',
    ]);
    assert.equal((await manifestationsOf(e, capture)).length, 1);
  });

  test('does nothing while it is not asked for', async () => {
    for (const options of [{}, { autoAwareness: { enabled: false, minutesToWait: 5 } }]) {
      const capture = await newCapture(w, { options });
      await page(capture, await resNFe());
      assert.deepEqual([await reasons(capture), (await manifestationsOf(e, capture)).length], [[null], 0]);
    }
  });

  test('makes no second one of the same key, and is not told of again while it waits', async () => {
    const capture = await newCapture(w, { options: ON });
    const first = await resNFe();
    await page(capture, first);
    await page(capture, { ...first, nsu: ++nsus });
    assert.equal((await manifestationsOf(e, capture)).length, 1);
    const told = async () =>
      (await eventsOf(w, capture.companyId)).filter((name) => name.startsWith('product_invoice_inbound_summary'))
        .length;
    assert.equal(await told(), 1);
    assert.match((await summariesOf(capture))[1]?.suppressed ?? '', /^awareness_pending/);
    // That the note is cancelled is news.
    await page(capture, await resNFe({ noteKey: keyOf(first), situation: '3' }));
    assert.equal(await told(), 2);
    w.clock.advance(30 * MINUTE);
    await sendDue(e, capture);
    await page(capture, { ...first, nsu: ++nsus });
    assert.equal((await manifestationsOf(e, capture)).length, 0, 'withdrawn, and not scheduled again');
  });

  test('may be hurried by a person, and then no rule takes it back', async () => {
    const capture = await newCapture(w, { options: ON });
    const item = await resNFe();
    await page(capture, item);
    const asked = await requested(e, capture, keyOf(item), '210210');
    const [scheduled] = await manifestationsOf(e, capture);
    assert.equal(asked.id, scheduled?.id);
    await setOptions(capture, {});
    assert.equal((await sendDue(e, capture)).registered, 1);
  });
});

describe('when its time has come it is looked at again', () => {
  async function scheduled(): Promise<{ capture: CaptureKey; noteKey: string }> {
    const capture = await newCapture(w, { options: ON });
    const item = await resNFe({ age: 9.9 });
    await page(capture, item);
    return { capture, noteKey: keyOf(item) };
  }
  const cases: [
    name: string,
    change: (capture: CaptureKey, noteKey: string) => Promise<unknown>,
    reason: string | null,
  ][] = [
    ['nothing changed', async () => {}, null],
    [
      'switched off',
      (capture) => setOptions(capture, { autoAwareness: { enabled: false, minutesToWait: 30 } }),
      'switched_off',
    ],
    [
      'capture stopped',
      ({ companyId }) => w.db.query('update captures set enabled = false where company_id = $1', [companyId]),
      'switched_off',
    ],
    [
      'the whole note came',
      (capture, noteKey) => page(capture, { nsu: ++nsus, xml: note({ key: noteKey }), schema: 'procNFe_v4.00.xsd' }),
      'full_document_present',
    ],
    [
      'it was cancelled',
      (capture, noteKey) =>
        page(capture, { nsu: ++nsus, xml: event({ key: noteKey, type: '110111' }), schema: 'procEventoNFe_v1.00.xsd' }),
      'cancelled',
    ],
    [
      'a conclusive statement was registered',
      async (capture, noteKey) => {
        await requested(e, capture, noteKey, '210200');
        await sendDue(e, capture);
      },
      'manifested',
    ],
    ['the ten days are over', async () => w.clock.advance(DAY), 'too_late'],
    // It may be rejected.
    ['a conclusive statement is under way', (capture, noteKey) => requested(e, capture, noteKey, '210200'), null],
  ];
  for (const [name, change, reason] of cases) {
    test(`${name}: ${reason ?? 'sent'}`, async () => {
      const { capture, noteKey } = await scheduled();
      await change(capture, noteKey);
      const before = e.events.requests.length;
      w.clock.advance(31 * MINUTE);
      await sendDue(e, capture);
      const sent = e.events.requests.slice(before).flatMap(({ ids }) => ids);
      assert.equal(sent.includes(`ID210210${noteKey}01`), reason === null);
      assert.deepEqual(await reasons(capture), [reason]);
      const left = (await manifestationsOf(e, capture)).filter(({ type }) => type === '210210');
      assert.deepEqual(
        left.map(({ status }) => status),
        reason === null ? ['registered'] : [],
      );
    });
  }
});

describe('an event of ours that comes by distribution', () => {
  /** As the government writes it: other bytes than ours. */
  const distributed = (row: { key: string; type: string; protocol: string | null }, nsu = ++nsus): Item => ({
    nsu,
    schema: 'procEventoNFe_v1.00.xsd',
    xml: event({
      key: row.key,
      type: row.type,
      details: '<descEvento>Confirmacao da Operacao</descEvento>',
      result:
        `<retEvento versao="1.00"><infEvento><tpAmb>2</tpAmb><cOrgao>91</cOrgao><cStat>135</cStat><chNFe>${row.key}</chNFe><tpEvento>${row.type}</tpEvento>` +
        `<nSeqEvento>1</nSeqEvento><dhRegEvento>2026-11-30T09:00:02-03:00</dhRegEvento><nProt>${row.protocol}</nProt></infEvento></retEvento>`,
    }),
  });
  const events = async ({ companyId }: CaptureKey) =>
    (await listDocuments(w.db, { companyId, kind: 'procEventoNFe' }, { limit: 50 })).rows;

  test('is recognized: one document, which gets its number, and one webhook', async () => {
    const capture = await newCapture(w);
    const { id } = await requested(e, capture, key(++notes), '210200');
    await sendDue(e, capture);
    const row = await manifestation(e, id);
    const copy = distributed(row);
    await page(capture, copy);
    const [document, ...others] = await events(capture);
    assert.equal(others.length, 0);
    assert.deepEqual(
      [document?.id, document?.origin, Number(document?.nsu)],
      [row.documentId, 'manifestation', copy.nsu],
    );
    assert.equal((await eventsOf(w, capture.companyId)).length, 1);
    const gaps = 'select from gaps where company_id = $1 and $2 between from_nsu and to_nsu';
    assert.equal((await w.db.query(gaps, [capture.companyId, copy.nsu])).rowCount, 0);
    // The same number again: nothing new, and no contradiction of its bytes.
    await page(capture, copy, await resNFe());
    assert.equal((await events(capture)).length, 1);
    assert.deepEqual(await alertsOf(w, capture.companyId), []);
    // A further copy under another number is kept, because every number is accounted for, and nobody is told.
    await page(capture, distributed(row));
    const all = await events(capture);
    assert.equal(all.length, 2);
    assert.match(all.find(({ id: each }) => each !== row.documentId)?.suppressed ?? '', /^own_manifestation/);
    assert.equal((await eventsOf(w, capture.companyId)).length, 2, 'the event and the summary');
  });

  test('may come first: then what was registered is only linked to it', async () => {
    const capture = await newCapture(w);
    const row = await requested(e, capture, key(++notes), '210200');
    const protocol = `891${`ID210200${row.key}01`.slice(-14, -2)}`;
    await page(capture, distributed({ ...row, protocol }));
    await sendDue(e, capture);
    const [document, ...others] = await events(capture);
    assert.equal(others.length, 0);
    assert.equal((await manifestation(e, row.id)).documentId, document?.id);
    assert.deepEqual(await eventsOf(w, capture.companyId), ['product_invoice_inbound/input_event_raised_successfully']);
  });

  test('of other people about the same note is another event', async () => {
    const capture = await newCapture(w);
    const row = await requested(e, capture, key(++notes), '210200');
    await sendDue(e, capture);
    await page(capture, distributed({ ...row, protocol: '135260000009999' }));
    assert.equal((await events(capture)).length, 2);
    assert.equal((await eventsOf(w, capture.companyId)).length, 2);
  });
});

async function companyOf({ companyId }: CaptureKey): Promise<{ taxId: string }> {
  const { rows } = await w.db.query<{ taxId: string }>('select tax_id as "taxId" from companies where id = $1', [
    companyId,
  ]);
  return rows[0] ?? { taxId: '' };
}
async function setOptions({ companyId }: CaptureKey, options: CaptureOptions): Promise<void> {
  await w.db.query('update captures set options = $2 where company_id = $1', [companyId, JSON.stringify(options)]);
}
