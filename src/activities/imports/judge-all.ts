import { createHash } from 'node:crypto';
import { v7 as uuid } from 'uuid';
import type { CaptureKey } from '../../model/words.js';
import type { Queryable } from '../../storage/database.js';
import { type Known, knownDocuments } from '../../storage/import-documents.js';
import { type ImportRow, importPrefix } from '../../storage/imports.js';
import type { ObjectStore } from '../../storage/object-store/index.js';
import { asKnown, type Judgement, judge } from './judge.js';
import type { DocumentFile } from './read-file.js';

/** Documents of one type and environment, with what becomes of each. */
export interface Judged {
  readonly capture: CaptureKey;
  /** New ones, under the ids that they get. */
  readonly fresh: readonly { readonly document: DocumentFile; readonly id: string }[];
  readonly others: readonly {
    readonly document: DocumentFile;
    readonly judgement: Exclude<Judgement, { readonly store: true }>;
  }[];
}

/** Judges documents in their order, each with those before it. */
export async function judgeAll(
  db: Queryable,
  documents: readonly DocumentFile[],
  { final, idOf }: { readonly final: boolean; readonly idOf: (entry: number) => string },
): Promise<Judged[]> {
  const judged: Judged[] = [];
  for (const group of byCapture(documents)) {
    const { capture } = group[0];
    const known = new Map<string, Known[]>();
    for (const one of await knownDocuments(db, capture, [...new Set(group.map(({ key }) => key))])) add(known, one);
    const fresh: Judged['fresh'][number][] = [];
    const others: Judged['others'][number][] = [];
    for (const document of group) {
      const judgement = judge(document, known.get(document.key) ?? [], final);
      if (!('store' in judgement)) {
        others.push({ document, judgement });
        continue;
      }
      const id = idOf(document.file.entry);
      fresh.push({ document, id });
      add(known, asKnown(document, id));
    }
    judged.push({ capture, fresh, others });
  }
  return judged;
}

/** Where the bytes of new documents stand. */
export interface ImportArchive {
  readonly id: string;
  readonly objectKey: string;
  readonly capture: CaptureKey;
  readonly size: number;
  readonly sha256: string;
  /** Of each document's first byte, by the entry of its file. */
  readonly offsets: ReadonlyMap<number, number>;
}

/** Writes the bytes of new documents into one object, one behind the other, before any row refers to it. Null: there are none. */
export async function archiveFresh(
  store: Pick<ObjectStore, 'put'>,
  upload: ImportRow,
  { capture, fresh }: Judged,
): Promise<ImportArchive | null> {
  if (fresh.length === 0) return null;
  const offsets = new Map<number, number>();
  let size = 0;
  for (const { document } of fresh) {
    offsets.set(document.file.entry, size);
    size += document.bytes.length;
  }
  // A name of its own for each attempt: what an earlier one committed is never written over.
  const id = uuid();
  const objectKey = `${importPrefix(upload)}${id}`;
  const body = Buffer.concat(fresh.map(({ document }) => document.bytes));
  await store.put(objectKey, body);
  return { id, objectKey, capture, size, sha256: createHash('sha256').update(body).digest('hex'), offsets };
}

function byCapture(documents: readonly DocumentFile[]): [DocumentFile, ...DocumentFile[]][] {
  const groups = new Map<string, [DocumentFile, ...DocumentFile[]]>();
  for (const document of documents) {
    const { documentType, environment } = document.capture;
    const name = `${documentType}/${environment}`;
    const others = groups.get(name);
    if (others) others.push(document);
    else groups.set(name, [document]);
  }
  return [...groups.values()];
}

function add(known: Map<string, Known[]>, one: Known): void {
  known.set(one.key, [...(known.get(one.key) ?? []), one]);
}
