import type { DocumentState } from '../model/document.js';

/** What is known of a document besides its XML, from its events: a cancelled note's XML is the same as before. */
export interface Situation {
  readonly state: DocumentState;
  /** When the cancellation was registered, as its event says it. */
  readonly cancelledAt?: string;
  readonly cancellationProtocol?: string;
}
