import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decodeItem } from '../../src/documents/index.js';
import type { CaptureKey } from '../../src/model/words.js';
import { monthlyUsage, monthOfUse } from '../../src/storage/usage.js';
import { cte, cteEvent, cteKey, partyXml, sender } from '../documents/cte-samples.js';
import { event, key, note, summary } from '../documents/samples.js';
import { documents, type Item } from './government.js';
import { eventWorld, requested, sendDue } from './manifestation-support.js';
import { ask, one } from './point-support.js';
import { count, dies, dyingAt, HOUR, newCapture, nextActivity, query, run, world } from './support.js';

const w = await world();
const e = await eventWorld(w);
e.events.script = (ids) => ids.map((id) => ({ id, cStat: '135' }));

/** A document counts if and only if it was told of, and once; one that was suppressed does not. Gives how many count. */
async function exact({ companyId }: CaptureKey): Promise<number> {
  const { rows } = await w.db.query<{ kind: string; suppressed: string | null; told: number; used: number }>(
    `select d.kind, d.suppressed, (select count(*)::int from events where document_id = d.id) as told,
       (select count(*)::int from usage_records u where u.document_id = d.id and u.kind = d.kind and u.company_id = d.company_id) as used
     from documents d where company_id = $1`,
    [companyId],
  );
  for (const row of rows) {
    const due = row.suppressed === null ? 1 : 0;
    assert.deepEqual([row.told, row.used], [due, due], JSON.stringify(row));
  }
  const used = rows.reduce((sum, row) => sum + row.used, 0);
  assert.equal(await count(w, 'usage_records', companyId), used, 'nothing else counts');
  return used;
}

let notes = 7_000_000;
const summaryOf = (nsu: number): Item => ({ nsu, xml: summary({ key: key(++notes) }) });

describe('usage is exact', () => {
  test('for a page that is committed in pieces, and again', async () => {
    const capture = await newCapture(w);
    w.government.answers(documents([summaryOf(1), summaryOf(2), { nsu: 3, base64: 'no gzip' }], 3, 10));
    const activity = await nextActivity(w, capture);
    await dies(activity.attempt(w.process({ failpoint: dyingAt('inside_transaction') })));
    assert.equal(await exact(capture), 0);
    await dies(activity.attempt(w.process({ failpoint: dyingAt('after_commit') })));
    assert.equal(await exact(capture), 2);
    await activity.attempt(w.activities);
    assert.equal(await exact(capture), 2);
    const month = monthOfUse(await w.clock.now());
    const page = await monthlyUsage(w.db, { month, companyId: capture.companyId }, { limit: 9 });
    assert.deepEqual(page.rows, [
      { companyId: capture.companyId, documentType: 'nfe', documents: 2, kinds: { resNFe: 2 } },
    ]);
  });

  test('for an item that is decoded later', async () => {
    const capture = await newCapture(w);
    const older = w.process({ decodeItem: () => ({ ok: false, failure: 'internal', detail: 'not known yet' }) });
    w.government.answers(documents([summaryOf(1)], 1));
    await query(w, capture, older);
    assert.equal(await exact(capture), 0);
    w.clock.advance(HOUR);
    await run(w.process({ decodeItem }).housekeeping.decodeFailedItems);
    await run(w.process({ decodeItem }).housekeeping.decodeFailedItems);
    assert.equal(await exact(capture), 1);
  });

  test('for what is suppressed: nothing, until it is released, by its document or by time', async () => {
    const capture = await newCapture(w, { documentType: 'cte', options: { interestedParties: ['recipient'] } });
    const { rows } = await w.db.query<{ tax_id: string }>('select tax_id from companies where id = $1', [
      capture.companyId,
    ]);
    const taxId = rows[0]?.tax_id ?? '';
    const whole = cte({ parties: sender + partyXml('dest', 'enderDest', taxId, 'Destinataria Inventada SA') });
    w.government.answers(
      documents(
        [
          { nsu: 1, xml: cteEvent() },
          { nsu: 2, xml: cte({ key: cteKey(9) }) },
        ],
        2,
      ),
    );
    await query(w, capture);
    assert.equal(await exact(capture), 0);
    w.clock.advance(1.1 * HOUR);
    w.government.answers(documents([{ nsu: 3, xml: whole }], 3));
    await query(w, capture);
    assert.equal(await exact(capture), 2, 'the document and the event that waited for it');

    const lonely = await newCapture(w, { documentType: 'cte', options: { interestedParties: ['recipient'] } });
    w.government.answers(documents([{ nsu: 1, xml: cteEvent() }], 1));
    await query(w, lonely);
    assert.equal(await exact(lonely), 0);
    w.clock.advance(25 * HOUR);
    await run(w.activities.housekeeping.releaseHeld);
    await run(w.activities.housekeeping.releaseHeld);
    assert.equal(await exact(lonely), 1);
  });

  test('for what somebody asks for again', async () => {
    const capture = await newCapture(w);
    const whole = { nsu: 40, xml: note({ key: key(++notes) }), schema: 'procNFe_v4.00.xsd' };
    w.government.answers(documents([summaryOf(100)], 100));
    await query(w, capture);
    w.government.answers(one(whole));
    await ask(w, capture, 40);
    assert.equal(await exact(capture), 2);
    await ask(w, capture, 40);
    assert.equal(await exact(capture), 2);
  });

  test('for an event that this company registers and that then comes by distribution', async () => {
    const capture = await newCapture(w);
    const noteKey = key(++notes);
    w.government.answers(documents([{ nsu: 1, xml: summary({ key: noteKey }) }], 1));
    await query(w, capture);
    await requested(w, capture, noteKey, '210200');
    await sendDue(e, capture);
    assert.equal(await exact(capture), 2);
    const { rows } = await w.db.query<{ protocol: string }>(
      `select event ->> 'protocol' as protocol from documents where company_id = $1 and event is not null`,
      [capture.companyId],
    );
    w.clock.advance(1.1 * HOUR);
    const distributed = event({
      key: noteKey,
      type: '210200',
      details: '<descEvento>Confirmacao da Operacao</descEvento>',
      result:
        `<retEvento versao="1.00"><infEvento><tpAmb>2</tpAmb><cOrgao>91</cOrgao><cStat>135</cStat><chNFe>${noteKey}</chNFe><tpEvento>210200</tpEvento>` +
        `<nSeqEvento>1</nSeqEvento><dhRegEvento>2026-11-30T09:00:02-03:00</dhRegEvento><nProt>${rows[0]?.protocol}</nProt></infEvento></retEvento>`,
    });
    w.government.answers(documents([{ nsu: 2, xml: distributed, schema: 'procEventoNFe_v1.00.xsd' }], 2));
    await query(w, capture);
    assert.equal(await exact(capture), 2);
  });
});
