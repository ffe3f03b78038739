import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { resultOf, verdictOn } from '../../src/activities/manifestation/manifestation-verdict.js';
import type { EventResult } from '../../src/government/event-answer.js';
import { readEventAnswer } from '../../src/government/nfe-events.js';
import { ZERO_NSU } from '../../src/model/nsu.js';
import type { Outcome } from '../../src/model/outcome.js';
import type { ManifestationRow } from '../../src/storage/manifestations.js';
import { key } from '../documents/samples.js';

const AT = Date.parse('2026-11-30T12:00:00Z');
const MINUTE = 60_000;
const PROTOCOL = '891260000000999';

const row = (more: Partial<ManifestationRow> = {}): ManifestationRow => ({
  id: 'm1',
  companyId: 'c1',
  documentType: 'nfe',
  environment: 'production',
  key: key(1),
  type: '210200',
  sequence: 1,
  subject: '',
  origin: 'request',
  status: 'pending',
  justification: null,
  fields: null,
  requestedAt: AT,
  deadline: null,
  expiresAt: AT + 90 * 24 * 60 * MINUTE,
  nextAttemptAt: AT,
  attempts: 1,
  failures: 0,
  unanswered: 0,
  answerLost: false,
  alone: false,
  signed: null,
  signedUntil: null,
  callId: 'call',
  callStartedAt: AT,
  together: 1,
  callDeadline: AT,
  late: false,
  statusCode: null,
  statusText: null,
  protocol: null,
  registeredAt: null,
  settledAt: null,
  documentId: null,
  ...more,
});
/** As the wire reads it. */
const result = (statusCode: string, more: Partial<EventResult> = {}): EventResult => {
  const answered =
    `<retEnvEvento><cStat>128</cStat><retEvento><infEvento><cStat>${statusCode}</cStat><xMotivo>texto ${statusCode}</xMotivo>` +
    `<chNFe>${key(1)}</chNFe><tpEvento>210200</tpEvento><nSeqEvento>1</nSeqEvento>` +
    `<dhRegEvento>2026-11-30T08:59:59-03:00</dhRegEvento><nProt>${PROTOCOL}</nProt></infEvento></retEvento></retEnvEvento>`;
  const [read] = readEventAnswer(Buffer.from(answered), null).results;
  assert.ok(read);
  return { ...read, ...more };
};
const PROCESSED: Outcome = { kind: 'documents', statusCode: '128', ultNsu: ZERO_NSU, maxNsu: ZERO_NSU, items: 1 };
const judge = (outcome: Outcome, said: EventResult | null, more: Partial<ManifestationRow> = {}, timeScale = 1) =>
  verdictOn(row(more), { outcome, statusText: 'texto do lote', result: said, at: AT, timeScale, step: null });

describe('what the status of an event makes of it', () => {
  const table: [cStat: string, status: string, late: boolean, ours: boolean, source: string][] = [
    ['135', 'registered', false, true, 'NT 2020.001: registered and linked'],
    ['136', 'registered', false, true, 'NT 2020.001: registered without a link; case C60'],
    ['155', 'registered', true, true, 'NT 2020.001: registered late'],
    ['573', 'registered', false, false, 'NT 2020.001: duplicate; cases C53, C59'],
    ['655', 'rejected', false, false, 'NT 2020.001: after a conclusive statement; case C55'],
    ['596', 'rejected', false, false, 'NT 2020.001 v1.60: too late'],
    ['594', 'rejected', false, false, 'NT 2020.001: more than two of a type'],
    ['575', 'rejected', false, false, 'NT 2020.001: not the recipient'],
    ['650', 'rejected', false, false, 'NT 2020.001: Awareness of a cancelled or denied note'],
    ['651', 'rejected', false, false, 'NT 2020.001: Operation Unknown of a cancelled or denied note'],
    ['493', 'rejected', false, false, 'NT 2020.001: not the layout of the type; case C56'],
    ['297', 'rejected', false, false, 'MOC: signature; case C58'],
    ['1178', 'rejected', false, false, 'NT 2025.002: four digits'],
    ['108', 'pending', false, false, 'MOC: service paused'],
    ['109', 'pending', false, false, 'MOC: service paused'],
    ['999', 'pending', false, false, 'MOC: fault of the service'],
    ['656', 'pending', false, false, 'NT 2018.002: misuse'],
    ['280', 'pending', false, false, 'MOC: certificate of the connection'],
  ];
  for (const [cStat, status, late, ours, source] of table) {
    test(`${cStat}: ${status} (${source})`, () => {
      const verdict = judge(PROCESSED, result(cStat));
      assert.deepEqual(
        [verdict.status, verdict.late, verdict.statusCode, verdict.protocol, verdict.registeredAt],
        [status, late, cStat, ours ? PROTOCOL : null, ours ? AT - 1_000 : null],
      );
      assert.equal(verdict.nextAttemptAt === null, status !== 'pending');
    });
  }

  test('the whole note is awaited for two days, but not after Operation Unknown or a Tax Reform event', () => {
    const due = (type: string, timeScale = 1) =>
      judge(PROCESSED, result('135', { type }), { type }, timeScale).xmlDueAt;
    for (const type of ['210200', '210210', '210240']) assert.equal(due(type), AT + 48 * 60 * MINUTE);
    assert.equal(due('210210', 60), AT + 48 * MINUTE);
    for (const type of ['210220', '211128', '110001']) assert.equal(due(type), null);
    assert.equal(
      judge(PROCESSED, result('573', { type: '210210' }), { type: '210210' }).xmlDueAt,
      AT + 48 * 60 * MINUTE,
    );
  });
});

describe('what the answer to the request makes of its events', () => {
  const FAULT: Outcome = { kind: 'rejected', statusCode: '215' };

  test('refused alone it is rejected; refused among others it goes by itself, at once', () => {
    const single = judge(FAULT, null);
    assert.deepEqual([single.status, single.statusCode, single.statusText], ['rejected', '215', 'texto do lote']);
    const among = judge(FAULT, null, { together: 20, failures: 2, unanswered: 1 });
    assert.deepEqual([among.status, among.alone, among.nextAttemptAt, among.failures], ['pending', true, AT, 2]);
  });

  test('waits double from a minute to an hour, by the time scale', () => {
    const waits = Array.from({ length: 8 }, (_, failures) => {
      const { nextAttemptAt } = judge({ kind: 'not_sent', reason: 'x' }, null, { failures });
      return ((nextAttemptAt ?? 0) - AT) / MINUTE;
    });
    assert.deepEqual(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
    assert.equal(judge({ kind: 'not_sent', reason: 'x' }, null, {}, 60).nextAttemptAt, AT + 1_000);
  });

  test('the third request in a row without a readable answer splits; what is no fault of its content does not count', () => {
    const after = (outcome: Outcome, unanswered: number) => {
      const { alone, unanswered: inARow } = judge(outcome, null, { unanswered, together: 3 });
      return [alone, inARow];
    };
    const unreadable: Outcome = { kind: 'unreadable', statusCode: '999', reason: 'x' };
    assert.deepEqual(after({ kind: 'unknown', reason: 'x' }, 1), [false, 2]);
    assert.deepEqual(after({ kind: 'unknown', reason: 'x' }, 2), [true, 3]);
    assert.deepEqual(after(unreadable, 2), [true, 3]);
    assert.deepEqual(after({ kind: 'paused', statusCode: '108' }, 2), [false, 0]);
    assert.deepEqual(after({ kind: 'not_sent', reason: 'x' }, 2), [false, 0]);
    // Processed, but nothing was said about this one.
    assert.deepEqual(after(PROCESSED, 2), [true, 3]);
  });

  test('the last try comes no later than the end of its time', () => {
    const { nextAttemptAt } = judge({ kind: 'unknown', reason: 'x' }, null, {
      failures: 6,
      expiresAt: AT + 5 * MINUTE,
    });
    assert.equal(nextAttemptAt, AT + 5 * MINUTE);
  });
});

describe('the answer about an event', () => {
  const events = [result('135', { sequence: '2' }), result('573', { type: '210210' }), result('136')];

  test('is found by key, type and sequence', () => {
    assert.equal(resultOf(row({ together: 3 }), events)?.statusCode, '136');
    assert.equal(resultOf(row({ together: 3, sequence: 2 }), events)?.statusCode, '135');
    assert.equal(resultOf(row({ together: 3, key: key(2) }), events), null);
  });

  test('needs no names where the request had one event only', () => {
    const nameless = result('491', { key: null, type: null, sequence: null });
    assert.equal(resultOf(row({ together: 1 }), [nameless])?.statusCode, '491');
    assert.equal(resultOf(row({ together: 2 }), [nameless]), null);
    assert.equal(resultOf(row({ together: 1 }), [result('491', { key: key(9) })]), null);
  });
});
