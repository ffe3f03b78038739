import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, test } from 'node:test';
import { createMailAlerts } from '../../src/activities/background/mail-alerts.js';
import { Announcements } from '../../src/activities/page/announcements.js';
import type { AlertCode, AlertSeverity } from '../../src/model/words.js';
import { createMailer } from '../../src/platform/mailer.js';
import { closeAlert } from '../../src/storage/alerts.js';
import type { CompanyRow } from '../../src/storage/companies.js';
import { newCompany } from '../storage/support.js';
import { mailServer } from '../support/mail-server.js';
import { HOUR, MINUTE, run, world } from './support.js';

const w = await world();
const server = await mailServer();
const results: string[] = [];
const sendMail = createMailer({ url: server.url, from: 'malote@firm.example', to: ['ops@firm.example'] });
/** What the worker of this installation does each minute; `deps` may stand for another process. */
const mailAlerts = (deps: Partial<Parameters<typeof createMailAlerts>[0]> = {}) =>
  run(
    createMailAlerts({ database: w.db, clock: w.clock, sendMail, onMail: (it) => results.push(it), ...deps })
      .mailAlerts,
  );

const about = { documentType: 'nfe', environment: 'production' } as const;

async function open(
  company: CompanyRow,
  code: AlertCode,
  detail = 'no call is made',
  severity: AlertSeverity = 'warning',
): Promise<void> {
  const now = await w.clock.now();
  await w.db.transaction(async (tx) => {
    const announcements = new Announcements(tx, { companyId: company.id, ...about }, company, now);
    await announcements.open(code, detail, 'capture', severity);
    await announcements.publish();
  });
}

async function close(company: CompanyRow, code: AlertCode): Promise<void> {
  await closeAlert(w.db, { code, companyId: company.id, ...about }, await w.clock.now());
}

/** Each minute for so long. Gives the subjects of the mails that came. */
async function minutes(count: number): Promise<string[]> {
  const before = server.mails.length;
  for (let minute = 0; minute < count; minute++) {
    w.clock.advance(MINUTE);
    await mailAlerts();
  }
  return server.mails.slice(before).map(({ headers }) => headers.subject ?? '');
}

beforeEach(async () => {
  await w.db.query('delete from alerts');
  await w.db.query('delete from settings');
  server.mails.length = 0;
  server.refuseWith = null;
  results.length = 0;
});

describe('mails about alerts', () => {
  test('500 captures in trouble make one mail, five minutes after the first; and one when all is over', async () => {
    const first = await newCompany(w.db, { taxId: '12ABC34501DE35' });
    await open(first, 'certificate_expired', 'no certificate of the company is valid', 'critical');
    const others: CompanyRow[] = [];
    for (let i = 0; i < 499; i++) others.push(await newCompany(w.db));
    for (const company of others)
      await open(company, 'capture_stalled', 'documents are pending; CNPJ 98.765.432/0001-98');
    assert.deepEqual(await minutes(4), []);
    assert.deepEqual(await minutes(2), ['Malote: 500 alerts, 1 critical (certificate_expired, capture_stalled 499)']);
    const text = server.mails[0]?.text ?? '';
    assert.match(text, /^500 alerts opened, 1 critical: documents may be missed until somebody acts\.\n/);
    assert.match(
      text,
      /\ncapture_stalled: 499\n {2}What it means: documents are pending .*\n {2}What to do: its phase says why/,
    );
    assert.equal(text.match(/\n {2}- company /g)?.length, 6, 'one and five examples');
    assert.match(text, /\n {2}- and 494 more\n/);
    assert.ok(text.includes(`company ${first.id} (tax ID …DE35), nfe, production; since `));
    for (const { taxId, name } of [first, ...others]) assert.ok(!text.includes(taxId) && !text.includes(`${name} `));
    assert.ok(!text.includes('98.765.432'), 'what slipped into a detail is masked');

    assert.deepEqual(await minutes(60), [], 'nothing new');
    for (const company of others) await close(company, 'capture_stalled');
    assert.deepEqual(await minutes(10), [], 'one is left');
    await close(first, 'certificate_expired');
    assert.deepEqual(await minutes(4), [], 'it may come back');
    assert.deepEqual(await minutes(2), ['Malote: all is over (certificate_expired, capture_stalled 499)']);
    assert.deepEqual(await minutes(60), []);
    assert.deepEqual(results, ['sent', 'sent']);
  });

  test('what opens later waits for the next mail, half an hour after the one before', async () => {
    const companies = [await newCompany(w.db), await newCompany(w.db), await newCompany(w.db)] as const;
    await open(companies[0], 'other_consumer');
    assert.equal((await minutes(6)).length, 1);
    await open(companies[1], 'other_consumer');
    assert.deepEqual(await minutes(20), []);
    await open(companies[2], 'cursor_ahead');
    assert.deepEqual(await minutes(10), ['Malote: 2 alerts (cursor_ahead, other_consumer)']);
    assert.match(server.mails[1]?.text ?? '', /\n\nOpen in all: 3\./);
  });

  test('what is over before its mail is in none', async () => {
    const company = await newCompany(w.db);
    await open(company, 'clock_skew');
    await minutes(3);
    await close(company, 'clock_skew');
    assert.deepEqual(await minutes(60), []);
  });

  test('what waits for people for weeks is told of, and keeps no mail back that all is over', async () => {
    const company = await newCompany(w.db);
    await open(company, 'numbering_at_risk');
    await open(company, 'capture_attention');
    assert.equal((await minutes(6)).length, 1);
    await close(company, 'capture_attention');
    assert.deepEqual(await minutes(6), ['Malote: all is over (capture_attention)']);
    assert.match(server.mails[1]?.text ?? '', /Still open, and waiting for somebody: 1 /);
    await close(company, 'numbering_at_risk');
    assert.deepEqual(await minutes(6), ['Malote: all is over (numbering_at_risk)']);
    assert.doesNotMatch(server.mails[2]?.text ?? '', /Still open/);
  });

  test('an alert about no company names what it is about', async () => {
    await w.db.query(
      `insert into alerts (id, code, subject, detail, opened_at) values ($1, 'endpoint_disabled', 'endpoint-7', 'it said 410', $2)`,
      [randomUUID(), new Date(await w.clock.now())],
    );
    await minutes(6);
    assert.match(server.mails[0]?.text ?? '', /\n {2}- endpoint-7; since .* UTC: it said 410\n/);
  });
});

describe('a mail server that fails', () => {
  test('is tried again after 1, 2, 4 … 30 minutes, keeps nothing waiting, and in the end the mail is sent once', async () => {
    const company = await newCompany(w.db);
    await open(company, 'service_outage');
    await minutes(4);
    server.refuseWith = 'out of order';
    const tries: number[] = [];
    for (let minute = 1; minute <= 120; minute++) {
      const before = results.length;
      assert.deepEqual(await minutes(1), []);
      if (results.length > before) tries.push(minute);
    }
    assert.deepEqual(tries.map((at, i) => at - (tries[i - 1] ?? 0)).slice(1, 7), [1, 2, 4, 8, 16, 30]);
    server.refuseWith = null;
    assert.deepEqual(await minutes(31), ['Malote: 1 alert (service_outage)']);
    assert.deepEqual(await minutes(60), []);
  });

  test('a mail that was sent although its sender died comes again under the same id', async () => {
    const company = await newCompany(w.db);
    await open(company, 'service_outage');
    w.clock.advance(6 * MINUTE);
    const dies = async (message: Parameters<typeof sendMail>[0]) => {
      await sendMail(message);
      throw new Error('killed');
    };
    await assert.rejects(mailAlerts({ sendMail: dies }));
    assert.equal((await mailAlerts()).mails, 0, 'whoever sends may still be at it');
    assert.equal((await minutes(3)).length, 1);
    assert.equal(server.mails.length, 2);
    assert.equal(server.mails[0]?.headers['message-id'], server.mails[1]?.headers['message-id']);
  });

  test('two workers at the same moment send one mail', async () => {
    await open(await newCompany(w.db), 'service_outage');
    w.clock.advance(6 * MINUTE);
    const sent = await Promise.all(Array.from({ length: 5 }, () => mailAlerts()));
    assert.equal(sent.filter(({ mails }) => mails === 1).length, 1);
    assert.equal(server.mails.length, 1);
  });
});

test('without a mail server nothing is told, and everything once there is one', async () => {
  await open(await newCompany(w.db), 'service_outage');
  w.clock.advance(HOUR);
  assert.deepEqual(await mailAlerts({ sendMail: null }), { mails: 0 });
  assert.deepEqual(await mailAlerts(), { mails: 1 });
});
