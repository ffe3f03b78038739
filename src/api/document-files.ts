import { createHash } from 'node:crypto';
import { extractedXml } from '../documents/index.js';
import { type DocumentPdfs, NoPdf, PdfFailed, PdfsBusy } from '../pdf/index.js';
import type { DocumentRow } from '../storage/documents.js';
import type { ObjectStore } from '../storage/object-store/index.js';
import { readXml } from '../storage/read-xml.js';
import { Problem } from './problem.js';
import type { FileAnswer } from './send-file.js';

/** Seconds until a PDF that was not made for want of time may be asked for again. */
const AGAIN_S = 20;

/** The files that a document is downloaded as. */
export const FILE_KINDS = ['xml', 'pdf'] as const;
export type FileKind = (typeof FILE_KINDS)[number];

/** Where the files of a document come from. */
export interface FileSources {
  readonly objectStore: ObjectStore;
  readonly pdfs: DocumentPdfs;
}

/**
 * A document's file.
 *
 * @throws {Problem} for a PDF that there is not, or that cannot be made
 */
export function fileOf(sources: FileSources, document: DocumentRow, kind: FileKind): Promise<FileAnswer> {
  return kind === 'xml' ? Promise.resolve(xmlFile(sources, document)) : pdfFile(sources, document);
}

/** Byte for byte as the government gave it. */
function xmlFile({ objectStore }: FileSources, document: DocumentRow): FileAnswer {
  return {
    sha256: document.xmlSha256,
    type: 'application/xml',
    name: `${baseName(document)}.xml`,
    disposition: 'attachment',
    read: () => readXml(objectStore, document, extractedXml),
  };
}

async function pdfFile({ pdfs }: FileSources, document: DocumentRow): Promise<FileAnswer> {
  const pdf = await pdfs.get(document).catch((error: unknown) => {
    throw problemOf(error, document);
  });
  return {
    sha256: createHash('sha256').update(pdf).digest('hex'),
    type: 'application/pdf',
    name: `${baseName(document)}.pdf`,
    disposition: 'inline',
    read: async () => pdf,
  };
}

/**
 * What both files are named, without the ending: key and kind, of an event its type and number too, since it has its document's key.
 * What a broken document says must not become a path or a header.
 */
function baseName({ key, kind, id, event, eventType, eventSequence }: DocumentRow): string {
  const parts = [key ?? id, kind, ...(event === null ? [] : [eventType, eventSequence])];
  return parts
    .filter((part) => part !== null)
    .map((part) =>
      String(part)
        .replace(/[^0-9A-Za-z-]/g, '_')
        .slice(0, 60),
    )
    .join('-');
}

function problemOf(error: unknown, document: DocumentRow): unknown {
  if (error instanceof NoPdf) {
    return document.kind === 'resNFe'
      ? new Problem('summary_only', wayToFullXml(document))
      : new Problem('no_pdf', error.message);
  }
  if (error instanceof PdfsBusy) {
    return new Problem('pdf_busy', error.message, { retryAfter: AGAIN_S });
  }
  if (!(error instanceof PdfFailed)) return error;
  switch (error.failure) {
    case 'too_slow':
      return new Problem('pdf_too_slow', error.message, { retryAfter: AGAIN_S });
    case 'internal':
      return new Problem('pdf_failed', error.message);
    default:
      return new Problem('pdf_not_possible', error.message);
  }
}

function wayToFullXml({ fullXml, companyId, key }: DocumentRow): string {
  switch (fullXml) {
    case 'present':
      return `This is the summary of a note that is here in full: find it with GET /v1/documents?key=${key}&kind=procNFe`;
    case 'not_applicable':
      return 'This is the summary of a note that was cancelled or denied: the government gives its full XML to nobody any more';
    default:
      return (
        'Only the summary of this note has come. The government sends the full XML once the recipient has stated Awareness: ' +
        `POST /v1/companies/${companyId}/manifestations with this key and type 210210, or ask for it by its key (POST …/captures/nfe/reprocess)`
      );
  }
}
