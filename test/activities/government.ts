import type { DistributionQuestion, DistributionService } from '../../src/activities/index.js';
import { readDistributionAnswer } from '../../src/government/distribution-answer.js';
import type { CallAnswer, ReadAnswer } from '../../src/government/types.js';
import { parseNsu, ZERO_NSU } from '../../src/model/nsu.js';
import type { PointAsk } from '../../src/model/point-query.js';
import { docZip, summary } from '../documents/samples.js';

/** One docZip of a page: an NSU (null: the answer gives none) and XML, or bytes that are none. */
export interface Item {
  readonly nsu: number | null;
  readonly xml?: string;
  readonly base64?: string;
  readonly schema?: string;
}

export const nsu = (n: number | bigint) => parseNsu(BigInt(n));

/** A run of summaries, one per NSU, each of a note of its own. */
export function summaries(from: number, to: number, keyOf: (n: number) => string): Item[] {
  return Array.from({ length: to - from + 1 }, (_, i) => ({ nsu: from + i, xml: summary({ key: keyOf(from + i) }) }));
}

/** The bytes of an answer. */
export function body(
  cStat: string,
  ultNsu: number | bigint,
  maxNsu: number | bigint,
  items: readonly Item[] = [],
): Buffer {
  const zips = items.map(({ nsu: n, xml, base64, schema }) => {
    const content = base64 ?? docZip(xml ?? '').toString('latin1');
    const attribute = n === null ? '' : ` NSU="${nsu(n)}"`;
    return `<docZip${attribute} schema="${schema ?? 'resNFe_v1.01.xsd'}">${content}</docZip>`;
  });
  const lot = items.length === 0 ? '' : `<loteDistDFeInt>${zips.join('')}</loteDistDFeInt>`;
  return Buffer.from(
    `<retDistDFeInt versao="1.01" xmlns="http://www.portalfiscal.inf.br/nfe"><tpAmb>2</tpAmb><verAplic>1</verAplic><cStat>${cStat}</cStat>` +
      `<xMotivo>answer ${cStat}</xMotivo><dhResp>${new Date().toISOString()}</dhResp><ultNSU>${nsu(ultNsu)}</ultNSU><maxNSU>${nsu(maxNsu)}</maxNSU>${lot}</retDistDFeInt>`,
  );
}

/** An answer with its bytes, read as the wire reads it. */
export const answered = (bytes: Buffer): CallAnswer => ({
  ...read(bytes),
  raw: { status: 200, contentType: 'application/soap+xml', headers: {}, body: bytes },
});

export const documents = (items: readonly Item[], ultNsu: number | bigint, maxNsu: number | bigint = ultNsu) =>
  answered(body('138', ultNsu, maxNsu, items));
export const none = (ultNsu = 0) => answered(body('137', ultNsu, ultNsu));
export const throttled = (ultNsu: number | bigint) => answered(body('656', ultNsu, 0));
export const refusal = (cStat: string) => answered(body(cStat, 0, 0));
export const html = () => answered(Buffer.from('<html>502 Bad Gateway</html>'));
export const nothing = (kind: 'not_sent' | 'unknown', reason: string): CallAnswer => ({
  outcome: { kind, reason },
  items: [],
  statusText: reason,
  serverTime: null,
  warnings: [],
  raw: null,
});

/** As an answer to a query from the beginning. */
function read(bytes: Uint8Array): ReadAnswer {
  return readDistributionAnswer(bytes, { contentType: null, httpStatus: 200, query: { distNSU: ZERO_NSU } });
}

/** A government that answers as it is told and writes down every request that left. */
export class ScriptedGovernment implements DistributionService {
  readonly journal: { companyId: string; ultNsu: string; at: number; point?: PointAsk | undefined }[] = [];
  #inFlight = new Map<string, number>();
  /** Most calls of one company at once, ever. Must stay 1. */
  overlap = 0;
  /** The next answers; the last one stays. */
  script: ((question: DistributionQuestion) => CallAnswer | Promise<CallAnswer>)[] = [() => none()];

  answers(...script: (CallAnswer | ((question: DistributionQuestion) => CallAnswer | Promise<CallAnswer>))[]): void {
    this.script = script.map((next) => (typeof next === 'function' ? next : () => next));
  }

  get calls(): number {
    return this.journal.length;
  }

  async ask(question: DistributionQuestion): Promise<CallAnswer> {
    try {
      question.beforeSend();
    } catch (error) {
      return nothing('not_sent', error instanceof Error ? error.message : 'not sent');
    }
    const { companyId } = question.capture;
    this.journal.push({ companyId, ultNsu: question.ultNsu, at: Date.now(), point: question.point });
    const together = (this.#inFlight.get(companyId) ?? 0) + 1;
    this.#inFlight.set(companyId, together);
    this.overlap = Math.max(this.overlap, together);
    try {
      const next = this.script.length > 1 ? this.script.shift() : this.script[0];
      return (await next?.(question)) ?? nothing('unknown', 'no script');
    } finally {
      this.#inFlight.set(companyId, together - 1);
    }
  }

  read = read;
}
