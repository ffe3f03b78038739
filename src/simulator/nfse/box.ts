import { createHash } from 'node:crypto';
import type { Environment } from '../../model/words.js';
import { cancellation, invoice, invoiceKey, type Person } from './documents.js';

/** One document in a company's box at the ADN. */
export interface BoxItem {
  readonly nsu: number;
  /** TipoDocumento. */
  readonly type: 'NFSE' | 'EVENTO';
  readonly key: string;
  readonly xml: string;
  /** Milliseconds. */
  readonly at: number;
}

/** What is put into a box. */
export interface Arrivals {
  readonly count: number;
  /** Every n-th document is the cancellation of a note of the same box … */
  readonly eventsEvery?: number;
  /** … and comes before its note. */
  readonly eventFirst?: boolean;
  /** Every n-th document is between strangers, as it happens with the certificate of an accountant's office. */
  readonly strangersEvery?: number;
  /** Every n-th document was issued by the company itself. */
  readonly issuedEvery?: number;
  /** Every n-th number is left out for good: the ADN has no promise to keep here. */
  readonly skipEvery?: number;
  /** Milliseconds: when they were issued. */
  readonly at: number;
}

const PROVIDER: Person = { taxId: '10111213000141', name: 'Prestadora Fictícia Ltda' };
const STRANGER: Person = { taxId: '40414243000165', name: 'Outra Empresa Fictícia Ltda' };

/** The numbered documents of one tax ID in one environment, and what the ADN remembers of its calls. */
export class Box {
  readonly items: BoxItem[] = [];
  /** When it was last told that there is nothing more; null: there was more. */
  toldEmptyAt: number | null = null;
  #last = 0;
  #invoices = 0;

  constructor(
    readonly taxId: string,
    readonly environment: Environment,
  ) {}

  arrive(arrivals: Arrivals): void {
    const { count, at, eventsEvery = 0, strangersEvery = 0, issuedEvery = 0, skipEvery = 0 } = arrivals;
    const isNth = (index: number, every: number) => every > 0 && index % every === 0;
    for (let index = 1; index <= count; index++) {
      if (isNth(index, skipEvery)) this.#last += 1;
      if (isNth(index, eventsEvery)) {
        // Of the note before it, or of the one that comes after it.
        const number = arrivals.eventFirst ? this.#invoices + 1 : Math.max(this.#invoices, 1);
        const note = this.#note(number, at, PROVIDER, this.#company());
        this.give('EVENTO', invoiceKey(note), cancellation(invoiceKey(note), PROVIDER.taxId, at, this.environment), at);
        continue;
      }
      this.#invoices += 1;
      const isStrange = isNth(index, strangersEvery);
      const isIssued = !isStrange && isNth(index, issuedEvery);
      const note = this.#note(
        this.#invoices,
        at,
        isIssued ? this.#company() : PROVIDER,
        isStrange || isIssued ? STRANGER : this.#company(),
      );
      this.give('NFSE', invoiceKey(note), invoice(note), at);
    }
  }

  give(type: BoxItem['type'], key: string, xml: string, at: number): void {
    this.#last += 1;
    this.items.push({ nsu: this.#last, type, key, xml, at });
    this.toldEmptyAt = null;
  }

  /** Up to 50 after the number, or the one with it. */
  after(nsu: number, { inclusive = false } = {}): BoxItem[] {
    return this.items.filter((item) => item.nsu > nsu || (inclusive && item.nsu === nsu)).slice(0, 50);
  }

  /** What a client must have in the end: number and SHA-256 of the XML. */
  truth(): { nsu: string; sha256: string }[] {
    return this.items.map(({ nsu, xml }) => ({
      nsu: String(nsu).padStart(15, '0'),
      sha256: createHash('sha256').update(xml).digest('hex'),
    }));
  }

  #company(): Person {
    return { taxId: this.taxId, name: 'Tomadora Fictícia S.A.' };
  }

  #note(number: number, issuedAt: number, provider: Person, taker: Person) {
    return { number, provider, taker, issuedAt, environment: this.environment };
  }
}
