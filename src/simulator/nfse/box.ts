import { createHash } from 'node:crypto';
import type { Environment } from '../../model/words.js';
import { cancellation, type InvoiceParts, invoice, invoiceKey, type Person } from './documents.js';

/** One document in a company's box at the ADN. */
export interface BoxItem {
  readonly nsu: number;
  /** TipoDocumento. */
  readonly type: 'NFSE' | 'EVENTO';
  readonly key: string;
  readonly xml: string;
  /** Milliseconds. */
  readonly at: number;
  /** Left out when its number is passed for the first time; given to whoever comes by again. */
  readonly withheld: boolean;
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
  /** Every n-th document is withheld. */
  readonly withholdEvery?: number;
  /** Milliseconds: when the last was issued … */
  readonly at: number;
  /** … and over how long before that the others were. */
  readonly spreadMs?: number;
}

/** A document with exactly these bytes. */
export type GivenDocument = Pick<BoxItem, 'type' | 'key' | 'xml' | 'at'>;

/** What is remembered of whoever empties the box. */
export interface BoxState {
  /** When it was last told that there is nothing more; null: there was more. */
  readonly toldEmptyAt: number | null;
  /** The highest number that was given. */
  readonly reach: number;
}

const PROVIDER: Person = { taxId: '10111213000144', name: 'Prestadora Fictícia Ltda' };
const STRANGER: Person = { taxId: '40414243000190', name: 'Outra Empresa Fictícia Ltda' };
const PAGE = 50;

/** The numbered documents of one tax ID in one environment, and what the ADN remembers of its calls. The same arrivals make the same documents. */
export class Box {
  readonly items: BoxItem[] = [];
  state: BoxState = { toldEmptyAt: null, reach: 0 };
  #last = 0;
  #invoices = 0;
  #newest: InvoiceParts | null = null;

  constructor(
    readonly taxId: string,
    readonly environment: Environment,
  ) {}

  /** The highest number in use. */
  get last(): number {
    return this.#last;
  }

  arrive(arrivals: Arrivals): void {
    const { count, eventsEvery = 0, strangersEvery = 0, issuedEvery = 0, skipEvery = 0, withholdEvery = 0 } = arrivals;
    const isNth = (index: number, every: number) => every > 0 && index % every === 0;
    const issuedAt = (index: number) => arrivals.at - Math.round(((arrivals.spreadMs ?? 0) * (count - index)) / count);
    for (let index = 1; index <= count; index++) {
      const at = issuedAt(index);
      const withheld = isNth(index, withholdEvery);
      if (isNth(index, skipEvery)) this.#last += 1;
      if (isNth(index, eventsEvery)) {
        // Of the note before it, or of the one that comes after it.
        const next = () => this.#note(this.#invoices + 1, issuedAt(index + 1), PROVIDER, this.#company());
        const note = (arrivals.eventFirst ? null : this.#newest) ?? next();
        const key = invoiceKey(note);
        this.#add(
          { type: 'EVENTO', key, xml: cancellation(key, note.provider.taxId, at, this.environment), at },
          withheld,
        );
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
      this.#newest = note;
      this.#add({ type: 'NFSE', key: invoiceKey(note), xml: invoice(note), at }, withheld);
    }
  }

  give(document: GivenDocument): void {
    this.#add(document, false);
  }

  /** The page after a number, or from it on. */
  after(
    nsu: number,
    { inclusive, size = PAGE }: { readonly inclusive: boolean; readonly size?: number | undefined },
  ): BoxItem[] {
    const { reach } = this.state;
    return this.items
      .filter((item) => item.nsu > nsu || (inclusive && item.nsu === nsu))
      .filter((item) => !item.withheld || item.nsu <= reach)
      .slice(0, size);
  }

  /** What a client must have in the end: number and SHA-256 of the XML. */
  truth(): { nsu: string; sha256: string }[] {
    return this.items.map(({ nsu, xml }) => ({
      nsu: String(nsu).padStart(15, '0'),
      sha256: createHash('sha256').update(xml).digest('hex'),
    }));
  }

  #add(document: GivenDocument, withheld: boolean): void {
    this.#last += 1;
    this.items.push({ ...document, nsu: this.#last, withheld });
    this.state = { ...this.state, toldEmptyAt: null };
  }

  #company(): Person {
    return { taxId: this.taxId, name: 'Tomadora Fictícia S.A.' };
  }

  #note(number: number, issuedAt: number, provider: Person, taker: Person): InvoiceParts {
    return { box: this.taxId, number, provider, taker, issuedAt, environment: this.environment };
  }
}
