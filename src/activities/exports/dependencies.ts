import type { ActivityDependencies } from '../dependencies.js';
import type { RenderPdf } from './print-documents.js';

/** What exports need. */
export interface ExportDependencies
  extends Pick<ActivityDependencies, 'database' | 'objectStore' | 'clock' | 'limits' | 'failpoint'> {
  readonly renderPdf: RenderPdf;
  /** Documents of a part; tests lower it. */
  readonly partDocuments?: number;
}
