import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cteEventService } from '../../src/activities/manifestation/cte-event-service.js';
import { type CteEventCall, type CteEvents, readCteEventAnswer } from '../../src/government/cte-events.js';
import type { EventAnswer } from '../../src/government/event-answer.js';
import { parseNsu } from '../../src/model/nsu.js';
import type { CaptureKey, CaptureOptions } from '../../src/model/words.js';
import { listCalls } from '../../src/storage/call-log.js';
import { getDocument, listDocuments } from '../../src/storage/documents.js';
import type { ManifestationRow } from '../../src/storage/manifestations.js';
import { readXml } from '../../src/storage/read-xml.js';
import { cte, cteEvent, cteKey } from '../documents/cte-samples.js';
import { verifySignature } from '../government/verify-signature.js';
import { documents } from './government.js';
import { eventWorld, manifestation, requested, SendActivity, silence } from './manifestation-support.js';
import { committed, count, dies, dyingAt, eventsOf, HOUR, MINUTE, newCapture, query, world } from './support.js';

/** The taker's events about CT-e, through the same activity as NF-e's: what differs is said by its event service. */

const REASON = 'Frete cobrado acima do combinado';
const w = await world();
const e = await eventWorld(w);

/** Authorizers that answer as they are told. */
const asked: { readonly uf: string; readonly event: string }[] = [];
let answers: ((event: string) => EventAnswer)[] = [];
const authorizers: CteEvents = {
  send: async ({ uf, events: [event = ''], beforeSend }: CteEventCall) => {
    beforeSend?.();
    asked.push({ uf, event });
    return (answers.shift() ?? answered('135'))(event);
  },
};
const deps = { ...e.deps, eventServices: { ...e.deps.eventServices, cte: cteEventService(authorizers) } };
const send = (capture: CaptureKey) => new SendActivity(capture).attempt(deps);

let protocols = 135_260_000_000_000;
function answered(cStat: string, text = `Texto do ${cStat}`): (event: string) => EventAnswer {
  return (event) => {
    const [, type, key, sequence] = /Id="ID(\d{6})(\w{44})(\d{3})"/.exec(event) ?? [];
    const registered = ['134', '135', '136'].includes(cStat);
    const given = registered ? `<dhRegEvento>2026-11-30T09:00:02-03:00</dhRegEvento><nProt>${++protocols}</nProt>` : '';
    const body = Buffer.from(
      '<retEventoCTe xmlns="http://www.portalfiscal.inf.br/cte" versao="4.00"><infEvento><tpAmb>2</tpAmb><verAplic>SP-CTe</verAplic>' +
        `<cOrgao>${key?.slice(0, 2)}</cOrgao><cStat>${cStat}</cStat><xMotivo>${text}</xMotivo><chCTe>${key}</chCTe><tpEvento>${type}</tpEvento>` +
        `<xEvento>Evento</xEvento><nSeqEvento>${Number(sequence)}</nSeqEvento>${given}</infEvento></retEventoCTe>`,
    );
    const raw = { status: 200, contentType: 'application/soap+xml', headers: {}, body };
    return { ...readCteEventAnswer(body, raw), raw };
  };
}

const capturing = (options: CaptureOptions = {}) => newCapture(w, { documentType: 'cte', options });
let keys = 5_000;
const newKey = (ufCode = '35') => cteKey(++keys, { ufCode });
const disagree = (capture: CaptureKey, key: string) => requested(e, capture, key, '610110', { justification: REASON });
const takeBack = (capture: CaptureKey, key: string) => requested(e, capture, key, '610111');
const now = ({ id }: ManifestationRow) => manifestation(e, id);

describe('events about CT-e', () => {
  test('go one by one, each to the authorizer of its own CT-e, whatever is due', async () => {
    const capture = await capturing();
    for (const ufCode of ['35', '31', '43']) await disagree(capture, newKey(ufCode));
    const before = asked.length;
    let sent = 0;
    while ((await send(capture)).pending > 0) sent += 1;
    assert.equal(sent, 2);
    assert.deepEqual(
      asked.slice(before).map(({ uf, event }) => [uf, /<cOrgao>(\d\d)/.exec(event)?.[1]]),
      [
        ['SP', '35'],
        ['MG', '31'],
        ['RS', '43'],
      ],
    );
    const { rows } = await listCalls(w.db, capture, { limit: 10 });
    assert.deepEqual(
      [...new Set(rows.map(({ kind, statusCode }) => `${kind} ${statusCode}`))],
      ['cteRecepcaoEvento 135'],
    );
  });

  test('that are registered are stored as their own document, linked, told of once, and counted', async () => {
    const capture = await capturing();
    const row = await disagree(capture, newKey());
    assert.equal((await send(capture)).registered, 1);
    const { status, protocol, documentId, registeredAt } = await now(row);
    assert.deepEqual([status, registeredAt], ['registered', Date.parse('2026-11-30T09:00:02-03:00')]);
    const document = await getDocument(w.db, documentId ?? '');
    assert.ok(document);
    assert.deepEqual(
      [document.kind, document.schema, document.origin, document.nsu, document.key, document.eventType],
      ['procEventoCTe', 'procEventoCTe_v4.00.xsd', 'manifestation', null, row.key, '610110'],
    );
    assert.deepEqual([document.event?.protocol, document.event?.statusCode], [protocol, '135']);
    const xml = Buffer.from(await readXml(w.deps.objectStore, document, (bytes) => bytes)).toString();
    const { digest, signature } = verifySignature(xml);
    assert.ok(digest && signature, 'the signature holds inside the document');
    assert.ok(xml.includes(asked.at(-1)?.event ?? 'nothing'));
    assert.deepEqual(await eventsOf(w, capture.companyId), [
      'transportation_invoice_inbound/event_raised_successfully',
    ]);
    assert.equal(await count(w, 'usage_records', capture.companyId), 1);
  });

  test('that come by distribution as well are recognized', async () => {
    const capture = await capturing();
    const row = await disagree(capture, newKey());
    await send(capture);
    const { protocol, documentId } = await now(row);
    const xml = cteEvent({ key: row.key, type: '610110', details: '<evPrestDesacordo/>' }).replace(
      /<nProt>\d+<\/nProt>(?=(?:(?!<nProt>).)*$)/s,
      `<nProt>${protocol}</nProt>`,
    );
    w.government.answers(documents([{ nsu: 1, xml, schema: 'procEventoCTe_v4.00.xsd' }], 1));
    committed(await query(w, capture));
    const { rows } = await listDocuments(w.db, { companyId: capture.companyId }, { limit: 10 });
    assert.deepEqual(
      rows.map(({ id, nsu }) => [id, nsu]),
      [[documentId, '000000000000001']],
    );
    assert.equal((await eventsOf(w, capture.companyId)).length, 1);

    // A further copy, under a number of its own.
    w.clock.advance(2 * HOUR);
    w.government.answers(documents([{ nsu: 2, xml, schema: 'procEventoCTe_v4.00.xsd' }], 2));
    committed(await query(w, capture));
    const copies = await listDocuments(w.db, { companyId: capture.companyId, nsu: parseNsu('2') }, { limit: 10 });
    assert.deepEqual(
      copies.rows.map(({ suppressed }) => suppressed?.split(':')[0]),
      ['own_manifestation'],
    );
    assert.equal((await eventsOf(w, capture.companyId)).length, 1);
  });

  test('follow the filters of the capture: what is not chosen says why it was not told of', async () => {
    const capture = await capturing({ eventTypes: ['110111'] });
    const row = await disagree(capture, newKey());
    await send(capture);
    const document = await getDocument(w.db, (await now(row)).documentId ?? '');
    assert.match(document?.suppressed ?? '', /^event_type_not_selected: 610110/);
    assert.deepEqual(await eventsOf(w, capture.companyId), []);
  });

  test('wait for no document: somebody asked for them', async () => {
    const capture = await capturing({ interestedParties: ['sender'] });
    const row = await disagree(capture, newKey());
    await send(capture);
    assert.equal((await getDocument(w.db, (await now(row)).documentId ?? ''))?.suppressed, null);
    assert.equal((await eventsOf(w, capture.companyId)).length, 1);
  });

  test('whose answer was archived before the process died are settled by it, without another call', async () => {
    const capture = await capturing();
    const row = await disagree(capture, newKey());
    const before = asked.length;
    const activity = new SendActivity(capture);
    await dies(activity.attempt({ ...deps, failpoint: dyingAt('after_archive') }));
    assert.equal((await activity.attempt(deps)).registered, 1);
    assert.equal(asked.length - before, 1);
    const { status, documentId } = await now(row);
    assert.ok(status === 'registered' && documentId);
    assert.equal((await eventsOf(w, capture.companyId)).length, 1);
  });

  test('keep code and text of their rejection, and may then be asked for again', async () => {
    const capture = await capturing();
    const row = await disagree(capture, newKey());
    answers = [answered('755', 'Rejeição: Autor do evento deve ser o tomador')];
    assert.equal((await send(capture)).rejected, 1);
    const { status, statusCode, statusText } = await now(row);
    assert.deepEqual(
      [status, statusCode, statusText],
      ['rejected', '755', 'Rejeição: Autor do evento deve ser o tomador'],
    );
    const again = await disagree(capture, row.key);
    assert.notEqual(again.id, row.id);
  });

  test('without an answer leave again as the same bytes; 678 waits an hour and a minute', async () => {
    const capture = await capturing();
    const row = await disagree(capture, newKey());
    answers = [() => silence('unknown'), answered('108'), answered('678')];
    const waits: number[] = [];
    for (let i = 0; i < 3; i++) {
      await send(capture);
      const wait = ((await now(row)).nextAttemptAt ?? 0) - (await w.clock.now());
      waits.push(Math.round(wait / MINUTE));
      w.clock.advance(wait);
    }
    assert.deepEqual(waits, [1, 2, 61]);
    answers = [answered('631', 'Duplicidade de evento[nProt:135260000999999][dhRegEvento:2026-11-30T08:00:00-03:00]')];
    await send(capture);
    const { status, statusCode, protocol } = await now(row);
    assert.deepEqual([status, statusCode, protocol], ['registered', '631', '135260000999999']);
    assert.equal(new Set(asked.slice(-4).map(({ event }) => event)).size, 1);
  });

  test('whose answer got lost become a document by 631; what is distributed of them later is kept and told of no more', async () => {
    const capture = await capturing();
    const row = await disagree(capture, newKey());
    const PROTOCOL_BEFORE = '135260000888888';
    answers = [
      () => silence('unknown'),
      answered('631', `Duplicidade de evento[nProt:${PROTOCOL_BEFORE}][dhRegEvento:2026-11-30T08:00:00-03:00]`),
    ];
    await send(capture);
    w.clock.advance(MINUTE);
    await send(capture);
    const { status, statusCode, protocol, documentId } = await now(row);
    assert.deepEqual([status, statusCode, protocol], ['registered', '631', PROTOCOL_BEFORE]);
    const document = await getDocument(w.db, documentId ?? '');
    assert.deepEqual([document?.kind, document?.origin, document?.key], ['procEventoCTe', 'manifestation', row.key]);
    assert.match(document?.warnings.join() ?? '', /^answer_lost: .*\(631\)/);
    const told = ['transportation_invoice_inbound/event_raised_successfully'];
    assert.deepEqual(await eventsOf(w, capture.companyId), told);

    const xml = cteEvent({ key: row.key, type: '610110', details: '<evPrestDesacordo/>' }).replace(
      /<nProt>\d+<\/nProt>(?=(?:(?!<nProt>).)*$)/s,
      `<nProt>${PROTOCOL_BEFORE}</nProt>`,
    );
    w.government.answers(documents([{ nsu: 1, xml, schema: 'procEventoCTe_v4.00.xsd' }], 1));
    committed(await query(w, capture));
    const { rows } = await listDocuments(w.db, { companyId: capture.companyId }, { limit: 10 });
    const distributed = rows.find(({ id }) => id !== documentId);
    assert.equal(rows.length, 2);
    assert.deepEqual([distributed?.nsu, distributed?.event?.protocol], ['000000000000001', PROTOCOL_BEFORE]);
    assert.match(distributed?.suppressed ?? '', /^own_manifestation/);
    assert.deepEqual(await eventsOf(w, capture.companyId), told);
    assert.equal(await count(w, 'usage_records', capture.companyId), 1);
  });

  test('that another program registered (631) are linked to nothing of ours', async () => {
    const capture = await capturing();
    const row = await disagree(capture, newKey());
    answers = [answered('631', 'Duplicidade de evento[nProt:135260000777777]')];
    await send(capture);
    const { status, protocol, documentId } = await now(row);
    assert.deepEqual([status, protocol, documentId], ['registered', '135260000777777', null]);
    assert.deepEqual(await eventsOf(w, capture.companyId), []);
  });
});

describe('taking a disagreement back', () => {
  test('names its protocol; then it may be said again, under the next number', async () => {
    const capture = await capturing();
    const key = newKey();
    const first = await disagree(capture, key);
    await assert.rejects(takeBack(capture, key), /another_pending/);
    await send(capture);
    assert.equal((await disagree(capture, key)).id, first.id);
    const { protocol } = await now(first);
    const back = await takeBack(capture, key);
    assert.deepEqual([back.sequence, back.fields], [1, { nProtEvPrestDes: protocol }]);
    await assert.rejects(disagree(capture, key), /another_pending/);
    await send(capture);
    assert.match(
      asked.at(-1)?.event ?? '',
      new RegExp(`Id="ID610111${key}001".*<nProtEvPrestDes>${protocol}</nProtEvPrestDes>`),
    );
    assert.equal((await takeBack(capture, key)).id, back.id);
    const second = await disagree(capture, key);
    assert.equal(second.sequence, 2);
    await send(capture);
    assert.match(asked.at(-1)?.event ?? '', new RegExp(`Id="ID610110${key}002"`));
    assert.equal((await takeBack(capture, key)).sequence, 2);
  });

  test('of which nothing is known needs the protocol', async () => {
    const capture = await capturing();
    const key = newKey();
    await assert.rejects(takeBack(capture, key), /nothing_to_cancel/);
    const fields = { nProtEvPrestDes: '135260000000777' };
    const back = await requested(e, capture, key, '610111', { fields });
    assert.deepEqual(back.fields, fields);
  });

  test('of another program is found by its document', async () => {
    const capture = await capturing();
    const key = newKey();
    const { rows } = await w.db.query<{ taxId: string }>('select tax_id as "taxId" from companies where id = $1', [
      capture.companyId,
    ]);
    const xml = cteEvent({ key, type: '610110', details: '<evPrestDesacordo/>' })
      .replace(/(<infEvento Id[\s\S]*?)<CNPJ>\w+<\/CNPJ>/, `$1<CNPJ>${rows[0]?.taxId}</CNPJ>`)
      .replace(/<nProt>\d+<\/nProt>(?=(?:(?!<nProt>).)*$)/s, '<nProt>135260000555555</nProt>');
    w.government.answers(documents([{ nsu: 1, xml, schema: 'procEventoCTe_v4.00.xsd' }], 1));
    committed(await query(w, capture));
    assert.deepEqual((await takeBack(capture, key)).fields, { nProtEvPrestDes: '135260000555555' });
  });
});

test('a CT-e that is here names its taker: nobody else may disagree', async () => {
  const capture = await capturing();
  const key = newKey();
  w.government.answers(documents([{ nsu: 1, xml: cte({ key }), schema: 'procCTe_v4.00.xsd' }], 1));
  committed(await query(w, capture));
  await assert.rejects(disagree(capture, key), /not_the_taker/);
});
