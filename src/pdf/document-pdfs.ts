import { createHash } from 'node:crypto';
import pLimit from 'p-limit';
import { extractedXml } from '../documents/index.js';
import type { DocumentKind } from '../model/document.js';
import { hasPrintedForm } from '../model/printed-form.js';
import type { Database } from '../storage/database.js';
import type { DocumentRow } from '../storage/documents.js';
import { ObjectNotFound, type ObjectStore, pdfKey } from '../storage/object-store/index.js';
import { findPdf, recordPdf } from '../storage/pdfs.js';
import { readXml } from '../storage/read-xml.js';
import { NoPdf, PdfsBusy } from './errors.js';
import { renderPdf as inThread } from './render.js';
import { PDF_LAYOUT_VERSION, type PdfRequest } from './request.js';
import type { Situation } from './situation.js';
import { situationOf } from './situation-of.js';

/** Asked for again and again. The others are made for each request. */
const KEPT: ReadonlySet<DocumentKind> = new Set(['procNFe', 'NFSe']);
/** XML and PDF of so many documents are in memory at once, each of some megabytes at most. */
const AT_ONCE = 8;
/** Those that wait hold nothing but their row; of more nobody would see the end. */
const MOST_WAITING = 200;

/** Where kept PDFs are. */
export interface PdfStores {
  readonly database: Database;
  readonly objectStore: ObjectStore;
  /** Default: in worker threads. */
  readonly renderPdf?: (request: PdfRequest) => Promise<Uint8Array>;
}

/**
 * The PDFs of stored documents: those that are kept come from the object store as long as they are what would be made now. Requests for
 * the same one at the same time make it once.
 */
export class DocumentPdfs {
  readonly #stores: PdfStores;
  readonly #turn = pLimit(AT_ONCE);
  readonly #making = new Map<string, Promise<Buffer>>();

  constructor(stores: PdfStores) {
    this.#stores = stores;
  }

  /**
   * The PDF as it has to be now.
   *
   * @throws {NoPdf} when there is no printed form of this document
   * @throws {PdfFailed} when it cannot be printed
   * @throws {PdfsBusy} when too many are waiting
   * @throws {XmlDamaged} @throws {ObjectNotFound} when its archive is not what it was
   * @throws {ObjectStoreUnavailable} @throws {DatabaseError}
   */
  async get(document: DocumentRow): Promise<Buffer> {
    if (!hasPrintedForm(document.kind, document.eventType)) throw new NoPdf(document.kind);
    const situation = await situationOf(this.#stores.database, document);
    const madeOf = hashOf(document, situation);
    return (await this.#kept(document, madeOf)) ?? this.#once(document, situation, madeOf);
  }

  /** Null: none is kept, it is about another situation, or its object is not what was written. It can be made again. */
  async #kept(document: DocumentRow, madeOf: string): Promise<Buffer | null> {
    if (!KEPT.has(document.kind)) return null;
    const { database, objectStore } = this.#stores;
    const kept = await findPdf(database, document.id);
    if (kept?.madeOf !== madeOf) return null;
    try {
      const pdf = await objectStore.get(kept.objectKey);
      return sha256(pdf) === kept.sha256 ? pdf : null;
    } catch (error) {
      if (error instanceof ObjectNotFound) return null;
      throw error;
    }
  }

  #once(document: DocumentRow, situation: Situation, madeOf: string): Promise<Buffer> {
    const name = `${document.id} ${madeOf}`;
    const underWay = this.#making.get(name);
    if (underWay !== undefined) return underWay;
    if (this.#turn.pendingCount >= MOST_WAITING) throw new PdfsBusy(MOST_WAITING);
    const making = this.#turn(() => this.#make(document, situation, madeOf)).finally(() => this.#making.delete(name));
    this.#making.set(name, making);
    return making;
  }

  async #make(document: DocumentRow, situation: Situation, madeOf: string): Promise<Buffer> {
    const { objectStore, renderPdf = inThread } = this.#stores;
    const xml = await readXml(objectStore, document, extractedXml);
    const made = await renderPdf({ kind: document.kind, xml, situation });
    const pdf = Buffer.from(made.buffer, made.byteOffset, made.byteLength);
    if (KEPT.has(document.kind)) await this.#keep(document, madeOf, pdf);
    return pdf;
  }

  /** The object first, then the row that points to it. */
  async #keep(document: DocumentRow, madeOf: string, pdf: Buffer): Promise<void> {
    const { database, objectStore } = this.#stores;
    const objectKey = pdfKey(document, madeOf);
    await objectStore.put(objectKey, pdf, { contentType: 'application/pdf' });
    const recorded = await recordPdf(database, document.id, { objectKey, madeOf, sha256: sha256(pdf) });
    // The company may be erased just now: what was written after its prefix was deleted would stay for ever.
    const unused = recorded === 'gone' ? objectKey : recorded.replaced;
    if (unused !== null) await objectStore.delete(unused);
  }
}

/** Nothing else makes a PDF's bytes. */
function hashOf({ xmlSha256 }: DocumentRow, { state, cancelledAt, cancellationProtocol }: Situation): string {
  return sha256(JSON.stringify([xmlSha256, PDF_LAYOUT_VERSION, state, cancelledAt ?? '', cancellationProtocol ?? '']));
}

function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
