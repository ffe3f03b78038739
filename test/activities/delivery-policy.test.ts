import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decideDeliveries } from '../../src/activities/page/delivery-policy.js';
import { documentRow } from '../../src/activities/page/page-documents.js';
import { decodeItem } from '../../src/documents/index.js';
import type { CaptureOptions, DocumentType } from '../../src/model/words.js';
import type { DocumentRow } from '../../src/storage/documents.js';
import { CARGO, cte, cteEvent, cteKey, cteOs, cteSimplified, TAKERS } from '../documents/cte-samples.js';
import { event, note, PEOPLE } from '../documents/samples.js';

function row(xml: string, taxId: string, documentType: DocumentType = 'cte'): DocumentRow {
  const decoded = decodeItem({ content: Buffer.from(xml), encoding: 'identity', schema: null }, documentType);
  assert.ok(decoded.ok);
  const capture = { companyId: 'c', documentType, environment: 'homologation' } as const;
  const place = { capture, taxId, archiveId: 'a', objectKey: 'o', origin: 'distribution', capturedAt: 0 } as const;
  return documentRow(place, { nsu: '1', schema: null, offset: 0, length: 1, encoding: 'identity' }, decoded);
}

/** Why no webhook is sent, without the explanation; null: it is sent. */
function decide(xmls: string[], options: CaptureOptions, taxId: string, stored: DocumentRow[] = []): (string | null)[] {
  const rows = xmls.map((xml) => row(xml, taxId));
  const { documents, held } = decideDeliveries(rows, stored, { taxId, options });
  const waiting = documents.filter(({ suppressed }) => suppressed?.startsWith('waits_for_document'));
  assert.deepEqual(
    held.map(({ documentId }) => documentId),
    waiting.map(({ id }) => id),
  );
  return documents.map(({ suppressed }) => suppressed?.split(':')[0] ?? null);
}

const carried = cte({ taker: TAKERS.other });

describe('of which CT-e a customer is told', () => {
  test('without filters: of everything, and nothing waits', () => {
    const all = [cteEvent(), carried, cteOs(), cteEvent({ type: '999999' }), '<novo/>'];
    for (const options of [{}, { eventTypes: null, interestedParties: null }]) {
      assert.deepEqual(decide(all, options, PEOPLE.accountant), [null, null, null, null, null]);
    }
  });

  const roles: [string, string, string | null][] = [
    ['taker', CARGO.payer, null],
    ['recipient', CARGO.recipient, null],
    ['sender', CARGO.sender, 'role_not_selected'],
    ['issuer', CARGO.carrier, 'role_not_selected'],
    ['third party', PEOPLE.accountant, 'role_not_selected'],
    ['branch of the recipient', PEOPLE.branch, 'role_not_selected'],
  ];
  for (const [role, taxId, reason] of roles) {
    test(`taker and recipient chosen, company is ${role}: ${reason ?? 'told'}`, () => {
      assert.deepEqual(decide([carried], { interestedParties: ['taker', 'recipient'] }, taxId), [reason]);
    });
  }

  test('the reason says as what the company stands in it', () => {
    const [sender] = decideDeliveries([row(carried, CARGO.sender)], [], {
      taxId: CARGO.sender,
      options: { interestedParties: ['taker'] },
    }).documents;
    assert.equal(sender?.suppressed, 'role_not_selected: the company is only its sender');
    const [nobody] = decideDeliveries([row(carried, PEOPLE.accountant)], [], {
      taxId: PEOPLE.accountant,
      options: { interestedParties: ['taker'] },
    }).documents;
    assert.equal(nobody?.suppressed, 'role_not_selected: the company is none of its parties');
  });

  test('a taker that is the dispatcher of a CT-e Simplificado counts as both', () => {
    const simplified = cteSimplified({ takerCode: '1' });
    for (const role of ['taker', 'dispatcher']) {
      assert.deepEqual(decide([simplified], { interestedParties: [role] }, CARGO.payer), [null]);
    }
    assert.deepEqual(decide([simplified], { interestedParties: ['sender'] }, CARGO.payer), ['role_not_selected']);
  });

  test('a document that nobody knows is told of: who takes part in it cannot be said', () => {
    assert.deepEqual(
      decide([`<novo><chCTe>${cteKey(1)}</chCTe></novo>`], { interestedParties: ['taker'] }, CARGO.sender),
      [null],
    );
  });
});

describe('of which events', () => {
  test('of the chosen types only; none, when none was chosen', () => {
    const events = [cteEvent(), cteEvent({ type: '110110' }), cteEvent({ type: '999999' })];
    assert.deepEqual(decide(events, { eventTypes: ['110111'] }, CARGO.payer), [
      null,
      'event_type_not_selected',
      'event_type_not_selected',
    ]);
    assert.deepEqual(decide(events, { eventTypes: [] }, CARGO.payer), Array(3).fill('event_type_not_selected'));
    assert.deepEqual(
      decide([carried], { eventTypes: [] }, CARGO.payer),
      [null],
      'a filter of events is none of documents',
    );
  });

  test('as their document in the same page, in either order', () => {
    const told = { interestedParties: ['taker'] };
    const silent = { interestedParties: ['receiver'] };
    const pages = [
      [carried, cteEvent()],
      [cteEvent(), carried],
    ];
    for (const page of pages) assert.deepEqual(decide(page, told, CARGO.payer), [null, null]);
    assert.deepEqual(decide([carried, cteEvent()], silent, CARGO.payer), [
      'role_not_selected',
      'document_not_selected',
    ]);
    assert.deepEqual(decide([cteEvent(), carried], silent, CARGO.payer), [
      'document_not_selected',
      'role_not_selected',
    ]);
  });

  test('as their document was decided before, whatever is chosen now', () => {
    const stored = row(carried, CARGO.payer);
    const options = { interestedParties: ['receiver'] };
    assert.deepEqual(decide([cteEvent()], options, CARGO.payer, [stored]), [null]);
    const silent = { ...stored, suppressed: 'role_not_selected: x' };
    assert.deepEqual(decide([cteEvent()], { interestedParties: ['taker'] }, CARGO.payer, [silent]), [
      'document_not_selected',
    ]);
    for (const copies of [
      [silent, stored],
      [stored, silent],
    ]) {
      assert.deepEqual(decide([cteEvent()], options, CARGO.payer, copies), [null], 'of two copies one is enough');
    }
  });

  test('wait when their document has not come; another event of the key is no document', () => {
    const options = { interestedParties: ['taker'] };
    assert.deepEqual(
      decide([cteEvent(), cteEvent({ type: '110110' })], options, CARGO.payer),
      Array(2).fill('waits_for_document'),
    );
    assert.deepEqual(decide([cteEvent()], options, CARGO.payer, [row(cteEvent({ type: '110110' }), CARGO.payer)]), [
      'waits_for_document',
    ]);
    assert.deepEqual(decide([cteEvent(), cte({ key: cteKey(501) })], options, CARGO.recipient), [
      'waits_for_document',
      null,
    ]);
  });

  test('of a type not chosen never wait', () => {
    assert.deepEqual(decide([cteEvent()], { eventTypes: ['110110'], interestedParties: ['taker'] }, CARGO.payer), [
      'event_type_not_selected',
    ]);
  });

  test('that name no document cannot wait for it', () => {
    const nameless =
      '<procEventoCTe><eventoCTe><infEvento><tpEvento>110111</tpEvento></infEvento></eventoCTe></procEventoCTe>';
    assert.deepEqual(decide([nameless], { interestedParties: ['taker'] }, CARGO.payer), [null]);
  });
});

test('NF-e are told of whatever such options say', () => {
  const rows = [note(), event()].map((xml) => row(xml, PEOPLE.buyer, 'nfe'));
  const options = { eventTypes: [], interestedParties: ['taker'] };
  const { documents, held } = decideDeliveries(rows, [], { taxId: PEOPLE.buyer, options });
  assert.deepEqual(documents, rows);
  assert.deepEqual(held, []);
});
