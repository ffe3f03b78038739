import type { TransferProgress } from './export-contract.js';

/** What the workflow of an import and its activities say to each other. Ids and counts only. */

export interface ImportInput {
  readonly importId: string;
  /** Whose turn it is, among the companies. */
  readonly companyId: string;
}

/** Queue `background`. */
export interface ImportRowActivities {
  /** Ends an import: its report is complete, its upload is deleted. */
  closeImport(input: { importId: string; failed: boolean }): Promise<void>;
}

/** Queue `bulk`. */
export interface ImportActivities {
  /** Looks at the upload as a whole and counts its files. Null: it has ended, or cannot be read at all. */
  openImport(input: { importId: string }): Promise<TransferProgress | null>;
  /** Works off the next files, and commits what became of them. `more` false: there were none left. Null: it has ended meanwhile. */
  importFiles(input: { importId: string }): Promise<(TransferProgress & { more: boolean }) | null>;
}
