import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createMailer, MailFailed } from '../../src/platform/mailer.js';
import { mailServer } from '../support/mail-server.js';

const MESSAGE = { id: 'opened-1', subject: 'Malote: 1 alert', text: 'company … (tax ID …0198)\n\nsecond' };
const people = { from: 'malote@firm.example', to: ['a@firm.example', 'b@firm.example'] };

describe('a mail', () => {
  test('goes to everybody, from the sender, named, as text', async () => {
    const server = await mailServer();
    await createMailer({ url: server.url, ...people })(MESSAGE);
    const [mail] = server.mails;
    assert.equal(server.mails.length, 1);
    assert.deepEqual([mail?.from, mail?.to], [people.from, people.to]);
    assert.equal(mail?.text.trimEnd(), MESSAGE.text);
    const { subject, from, to, 'message-id': id, 'auto-submitted': auto } = mail?.headers ?? {};
    assert.deepEqual(
      [subject, from, to, id, auto],
      [
        MESSAGE.subject,
        'Malote <malote@firm.example>',
        people.to.join(', '),
        '<opened-1@firm.example>',
        'auto-generated',
      ],
    );
  });

  test('that the server refuses fails with its codes, and with nothing else of it', async () => {
    const server = await mailServer();
    server.refuseWith = 'greylisted, says somebody@elsewhere.example';
    await assert.rejects(createMailer({ url: server.url, ...people })(MESSAGE), (error) => {
      assert.ok(error instanceof MailFailed);
      assert.equal(error.message, 'the mail server did not take the mail (EMESSAGE 451)');
      return true;
    });
  });

  test('of a server that is not there fails', async () => {
    const gone = createMailer({ url: 'smtp://127.0.0.1:1', ...people });
    await assert.rejects(gone(MESSAGE), /^MailFailed: the mail server did not take the mail \(E[A-Z]+\)$/);
  });

  test('is not sent, and neither is the password, where anybody may read along', async () => {
    const passwords: unknown[] = [];
    const server = await mailServer({
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth: (auth, _session, done) => {
        passwords.push(auth.password);
        done(null, { user: 'u' });
      },
    });
    const send = createMailer({ url: server.url.replace('//', '//user:geheim@'), ...people });
    await assert.rejects(send(MESSAGE), (error) => {
      assert.ok(error instanceof MailFailed);
      assert.match(error.message, /\(ETLS/);
      return true;
    });
    assert.deepEqual([passwords, server.mails], [[], []]);
  });
});
