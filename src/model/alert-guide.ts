import type { AlertCode } from './words.js';

/** What people are told about an alert, in mails and in docs/operating.md (a test compares). Plain text, one line each. */
export interface AlertGuide {
  readonly means: string;
  readonly closes: string;
  readonly whatToDo: string;
  /** It waits for people, days or weeks as a matter of course: a mail says that all is over although it is open. */
  readonly standing: boolean;
}

const trouble = (means: string, closes: string, whatToDo: string): AlertGuide => ({
  means,
  closes,
  whatToDo,
  standing: false,
});
const standing = (means: string, closes: string, whatToDo: string): AlertGuide => ({
  means,
  closes,
  whatToDo,
  standing: true,
});

/** What each alert means and what an operator does about it: the mails and docs/operating.md say the same. */
export const ALERT_GUIDE: Readonly<Record<AlertCode, AlertGuide>> = {
  certificate_expiring: standing(
    'a certificate that captures use ends in 30, 15, 7, 3 or 1 days (told anew at each)',
    'a renewed certificate is stored, of the company or of another one with the same root',
    'upload the renewed file',
  ),
  certificate_expired: trouble(
    'a company that is captured has no certificate that is valid now: ended, not yet valid, or missing',
    'a valid certificate is stored, or the capture is stopped',
    'upload the renewed file; the capture goes on by itself',
  ),
  capture_attention: trouble(
    'ten calls in a row failed: the capture tries only every 6 hours',
    'a call is answered, or the capture is resumed or stopped',
    'find the reason in its call log, then "malote capture resume"',
  ),
  capture_disabled: trouble(
    'the service refused the certificate ten times in a row (NFS-e)',
    'the capture is resumed or stopped',
    'renew the certificate, then resume the capture',
  ),
  capture_stalled: trouble(
    'documents are pending and none came for 6 hours; or a query is overdue by an hour although housekeeping woke it',
    'documents come, none is pending any more, or the capture is stopped or held',
    'its phase says why; if that is in order: do workers serve the queues "capture" and "nfe"? "TemporalReportedProblems" in the UI?',
  ),
  cursor_ahead: trouble(
    'the government says that our cursor is above its highest number (589), or a host says so of its own cursor',
    'a query is answered, or the capture is stopped; a host: it gives a cursor that exists',
    'wrong environment, or a database from elsewhere: an administrator lowers the cursor (PUT …/cursor)',
  ),
  other_consumer: trouble(
    'another program asks for the same tax ID: its calls use up ours (656)',
    'no sign of it for 24 hours, or the capture is stopped',
    "find it (often the accountant's) and stop one of both",
  ),
  numbering_at_risk: standing(
    'nobody asked for the documents of a known company for 45 days; told anew at 60, when the government stops numbering them, for good',
    'a query is answered; stopped and paused captures count too',
    'start the capture, or accept the loss; delete companies that left',
  ),
  full_xml_overdue: standing(
    'the whole document of a note has not come two days after the manifestation that asks for it',
    'no summary of the capture lacks its whole document any more',
    'look at documents with fullXml=overdue; ask for them by key (reprocess)',
  ),
  manifestation_deadline: standing(
    'the 90 days for a conclusive manifestation of a note end within 10 days',
    'every note whose time ends within 10 days has one, or its time is over (looked at every hour)',
    'list documents with deadlineBefore, and manifest',
  ),
  item_failed: trouble(
    'a document could not be decoded; its bytes are kept and tried again',
    'all items of the capture are decoded',
    "report it together with the item's archive",
  ),
  gap_too_large: standing(
    'over 2,000 numbers are missing',
    'a person decided about every such range',
    'confirm the recovery of the range, or leave it',
  ),
  handler_unavailable: trouble(
    'your own worker has not taken a page for 15 minutes',
    'it takes one, or the capture is stopped or has no handler any more',
    'look at that worker',
  ),
  endpoint_failing: trouble(
    'a webhook receiver has failed for a day',
    'a delivery succeeds, or the endpoint is deleted',
    'repair it: after 3 days it is disabled; nothing is lost',
  ),
  endpoint_disabled: trouble(
    'a webhook receiver has failed for 3 days, or said 410: its events are held',
    'the endpoint is enabled or deleted',
    'repair it, then enable it and choose what is sent again',
  ),
  service_outage: trouble(
    'five companies failed within 10 minutes and none was answered, or 50 NFS-e calls in a row failed: a service is down for all',
    'the service answers again',
    'wait; all go on alone, spread out',
  ),
  clock_skew: trouble(
    "our clock and the government's differ by over 30 s",
    'an answer shows that they agree',
    'look at the time synchronisation of the database server',
  ),
  database_behind: trouble(
    'a capture knows more than the database: it was restored from the past, and nothing is asked',
    'the database is repaired, or the capture is stopped',
    'stop the workers and run "malote verify --repair" (docs/operating.md, Restore)',
  ),
  same_nsu_other_bytes: standing(
    'the government sent a number again with other bytes; both are kept',
    'it did not happen for 7 days',
    'look; usually nothing',
  ),
  page_without_progress: trouble(
    'three pages in a row did not move the cursor',
    'a page moves it, the queue is empty, or the capture is stopped',
    'look; usually nothing',
  ),
};
