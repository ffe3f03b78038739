import type { Environment } from '../../model/words.js';
import { type Arrivals, Box, type BoxItem, type BoxState, type GivenDocument } from './box.js';

/** What happened to a box, in the order in which it has to be done again to get the same box. */
export type BoxChange =
  | { readonly arrive: Arrivals }
  | { readonly give: GivenDocument }
  | { readonly state: BoxState }
  | { readonly removed: true };

/** Whose box, in which environment. */
export interface BoxName {
  readonly taxId: string;
  readonly environment: Environment;
}

/** Told about what has to outlive a restart. */
export interface BoxObserver {
  boxChanged(name: BoxName, change: BoxChange): void;
}

/** The boxes of everybody. A tax ID that was never set up has an empty one. */
export class Boxes {
  readonly #boxes = new Map<string, Box>();

  constructor(private readonly observer: BoxObserver) {}

  find({ taxId, environment }: BoxName): Box | null {
    return this.#boxes.get(`${environment}/${taxId}`) ?? null;
  }

  of(name: BoxName): Box {
    const { taxId, environment } = name;
    const box = this.find(name) ?? new Box(taxId, environment);
    this.#boxes.set(`${environment}/${taxId}`, box);
    return box;
  }

  all(): Box[] {
    return [...this.#boxes.values()];
  }

  change(name: BoxName, change: BoxChange): void {
    this.apply(name, change);
    this.observer.boxChanged({ taxId: name.taxId, environment: name.environment }, change);
  }

  /** As {@link change}, of what a folder kept; tells nobody. */
  apply(name: BoxName, change: BoxChange): void {
    if ('removed' in change) {
      this.#boxes.delete(`${name.environment}/${name.taxId}`);
      return;
    }
    const box = this.of(name);
    if ('arrive' in change) box.arrive(change.arrive);
    else if ('give' in change) box.give(change.give);
    else box.state = change.state;
  }

  /** Every document about a note, once, whoever's box it is in. */
  about(key: string, environment: Environment): BoxItem[] {
    const items = this.all()
      .filter((box) => box.environment === environment)
      .flatMap((box) => box.items.filter((item) => item.key === key));
    return [...new Map(items.map((item) => [item.xml, item])).values()];
  }

  /** Puts a document into every box that has the note: each of its parties gets it. */
  giveToParties(document: GivenDocument, environment: Environment): void {
    for (const box of this.all()) {
      if (box.environment !== environment) continue;
      if (box.items.some(({ type, key }) => type === 'NFSE' && key === document.key)) {
        this.change(box, { give: document });
      }
    }
  }
}
