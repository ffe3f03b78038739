import { type Capture, colored } from './capture-table.js';
import { localTime, printFields } from './output.js';

/** All that is known of one capture. */
export function printCapture(capture: Capture): void {
  const { ultNsu, maxNsu, lag, lastStatusCode, lastStatusText, pointQueries, options, pausedUntil } = capture;
  const time = (instant: string | null) => (instant === null ? null : localTime(instant));
  const { used, limit, nextSlotAt, suspendedUntil } = pointQueries;
  printFields({
    company: capture.companyId,
    type: capture.documentType,
    environment: capture.environment,
    phase: `${colored(capture.phase)} (${capture.reason})`,
    NSU: `${BigInt(ultNsu)} of ${BigInt(maxNsu)}, ${lag} to go`,
    documents: String(capture.documents),
    'last query': time(capture.lastQueryAt),
    'last answer': [lastStatusCode, lastStatusText].filter(Boolean).join(' '),
    'next query': time(capture.nextQueryAt),
    'blocked until': time(capture.blockedUntil),
    'paused until': pausedUntil === 'indefinitely' ? 'it is resumed' : time(pausedUntil),
    'single queries': `${used} of ${limit} in the last hour`,
    'next of them': time(suspendedUntil ?? nextSlotAt),
    'missing numbers': listed(capture.gaps),
    unreadable: capture.failedItems === 0 ? null : String(capture.failedItems),
    ...Object.fromEntries(Object.entries(options).map(([name, value]) => [`option ${name}`, shownOption(value)])),
    workflow: capture.workflowId,
  });
}

function listed(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([status, count]) => `${count} ${status}`)
    .join(', ');
}

function shownOption(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map((one) => one.join(' '))
    .join(', ');
}
