import { dateAndTime, joined } from './kit/formats.js';
import { printable } from './kit/printable.js';
import type { Situation } from './situation.js';

/** Whether a document is worth anything, as its page must say it. */
export interface Standing {
  /** Across the sheet in large letters. */
  readonly watermarks: readonly string[];
  /** In the header, in bold. */
  readonly notices: readonly string[];
  readonly protocolLabel: string;
}

/** What became of an NF-e or CT-e, which its own protocol and its events tell together. */
export interface Fate {
  readonly cancelled: boolean;
  readonly denied: boolean;
  /** Nobody has said anything about it. */
  readonly unauthorized: boolean;
  /** Of the box that holds the protocol. */
  readonly protocolLabel: string;
}

/** cStat of protocols: some services once put the cancellation into the document's own. */
const CANCELLED: ReadonlySet<string> = new Set(['101', '151', '155']);

/**
 * @param status cStat of the document's protocol; empty: it has none
 * @param denials the cStat that deny a document of this type
 */
export function fateOf(status: string, denials: ReadonlySet<string>, { state }: Situation): Fate {
  const cancelled = state === 'cancelled' || CANCELLED.has(status);
  const denied = !cancelled && (state === 'denied' || denials.has(status));
  return {
    cancelled,
    denied,
    unauthorized: status === '' && !cancelled && !denied,
    protocolLabel: CANCELLED.has(status)
      ? 'PROTOCOLO DE HOMOLOGAÇÃO DE CANCELAMENTO'
      : denied
        ? 'PROTOCOLO DE DENEGAÇÃO DE USO'
        : 'PROTOCOLO DE AUTORIZAÇÃO DE USO',
  };
}

/** That a document is cancelled, with date and protocol where they are known. @param subject `NOTA FISCAL CANCELADA` */
export function cancellationNotices(
  subject: string,
  { cancelledAt = '', cancellationProtocol = '' }: Situation,
): string[] {
  const when = cancelledAt === '' ? '' : `EM ${dateAndTime(printable(cancelledAt))}`;
  const protocol = cancellationProtocol === '' ? '' : `PROTOCOLO ${printable(cancellationProtocol)}`;
  return [joined([subject, when], ' '), protocol];
}

/** How a document was issued that is not normal, and whether an authorization is still to come. @param contingency empty: normal */
export function authorizationNotice(contingency: string, { unauthorized }: Fate): string {
  if (!unauthorized) return contingency;
  return joined([contingency, contingency === '' ? 'SEM PROTOCOLO DE AUTORIZAÇÃO' : 'PENDENTE DE AUTORIZAÇÃO'], ' - ');
}
