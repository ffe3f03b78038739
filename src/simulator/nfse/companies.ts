import { z } from 'zod';
import type { Environment } from '../../model/words.js';
import type { SimulatorClock } from '../clock.js';
import { NotPossible } from '../companies.js';
import { environment, instantSchema, nsu, taxId } from '../requests.js';
import type { Arrivals, Box, BoxItem, BoxState } from './box.js';
import type { Boxes, BoxName } from './boxes.js';

/** Boxes are kept whole in memory. */
const MOST = 100_000;
const nth = z.number().int().min(2).optional();

/** What comes. Default: notes that the company took, and nothing else. */
const documents = {
  /** Every n-th document is the cancellation of a note … */
  eventsEvery: nth,
  /** … and comes before it. */
  eventFirst: z.boolean().optional(),
  strangersEvery: nth,
  issuedEvery: nth,
  /** `exist`: every n-th number is left out of its page, and comes when it is asked for again; else for good. */
  gaps: z.object({ every: z.number().int().min(2), exist: z.boolean().default(true) }).optional(),
  /** When the last one was issued. Default: now. */
  arrivedAt: instantSchema.optional(),
  /** Days before that over which the others are spread. */
  spreadDays: z.number().min(0).max(3650).default(0),
};
const who = { documentType: z.literal('nfse').default('nfse'), taxId, environment };

const companySchema = z.object({ ...who, backlog: z.number().int().min(0).max(MOST).default(0), ...documents });
const arrivalsSchema = z.object({ ...who, count: z.number().int().min(1).max(MOST).default(1), ...documents });
const givenSchema = z.object({ ...who, documents: z.array(z.object({ xml: z.string() })).min(1) });
const whoSchema = z.object(who);
const truthSchema = whoSchema.extend({
  after: nsu.optional(),
  limit: z.coerce.number().int().min(1).default(1_000_000),
});
const documentSchema = whoSchema.extend({ nsu });

/** A company's box as the control API shows it. */
export interface BoxView {
  readonly documentType: 'nfse';
  readonly taxId: string;
  readonly environment: Environment;
  readonly maxNsu: string;
  readonly state: BoxState;
}

/** Companies with their boxes: the twin of `Companies` for NFS-e. */
export class NfseCompanies {
  constructor(
    private readonly boxes: Boxes,
    private readonly clock: SimulatorClock,
  ) {}

  /** Makes a company with a backlog. Replaces one that exists, with all that the government remembers of it. */
  add(input: z.input<typeof companySchema>): BoxView {
    const { backlog, ...request } = companySchema.parse(input);
    if (this.boxes.find(request)) this.boxes.change(request, { removed: true });
    const state = { toldEmptyAt: null, reach: 0 };
    this.boxes.change(request, backlog > 0 ? { arrive: this.#arrivals(request, backlog) } : { state });
    return view(this.boxes.of(request));
  }

  /** New documents at the end of the box, which is made if need be. */
  arrive(input: z.input<typeof arrivalsSchema>): BoxView & { readonly numbered: number } {
    const { count, ...request } = arrivalsSchema.parse(input);
    this.boxes.change(request, { arrive: this.#arrivals(request, count) });
    return { ...view(this.boxes.of(request)), numbered: count };
  }

  /** Documents with exactly these bytes. */
  give(input: z.input<typeof givenSchema>): BoxView {
    const request = givenSchema.parse(input);
    for (const { xml } of request.documents) {
      const key = /Id="(?:NFS|EVT)([0-9A-Z]{50})/.exec(xml)?.[1] ?? '';
      const type = /<evento[\s>]/.test(xml) ? 'EVENTO' : 'NFSE';
      this.boxes.change(request, { give: { type, key, xml, at: this.clock.now() } });
    }
    return view(this.boxes.of(request));
  }

  list(): BoxView[] {
    return this.boxes.all().map(view);
  }

  get(input: z.input<typeof whoSchema>): BoxView {
    return view(this.#existing(whoSchema.parse(input)));
  }

  remove(input: z.input<typeof whoSchema>): void {
    this.boxes.change(this.#existing(whoSchema.parse(input)), { removed: true });
  }

  removeAll(): void {
    for (const box of this.boxes.all()) this.boxes.change(box, { removed: true });
  }

  /** Every number that exists, with the SHA-256 of its XML: what a client must have when nothing was lost. */
  truth(input: z.input<typeof truthSchema>): { nsu: string; sha256: string }[] {
    const { after = '', limit, ...name } = truthSchema.parse(input);
    return this.#existing(name)
      .truth()
      .filter((entry) => entry.nsu > after)
      .slice(0, limit);
  }

  /** One document. */
  document(input: z.input<typeof documentSchema>): { schema: string; xml: string } {
    const { nsu: number, ...name } = documentSchema.parse(input);
    const found = this.#existing(name).items.find((item) => item.nsu === Number(number));
    if (!found) throw new NotPossible(`No document has NSU ${number}`);
    return { schema: found.type, xml: found.xml };
  }

  /** What is in a box, in order. */
  items(input: z.input<typeof whoSchema>): readonly BoxItem[] {
    return this.#existing(whoSchema.parse(input)).items;
  }

  #existing(name: BoxName): Box {
    const box = this.boxes.find(name);
    if (box) return box;
    throw new NotPossible(`No company …${name.taxId.slice(-4)} in ${name.environment}: add it with POST /companies`);
  }

  #arrivals(request: Omit<z.output<typeof arrivalsSchema>, 'count'>, count: number): Arrivals {
    const { eventsEvery, eventFirst, strangersEvery, issuedEvery, gaps, arrivedAt, spreadDays } = request;
    const every = gaps && (gaps.exist ? { withholdEvery: gaps.every } : { skipEvery: gaps.every });
    return {
      count,
      at: arrivedAt ?? this.clock.now(),
      spreadMs: spreadDays * 86_400_000,
      ...every,
      ...(eventsEvery && { eventsEvery }),
      ...(eventFirst && { eventFirst }),
      ...(strangersEvery && { strangersEvery }),
      ...(issuedEvery && { issuedEvery }),
    };
  }
}

function view({ taxId: id, environment: where, last, state }: Box): BoxView {
  return { documentType: 'nfse', taxId: id, environment: where, maxNsu: String(last).padStart(15, '0'), state };
}
