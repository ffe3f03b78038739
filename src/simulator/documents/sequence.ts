import { accessKeyParts, isAccessKey } from '../../documents/access-key.js';
import type { Uf } from '../../documents/uf.js';
import { EVENTS_ABOUT_OTHERS, EVENTS_ABOUT_OWN, makeEvent, procEventoNfe } from './event.js';
import { type Cast, indexOfNumber, makeCast, makeNote, type Note, type Role } from './note.js';
import { knownPerson } from './people.js';
import { type NoteLayout, procNfe } from './proc-nfe.js';
import { SeededRandom } from './random.js';
import { resEvento, resNfe } from './summaries.js';

/** What can be made: the four kinds of today, two old layouts, and one that nobody knows yet. */
export const GENERATED_KINDS = [
  'procNFe',
  'resNFe',
  'procEventoNFe',
  'resEvento',
  'procNFe310',
  'procNFe200',
  'unknown',
] as const;
export type GeneratedKind = (typeof GENERATED_KINDS)[number];

const SCHEMAS: Record<GeneratedKind, string> = {
  procNFe: 'procNFe_v4.00.xsd',
  resNFe: 'resNFe_v1.01.xsd',
  procEventoNFe: 'procEventoNFe_v1.00.xsd',
  resEvento: 'resEvento_v1.01.xsd',
  procNFe310: 'procNFe_v3.10.xsd',
  procNFe200: 'procNFe_v2.00.xsd',
  unknown: 'resNovoDocumento_v1.00.xsd',
};

const LAYOUTS: Partial<Record<GeneratedKind, NoteLayout>> = { procNFe: '4.00', procNFe310: '3.10', procNFe200: '2.00' };

/** A run of positions that came by the same way. The sequence of a company is a list of them. */
export type Stretch =
  | {
      readonly type: 'generated';
      readonly count: number;
      /** How often each kind, as weights. */
      readonly kinds: Readonly<Partial<Record<GeneratedKind, number>>>;
      readonly items?: { readonly min: number; readonly max: number };
      /** One tpEvento for all events, known or not. */
      readonly eventType?: string;
      /** Reception of the last one, milliseconds; the others lie before it, evenly over `spreadMs`. */
      readonly arrivedAt: number;
      readonly spreadMs: number;
    }
  /** The whole documents of notes of which only summaries came before: what a manifestation brings. */
  | { readonly type: 'full'; readonly notes: readonly number[]; readonly arrivedAt: number }
  /** Exactly these bytes. */
  | {
      readonly type: 'given';
      readonly documents: readonly { readonly schema: string; readonly xml: string }[];
      readonly arrivedAt: number;
    };

export interface SequenceDocument {
  /** What it was made as; `given` documents say nothing. */
  readonly kind: GeneratedKind | 'given';
  /** The `schema` attribute of its docZip. */
  readonly schema: string;
  readonly xml: string;
}

export interface SequenceProfile {
  readonly worldSeed: string;
  readonly taxId: string;
  readonly name: string;
  readonly uf: Uf;
  /** tpAmb. */
  readonly environmentCode: '1' | '2';
}

/** How far back an event may look for its note. */
const EVENT_REACH = 40;

function stretchLength(stretch: Stretch): number {
  if (stretch.type === 'generated') return stretch.count;
  return stretch.type === 'full' ? stretch.notes.length : stretch.documents.length;
}

/** The documents of one tax ID in one environment, by position. Nothing is stored: each is made when asked for. */
export class Sequence {
  private readonly runs: { from: number; stretch: Stretch }[] = [];
  private total = 0;
  private castMade: Cast | null = null;

  constructor(readonly profile: SequenceProfile) {}

  get length(): number {
    return this.total;
  }

  append(stretch: Stretch): void {
    this.runs.push({ from: this.total, stretch });
    this.total += stretchLength(stretch);
  }

  /** @throws {RangeError} outside of the sequence */
  documentAt(index: number): SequenceDocument {
    const { stretch, from } = this.runAt(index);
    if (stretch.type === 'given') {
      const given = stretch.documents[index - from];
      if (given === undefined) throw new RangeError(`No document at position ${index}`);
      return { kind: 'given', ...given };
    }
    if (stretch.type === 'full') {
      return { kind: 'procNFe', schema: SCHEMAS.procNFe, xml: procNfe(this.noteAt(stretch.notes[index - from] ?? 0)) };
    }
    const kind = this.kindAt(index);
    return { kind, schema: SCHEMAS[kind], xml: this.xmlOf(kind, index) };
  }

  /**
   * The note with this access key, if one of these documents is about it. `cancelled`: a cancellation has come.
   * `manifested`: the whole document has come.
   */
  findNote(key: string): { index: number; note: Note; role: Role; cancelled: boolean; manifested: boolean } | null {
    if (!isAccessKey(key)) return null;
    const index = indexOfNumber(this.cast.seed, Number(accessKeyParts(key).number));
    if (index >= this.total || this.runAt(index).stretch.type !== 'generated') return null;
    const note = this.noteAt(index);
    if (note.key !== key) return null;
    const role = this.roleAt(index);
    return {
      index,
      note,
      role,
      cancelled: this.isCancelled(index),
      manifested: this.kindAt(index) in LAYOUTS || this.isWhole(index),
    };
  }

  /** The one document that a query by key gives for a note: whole, or its summary. */
  documentOfNote(found: { note: Note; role: Role; manifested: boolean }): SequenceDocument {
    const kind = found.role === 'recipient' && !found.manifested ? 'resNFe' : 'procNFe';
    return { kind, schema: SCHEMAS[kind], xml: kind === 'resNFe' ? resNfe(found.note) : procNfe(found.note) };
  }

  private get cast(): Cast {
    const { worldSeed, taxId, name, uf, environmentCode } = this.profile;
    this.castMade ??= makeCast(worldSeed, knownPerson(worldSeed, taxId, name, uf), environmentCode);
    return this.castMade;
  }

  private xmlOf(kind: GeneratedKind, index: number): string {
    const layout = LAYOUTS[kind];
    if (layout !== undefined) return procNfe(this.noteAt(index), layout);
    if (kind === 'resNFe') return resNfe(this.noteAt(index));
    if (kind === 'unknown') {
      return (
        '<resNovoDocumento xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.00">' +
        `<chNFe>${this.noteAt(index).key}</chNFe><xTexto>Documento de um tipo que ainda não existe</xTexto></resNovoDocumento>`
      );
    }
    const { note, type } = this.eventTarget(index);
    const event = makeEvent(`${this.cast.seed}/event/${index}`, note, type, this.receivedAt(index));
    return kind === 'resEvento' ? resEvento(event) : procEventoNfe(event);
  }

  /** Which note an event speaks of: mostly one that came shortly before, now and then one that never comes (case C32). */
  private eventTarget(index: number): { note: Note; noteIndex: number; type: string } {
    const random = new SeededRandom(`${this.cast.seed}/target/${index}`);
    const { stretch } = this.runAt(index);
    const forced = stretch.type === 'generated' ? stretch.eventType : undefined;
    let noteIndex = index;
    for (let attempt = 0; attempt < 4 && noteIndex === index && !random.oneIn(8); attempt++) {
      const candidate = index - random.between(1, EVENT_REACH);
      if (candidate >= 0 && this.isNote(candidate)) noteIndex = candidate;
    }
    const own = this.roleAt(noteIndex) === 'issuer';
    const type = forced ?? random.pick<string>(own ? EVENTS_ABOUT_OWN : EVENTS_ABOUT_OTHERS);
    return { note: this.noteAt(noteIndex), noteIndex, type };
  }

  private isCancelled(noteIndex: number): boolean {
    const end = Math.min(this.total, noteIndex + EVENT_REACH + 1);
    for (let index = noteIndex; index < end; index++) {
      if (this.runAt(index).stretch.type !== 'generated' || this.isNote(index)) continue;
      const target = this.eventTarget(index);
      if (target.noteIndex === noteIndex && target.type === '110111') return true;
    }
    return false;
  }

  private isWhole(noteIndex: number): boolean {
    return this.runs.some(({ stretch }) => stretch.type === 'full' && stretch.notes.includes(noteIndex));
  }

  private isNote(index: number): boolean {
    if (this.runAt(index).stretch.type !== 'generated') return false;
    const kind = this.kindAt(index);
    return kind === 'resNFe' || kind in LAYOUTS;
  }

  private kindAt(index: number): GeneratedKind {
    const { stretch } = this.runAt(index);
    if (stretch.type !== 'generated') throw new RangeError(`Position ${index} was not generated`);
    const weights = Object.entries(stretch.kinds) as [GeneratedKind, number][];
    return new SeededRandom(`${this.cast.seed}/kind/${index}`).weighted(weights);
  }

  private roleAt(index: number): Role {
    const kind = this.kindAt(index);
    if (kind === 'resNFe' || kind === 'unknown') return 'recipient';
    const random = new SeededRandom(`${this.cast.seed}/role/${index}`);
    if (kind in LAYOUTS) {
      return random.weighted<Role>([
        ['recipient', 5],
        ['carrier', 2],
        ['autXML', 2],
      ]);
    }
    return random.oneIn(2) ? 'issuer' : 'recipient';
  }

  private noteAt(index: number): Note {
    const { stretch } = this.runAt(index);
    return makeNote(this.cast, {
      index,
      role: this.roleAt(index),
      receivedAt: this.receivedAt(index),
      ...(stretch.type === 'generated' && stretch.items !== undefined ? { items: stretch.items } : {}),
    });
  }

  /** When the national environment received the document, milliseconds. */
  receivedAt(index: number): number {
    const { stretch, from } = this.runAt(index);
    if (stretch.type !== 'generated') return stretch.arrivedAt;
    return Math.round(stretch.arrivedAt - stretch.spreadMs * (1 - (index - from + 1) / stretch.count));
  }

  private runAt(index: number): { from: number; stretch: Stretch } {
    const run = index < this.total ? this.runs.findLast(({ from }) => from <= index) : undefined;
    if (index < 0 || run === undefined) throw new RangeError(`No document at position ${index}`);
    return run;
  }
}
