import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MANIFESTATION_RULES } from '../../src/model/manifestation.js';
import { decideOrder, type KnownNote, type Order, type Statement } from '../../src/model/manifestation-order.js';

const COMPANY = '98765432000198';
const NOTHING: KnownNote = {
  state: null,
  issuerTaxId: null,
  recipientTaxId: null,
  takerTaxId: null,
  emitterTaxId: null,
  confirmedTacitly: false,
  rejectionAnnulled: false,
  authorizedAt: null,
};

function order(type: string, fields: Order['fields'] = null): Order {
  const rule = MANIFESTATION_RULES.get(type);
  assert.ok(rule);
  return { rule, taxId: COMPANY, fields };
}

let ids = 0;
function said(type: string, at: number, more: Partial<Statement> = {}): Statement {
  ids += 1;
  return {
    id: `m${ids}`,
    type,
    sequence: 1,
    subject: '',
    status: 'registered',
    at,
    fields: null,
    protocol: null,
    ...more,
  };
}

const decide = (
  type: string,
  statements: readonly Statement[] = [],
  note: Partial<KnownNote> = {},
  fields: Order['fields'] = null,
) => {
  const decision = decideOrder(order(type, fields), { ...NOTHING, ...note }, statements);
  if (decision.kind === 'new') return `new ${decision.sequence}${decision.subject && ` of ${decision.subject}`}`;
  return decision.kind === 'same' ? `same ${decision.id}` : decision.problem;
};

describe('a request, by what is known of the note', () => {
  const table: [type: string, note: Partial<KnownNote>, expected: string, source: string][] = [
    ['210210', {}, 'new 1', 'nothing is known: the government decides'],
    ['210210', { state: 'authorized', issuerTaxId: '11222333000181' }, 'new 1', 'NT 2020.001: the recipient speaks'],
    ['210210', { state: 'cancelled' }, 'note_cancelled', 'NT 2020.001: 650'],
    ['210220', { state: 'cancelled' }, 'note_cancelled', 'NT 2020.001: 651'],
    ['210210', { state: 'denied' }, 'note_denied', 'NT 2020.001: 650'],
    ['210220', { state: 'denied' }, 'note_denied', 'NT 2020.001: 651'],
    ['210200', { state: 'cancelled' }, 'new 1', 'NT 2020.001 has no such rule for it: the government decides'],
    ['210240', { state: 'denied' }, 'new 1', 'NT 2020.001 has no such rule for it: the government decides'],
    ['210200', { issuerTaxId: COMPANY }, 'own_document', 'NT 2020.001: 575'],
    ['210200', { recipientTaxId: '11222333000181' }, 'not_the_recipient', 'NT 2020.001: 575'],
    ['210200', { recipientTaxId: '98765432000279' }, 'new 1', 'a branch of the same root: the government decides'],
    ['210200', { recipientTaxId: COMPANY }, 'new 1', 'NT 2020.001: the recipient speaks'],
    ['211128', { issuerTaxId: COMPANY }, 'own_document', 'NT 2025.002: tpAutor 2, the recipient speaks'],
    ['211128', { recipientTaxId: '11222333000181' }, 'new 1', 'NT 2025.002: the government decides'],
    ['110001', { issuerTaxId: COMPANY }, 'new 1 of 211128', 'NT 2025.002: whoever made the event cancels it'],
    ['610110', {}, 'new 1', 'nothing is known: the government decides'],
    [
      '610110',
      { takerTaxId: COMPANY, state: 'cancelled', recipientTaxId: '11222333000181' },
      'new 1',
      'MOC CT-e 4.00: the taker speaks',
    ],
    ['610110', { takerTaxId: '11222333000181' }, 'not_the_taker', 'MOC CT-e 4.00: 755'],
    ['610110', { takerTaxId: '98765432000279' }, 'not_the_taker', 'MOC CT-e 4.00: 755, a branch is another taker'],
    ['610111', { takerTaxId: '11222333000181' }, 'not_the_taker', 'MOC CT-e 4.00: 755'],
    [
      '610111',
      { takerTaxId: COMPANY },
      'nothing_to_cancel',
      'MOC CT-e 4.00: it names the protocol of a registered event',
    ],
  ];
  for (const [type, note, expected, source] of table) {
    test(`${type} about ${JSON.stringify(note)}: ${expected} (${source})`, () => {
      const fields = type === '110001' ? { tpEventoAut: '211128', nProtEvento: '143260000000001' } : null;
      assert.equal(decide(type, [], note, fields), expected);
    });
  }
});

describe('a request, by what was said before', () => {
  test('what was taken is the same when it is asked for again, whatever became known of the note since', () => {
    const [pending, done] = [said('210210', 1, { status: 'pending' }), said('210220', 1)];
    assert.equal(decide('210210', [pending], { issuerTaxId: COMPANY }), `same ${pending.id}`);
    assert.equal(decide('210220', [done], { state: 'cancelled' }), `same ${done.id}`);
    assert.equal(decide('210220', [done, said('210200', 2)], { state: 'cancelled' }), 'note_cancelled');
  });

  test('Awareness is said once, and not after a conclusive statement (655)', () => {
    const pending = said('210210', 1, { status: 'pending' });
    assert.equal(decide('210210', [pending]), `same ${pending.id}`);
    const done = said('210210', 1);
    assert.equal(decide('210210', [done, said('210200', 2)]), `same ${done.id}`);
    assert.equal(decide('210210', [said('210200', 1)]), 'conclusive_exists');
    assert.equal(decide('210210', [said('210200', 1, { status: 'pending' })]), 'new 1');
    // Another program's: sent again it is answered 573, which is the aim.
    assert.equal(decide('210210', [said('210210', 1, { id: null })]), 'new 1');
  });

  test('a conclusive statement that still holds is the same request', () => {
    const first = said('210200', 10);
    assert.equal(decide('210200', [first]), `same ${first.id}`);
    assert.equal(decide('210200', [said('210240', 5), first]), `same ${first.id}`);
    assert.equal(decide('210200', [said('210210', 20), first]), `same ${first.id}`);
    const pending = said('210200', 10, { status: 'pending' });
    assert.equal(decide('210200', [pending]), `same ${pending.id}`);
    assert.equal(decide('210200', [said('210200', 10, { id: null })]), 'new 1');
  });

  test('one that another has replaced may be made once more, and no oftener', () => {
    const first = said('210200', 10);
    const other = said('210240', 20);
    assert.equal(decide('210200', [first, other]), 'new 2');
    assert.equal(decide('210200', [said('210200', 10, { id: null }), other]), 'new 2');
    const second = said('210200', 30, { sequence: 2 });
    assert.equal(decide('210200', [first, other, second]), `same ${second.id}`);
    assert.equal(decide('210200', [first, other, second, said('210220', 40)]), 'limit_reached');
    assert.equal(decide('210240', [first, other, second]), 'new 2');
  });

  test('while the other is on its way, nobody knows yet which holds', () => {
    assert.equal(decide('210200', [said('210200', 10), said('210240', 20, { status: 'pending' })]), 'another_pending');
    assert.equal(decide('210240', [said('210200', 10, { status: 'pending' })]), 'new 1');
  });

  test('Tax Reform events are the same when they say the same', () => {
    const fields = { gImobilizacao: [{ nItem: '1', vIBS: '1.00' }] };
    const first = said('211130', 1, { fields: { gImobilizacao: [{ vIBS: '1.00', nItem: '1' }] } });
    assert.equal(decide('211130', [first], {}, fields), `same ${first.id}`);
    const other = { gImobilizacao: [{ nItem: '2', vIBS: '1.00' }] };
    assert.equal(decide('211130', [first], {}, other), 'new 2');
    assert.equal(decide('211130', [first, said('110001', 2, { subject: '211130' })], {}, fields), 'new 2');
    assert.equal(decide('211130', [said('211130', 1, { sequence: 99, fields: other })], {}, fields), 'limit_reached');
  });

  test('a cancellation bears the sequence of the event that it cancels', () => {
    const events = [
      said('211130', 1, { sequence: 1, protocol: '143260000000001' }),
      said('211130', 2, { sequence: 2, protocol: '143260000000002' }),
    ];
    const cancel = { tpEventoAut: '211130', nProtEvento: '143260000000002' };
    assert.equal(decide('110001', events, {}, cancel), 'new 2 of 211130');
    const before = said('110001', 3, { subject: '211130', sequence: 2 });
    assert.equal(decide('110001', [...events, before], {}, cancel), `same ${before.id}`);
    assert.equal(
      decide('110001', [...events, before], {}, { ...cancel, nProtEvento: '143260000000001' }),
      'new 1 of 211130',
    );
  });

  test('a disagreement stands until it is taken back; then it may be said again', () => {
    const first = said('610110', 10, { protocol: '135260000000001' });
    assert.equal(decide('610110', [first]), `same ${first.id}`);
    const back = said('610111', 20);
    assert.equal(decide('610110', [first, { ...back, status: 'pending' }]), 'another_pending');
    assert.equal(decide('610110', [first, back]), 'new 2');
    const second = said('610110', 30, { sequence: 2 });
    assert.equal(decide('610110', [first, back, second]), `same ${second.id}`);
    // Another program's: sent again it is answered 631, which is the aim.
    assert.equal(decide('610110', [said('610110', 1, { id: null, sequence: 3 })]), 'new 3');
    assert.equal(
      decide('610110', [said('610110', 1, { sequence: 999 }), said('610111', 2, { sequence: 999 })]),
      'limit_reached',
    );
  });

  test('taking it back names the last one, or the one of the protocol that is given', () => {
    const first = said('610110', 10, { protocol: '135260000000001' });
    const second = said('610110', 30, { sequence: 2, protocol: '135260000000002' });
    const back = said('610111', 20);
    const fieldsOf = (statements: readonly Statement[], fields: Order['fields'] = null) => {
      const decision = decideOrder(order('610111', fields), NOTHING, statements);
      return decision.kind === 'new' ? [decision.sequence, decision.fields?.nProtEvPrestDes] : decision.kind;
    };
    assert.deepEqual(fieldsOf([first]), [1, '135260000000001']);
    assert.deepEqual(fieldsOf([first, back, second]), [2, '135260000000002']);
    assert.equal(decide('610111', [first, back]), `same ${back.id}`);
    assert.equal(
      decide('610111', [first, back, second], {}, { nProtEvPrestDes: '135260000000001' }),
      `same ${back.id}`,
    );
    assert.equal(decide('610111', [said('610110', 1, { status: 'pending' })]), 'another_pending');
    // Registered before (631), and the answer told no protocol.
    assert.equal(decide('610111', [said('610110', 1)]), 'nothing_to_cancel');
    assert.deepEqual(fieldsOf([], { nProtEvPrestDes: '135260000000009' }), [1, '135260000000009']);
  });
});

describe('a statement of the taker about an NFS-e', () => {
  const OTHER = '11222333000181';
  const TAKEN = { state: 'authorized', issuerTaxId: OTHER, emitterTaxId: OTHER, recipientTaxId: COMPANY } as const;
  const table: [note: Partial<KnownNote>, expected: string][] = [
    [{}, 'new 1'],
    [TAKEN, 'new 1'],
    [{ ...TAKEN, recipientTaxId: `${COMPANY.slice(0, 8)}000270` }, 'new 1'],
    [{ ...TAKEN, recipientTaxId: OTHER }, 'not_the_recipient'],
    [{ ...TAKEN, recipientTaxId: null }, 'not_the_recipient'],
    [{ ...TAKEN, state: 'unknown', recipientTaxId: null }, 'new 1'],
    [{ ...TAKEN, issuerTaxId: COMPANY }, 'own_document'],
    // The taker itself emitted it, in the provider's place.
    [{ ...TAKEN, emitterTaxId: COMPANY }, 'own_document'],
    [{ ...TAKEN, state: 'cancelled' }, 'note_closed'],
    [{ ...TAKEN, state: 'replaced' }, 'note_closed'],
    [{ ...TAKEN, confirmedTacitly: true }, 'note_closed'],
    [{ ...TAKEN, state: 'blocked' }, 'new 1'],
    // Only its cancellation has come.
    [{ state: 'cancelled' }, 'note_closed'],
  ];
  for (const [note, expected] of table) {
    test(`${JSON.stringify(note)}: ${expected}`, () => {
      assert.equal(decide('203202', [], note), expected);
      assert.equal(decide('203206', [], note), expected);
    });
  }

  test('is made once, and then neither again nor otherwise', () => {
    const confirmed = said('203202', 1);
    assert.equal(decide('203202', [confirmed]), `same ${confirmed.id}`);
    assert.equal(decide('203206', [confirmed]), 'statement_exists');
    assert.equal(decide('203206', [said('203202', 1, { status: 'pending' })]), 'another_pending');
    assert.equal(decide('203202', [said('203202', 1, { id: null })]), 'new 1', 'of another program: read back');
    assert.equal(decide('203206', [said('203202', 1, { id: null })]), 'statement_exists');
  });

  test('an annulled rejection leaves room for the other one, if Sefin takes it', () => {
    const rejected = said('203206', 1);
    assert.equal(decide('203202', [rejected], { rejectionAnnulled: true }), 'new 1');
    assert.equal(decide('203206', [rejected], { rejectionAnnulled: true }), `same ${rejected.id}`);
  });
});
