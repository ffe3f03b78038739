import { createTransport } from 'nodemailer';
import type { MailSettings } from './config.js';

/** A mail to operators. */
export interface MailMessage {
  /** Names the mail: a repeat under the same id is recognizable as one. Letters, digits, `-` and `.`. */
  readonly id: string;
  readonly subject: string;
  readonly text: string;
}

/** Sends a mail to everybody whom the settings name. @throws {MailFailed} and nothing else */
export type SendMail = (message: MailMessage) => Promise<void>;

/** Rebuilt from codes alone: the library's own words hold addresses and what the server said of them. */
export class MailFailed extends Error {
  override readonly name = 'MailFailed';
}

const CONNECT_WITHIN_MS = 10_000;
/** From connecting to the server's last word. */
const SEND_WITHIN_MS = 30_000;

/** A connection for each mail: there are few. */
export function createMailer({ url, from, to }: MailSettings): SendMail {
  const { protocol, hostname, port, username, password } = new URL(url);
  const secure = protocol === 'smtps:';
  const transport = createTransport({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || (secure ? 465 : 587)),
    secure,
    // A password is never sent over a connection that anybody may read.
    requireTLS: !secure && password !== '',
    ...(username !== '' && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    connectionTimeout: CONNECT_WITHIN_MS,
    greetingTimeout: CONNECT_WITHIN_MS,
    dnsTimeout: CONNECT_WITHIN_MS,
    socketTimeout: CONNECT_WITHIN_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const domain = from.slice(from.lastIndexOf('@') + 1);
  return async ({ id, subject, text }) => {
    try {
      await transport.sendMail({
        from: { name: 'Malote', address: from },
        to: [...to],
        subject,
        text,
        messageId: `<${id}@${domain}>`,
        // Nobody's holiday notice answers it.
        headers: { 'Auto-Submitted': 'auto-generated' },
        signal: AbortSignal.timeout(SEND_WITHIN_MS),
      });
    } catch (error) {
      throw new MailFailed(`the mail server did not take the mail (${codesOf(error)})`);
    }
  };
}

/** `EAUTH 535`: the library's code, and the server's. */
function codesOf(error: unknown): string {
  const { code, responseCode, name } = error as { code?: unknown; responseCode?: unknown; name?: unknown };
  const known = [code ?? name, responseCode].filter((part) => /^[A-Za-z0-9_]{1,40}$/.test(String(part ?? '')));
  return known.length === 0 ? 'unknown' : known.join(' ');
}
