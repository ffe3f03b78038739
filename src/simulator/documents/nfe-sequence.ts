import { accessKeyParts, isAccessKey } from '../../documents/access-key.js';
import { EVENTS_ABOUT_OTHERS, EVENTS_ABOUT_OWN, makeEvent, procEventoNfe } from './event.js';
import type { NfeKind } from './kinds.js';
import { type Cast, indexOfNumber, makeCast, makeNote, type Note, type Role } from './note.js';
import { knownPerson } from './people.js';
import { type NoteLayout, procNfe } from './proc-nfe.js';
import { SeededRandom } from './random.js';
import { type SequenceDocument, Stretches } from './stretches.js';
import { resEvento, resNfe } from './summaries.js';

const SCHEMAS: Record<NfeKind, string> = {
  procNFe: 'procNFe_v4.00.xsd',
  resNFe: 'resNFe_v1.01.xsd',
  procEventoNFe: 'procEventoNFe_v1.00.xsd',
  resEvento: 'resEvento_v1.01.xsd',
  procNFe310: 'procNFe_v3.10.xsd',
  procNFe200: 'procNFe_v2.00.xsd',
  unknown: 'resNovoDocumento_v1.00.xsd',
};

const LAYOUTS: Partial<Record<NfeKind, NoteLayout>> = { procNFe: '4.00', procNFe310: '3.10', procNFe200: '2.00' };

/** How far back an event may look for its note. */
const EVENT_REACH = 40;

/** The NF-e documents of one tax ID. */
export class NfeSequence extends Stretches {
  private castMade: Cast | null = null;

  protected makeAt(index: number): SequenceDocument {
    const kind = this.kindAt(index);
    return { kind, schema: SCHEMAS[kind], xml: this.xmlOf(kind, index) };
  }

  protected wholeAt(index: number): SequenceDocument {
    return { kind: 'procNFe', schema: SCHEMAS.procNFe, xml: procNfe(this.noteAt(index)) };
  }

  /**
   * The note with this access key, if one of these documents is about it. `cancelled`: a cancellation has come.
   * `manifested`: the whole document has come.
   */
  findNote(key: string): { index: number; note: Note; role: Role; cancelled: boolean; manifested: boolean } | null {
    if (!isAccessKey(key)) return null;
    const index = indexOfNumber(this.cast.seed, Number(accessKeyParts(key).number));
    if (this.generatedAt(index) === null) return null;
    const note = this.noteAt(index);
    if (note.key !== key) return null;
    const role = this.roleAt(index);
    return {
      index,
      note,
      role,
      cancelled: this.isCancelled(index),
      manifested: this.kindAt(index) in LAYOUTS || this.hasWhole(index),
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

  private xmlOf(kind: NfeKind, index: number): string {
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
    const forced = this.generatedAt(index)?.eventType;
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
    const end = Math.min(this.length, noteIndex + EVENT_REACH + 1);
    for (let index = noteIndex; index < end; index++) {
      if (this.generatedAt(index) === null || this.isNote(index)) continue;
      const target = this.eventTarget(index);
      if (target.noteIndex === noteIndex && target.type === '110111') return true;
    }
    return false;
  }

  private isNote(index: number): boolean {
    if (this.generatedAt(index) === null) return false;
    const kind = this.kindAt(index);
    return kind === 'resNFe' || kind in LAYOUTS;
  }

  private kindAt(index: number): NfeKind {
    const stretch = this.generatedAt(index);
    if (stretch === null) throw new RangeError(`Position ${index} was not generated`);
    const weights = Object.entries(stretch.kinds) as [NfeKind, number][];
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
    const items = this.generatedAt(index)?.items;
    return makeNote(this.cast, {
      index,
      role: this.roleAt(index),
      receivedAt: this.receivedAt(index),
      ...(items === undefined ? {} : { items }),
    });
  }
}
