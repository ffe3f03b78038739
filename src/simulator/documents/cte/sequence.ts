import { accessKeyParts, isAccessKey } from '../../../documents/access-key.js';
import type { CteKind } from '../kinds.js';
import { type Cast, indexOfNumber, makeCast } from '../note.js';
import { knownPerson } from '../people.js';
import { SeededRandom } from '../random.js';
import { type SequenceDocument, Stretches } from '../stretches.js';
import { CTE_EVENT_TYPES, procEventoCte } from './cte-event.js';
import { type Freight, type FreightForm, type FreightRole, makeFreight } from './freight.js';
import { type FreightFacts, freightGiven } from './given.js';
import { type FreightLayout, procCte } from './proc-cte.js';

const SCHEMAS: Record<CteKind, string> = {
  procCTe: 'procCTe_v4.00.xsd',
  procCTeOS: 'procCTeOS_v4.00.xsd',
  // As production has sent it: the root element says what it is.
  procCTeSimp: 'procCTe_v4.00.xsd',
  procGTVe: 'procGTVe_v4.00.xsd',
  procEventoCTe: 'procEventoCTe_v4.00.xsd',
  procCTe300: 'procCTe_v3.00.xsd',
  procCTe200: 'procCTe_v2.00.xsd',
  unknown: 'procCTeNovo_v5.00.xsd',
};

const FORMS: { readonly [kind in CteKind]?: readonly [FreightForm, FreightLayout] } = {
  procCTe: ['CTe', '4.00'],
  procCTeOS: ['CTeOS', '4.00'],
  procCTeSimp: ['CTeSimp', '4.00'],
  procGTVe: ['GTVe', '4.00'],
  procCTe300: ['CTe', '3.00'],
  procCTe200: ['CTe', '2.00'],
};

const ROLES: Readonly<Record<FreightForm, readonly (readonly [FreightRole, number])[]>> = {
  CTe: [
    ['taker', 4],
    ['recipient', 4],
    ['sender', 2],
    ['dispatcher', 1],
    ['receiver', 1],
    ['autXML', 2],
  ],
  CTeOS: [
    ['taker', 4],
    ['autXML', 1],
  ],
  CTeSimp: [
    ['taker', 2],
    ['sender', 1],
    ['receiver', 1],
    ['autXML', 1],
  ],
  GTVe: [
    ['sender', 1],
    ['recipient', 1],
    ['taker', 1],
    ['autXML', 1],
  ],
};

/** How far away from its document an event may come: before it or after it. More than a page. */
const EVENT_REACH = 60;

/** The CT-e documents of one tax ID. */
export class CteSequence extends Stretches {
  private castMade: Cast | null = null;

  protected makeAt(index: number): SequenceDocument {
    const kind = this.kindAt(index);
    return { kind, schema: SCHEMAS[kind], xml: this.xmlOf(kind, index) };
  }

  protected wholeAt(): SequenceDocument {
    throw new RangeError('CT-e come whole: there are no summaries');
  }

  /** What these documents say of the transport with this access key: those that were made, and those that were given. */
  findFreight(key: string, at: number): FreightFacts | null {
    if (!isAccessKey(key)) return null;
    const index = indexOfNumber(this.cast.seed, Number(accessKeyParts(key).number));
    if (this.formAt(index) === null) return freightGiven(this.givenDocuments(), key);
    const { key: found, taker, issuedAt, authorizedAt } = this.freightAt(index);
    if (found !== key) return freightGiven(this.givenDocuments(), key);
    return { taker: taker.taxId, issuedAt, authorizedAt, cancelled: this.isCancelled(index, at) };
  }

  private isCancelled(freightIndex: number, at: number): boolean {
    const { key } = this.freightAt(freightIndex);
    const end = Math.min(this.length, freightIndex + EVENT_REACH + 1);
    for (let index = Math.max(0, freightIndex - EVENT_REACH); index < end; index++) {
      if (this.generatedAt(index) === null || this.kindAt(index) !== 'procEventoCTe') continue;
      const target = this.eventTarget(index);
      if (target.type === '110111' && target.freight.key === key && this.receivedAt(index) <= at) return true;
    }
    return false;
  }

  private get cast(): Cast {
    const { worldSeed, taxId, name, uf, environmentCode } = this.profile;
    const made = () => makeCast(worldSeed, knownPerson(worldSeed, taxId, name, uf), environmentCode);
    this.castMade ??= { ...made(), seed: `${made().seed}/cte` };
    return this.castMade;
  }

  private xmlOf(kind: CteKind, index: number): string {
    const form = FORMS[kind];
    if (form !== undefined) return procCte(this.freightAt(index), form[1]);
    if (kind === 'procEventoCTe') {
      const { freight, type } = this.eventTarget(index);
      return procEventoCte(`${this.cast.seed}/event/${index}`, freight, type, this.receivedAt(index));
    }
    return (
      '<cteNovoProc xmlns="http://www.portalfiscal.inf.br/cte" versao="5.00"><CTeNovo>' +
      `<infCte Id="CTe${this.freightAt(index).key}" versao="5.00"/></CTeNovo></cteNovoProc>`
    );
  }

  /** Which transport an event speaks of: one that came before or comes soon; one of the company's own, whose document it never gets. */
  private eventTarget(index: number): { freight: Freight; type: string } {
    const random = new SeededRandom(`${this.cast.seed}/target/${index}`);
    const type = this.generatedAt(index)?.eventType ?? random.pick(CTE_EVENT_TYPES);
    if (random.oneIn(10)) return { freight: this.freightAt(index), type };
    const direction = random.oneIn(5) ? 1 : -1;
    for (let attempt = 0; attempt < 6; attempt++) {
      const candidate = index + direction * random.between(1, EVENT_REACH);
      if (this.formAt(candidate) !== null) return { freight: this.freightAt(candidate), type };
    }
    return { freight: this.freightAt(index), type };
  }

  private kindAt(index: number): CteKind {
    const weights = Object.entries(this.generatedAt(index)?.kinds ?? {}) as [CteKind, number][];
    return new SeededRandom(`${this.cast.seed}/kind/${index}`).weighted(weights);
  }

  private formAt(index: number): FreightForm | null {
    if (this.generatedAt(index) === null) return null;
    return FORMS[this.kindAt(index)]?.[0] ?? null;
  }

  private freightAt(index: number): Freight {
    const form = this.formAt(index);
    const random = new SeededRandom(`${this.cast.seed}/role/${index}`);
    // At the position of an event stands a transport of the company's own.
    const role: FreightRole = form === null ? 'issuer' : random.weighted(ROLES[form]);
    return makeFreight(this.cast, { index, form: form ?? 'CTe', role, receivedAt: this.receivedAt(index) });
  }
}
