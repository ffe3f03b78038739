/**
 * Hard limits of the decoder (design section 7). The largest legal NF-e (990 items) has about 3 MB; services refuse messages above that.
 * What is over a limit becomes a failed item whose bytes stay in the archive.
 */
export interface DecodeLimits {
  /** Bytes of the gzip stream (after base64). */
  readonly compressedBytes: number;
  /** Bytes of the XML. */
  readonly expandedBytes: number;
  /** Open elements at once. NF-e needs 10. */
  readonly depth: number;
  /** Milliseconds for parsing one document: a worker's event loop stands still that long. */
  readonly milliseconds: number;
}

/** The limits of production. */
export const DECODE_LIMITS: DecodeLimits = {
  compressedBytes: 2 * 1024 * 1024,
  expandedBytes: 10 * 1024 * 1024,
  depth: 100,
  milliseconds: 2_000,
};
