/** What the workflow of an export and its activities say to each other. Ids and counts only. */

export interface ExportInput {
  readonly exportId: string;
  /** Whose turn it is, among the companies. */
  readonly companyId: string;
}

/** Answer of query `progress`, of exports and imports. */
export interface TransferProgress {
  readonly done: number;
  /** Null: not counted yet. */
  readonly total: number | null;
}

/** Queue `background`. */
export interface ExportRowActivities {
  /** Counts the documents, once. Null: the export has ended, or there is none. */
  openExport(input: { exportId: string }): Promise<TransferProgress | null>;
  /** Ends an export that is not done, and deletes what was written of it. */
  dropExport(input: { exportId: string; failed: boolean }): Promise<void>;
}

/** Queue `bulk`. */
export interface ExportActivities {
  /**
   * Writes the next part and commits it. `more` false: there was none left. Null: the export has ended meanwhile. An attempt that fails leaves
   * nothing that counts.
   */
  writeExportPart(input: { exportId: string }): Promise<(TransferProgress & { more: boolean }) | null>;
  /** Joins the parts into the file that is downloaded, and deletes them. */
  joinExport(input: { exportId: string }): Promise<void>;
}
