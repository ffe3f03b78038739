/** Everything a workflow worker registers. Only workflow functions are exported from here. */
export { capture } from './capture.js';
export { delivery } from './delivery.js';
export { erasure } from './erasure.js';
export { exportDocuments } from './export.js';
export { housekeeping } from './housekeeping.js';
export { importDocuments } from './import.js';
export { manifestation } from './manifestation.js';
export { nightlyGaps } from './nightly-gaps.js';
export { onDemand } from './on-demand.js';
export { reprocessArchive } from './reprocess-archive.js';
