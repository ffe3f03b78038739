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

/** That a document is cancelled, with date and protocol where they are known. @param subject `NOTA FISCAL CANCELADA` */
export function cancellationNotices(
  subject: string,
  { cancelledAt = '', cancellationProtocol = '' }: Situation,
): string[] {
  const when = cancelledAt === '' ? '' : `EM ${dateAndTime(printable(cancelledAt))}`;
  const protocol = cancellationProtocol === '' ? '' : `PROTOCOLO ${printable(cancellationProtocol)}`;
  return [joined([subject, when], ' '), protocol];
}
