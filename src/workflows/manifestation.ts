import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineSignal,
  log,
  setCurrentDetails,
  setDefaultSignalHandler,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { ManifestationInbox } from './manifestation-inbox.js';
import { added, describeSending, type Totals, waitOf } from './manifestation-plan.js';
import { type ManifestationInput, SIGNALS } from './messages.js';
import { manifestationCalls, manifestationRows } from './proxies.js';
import { publishOwner } from './search-attributes.js';

const wakeSignal = defineSignal(SIGNALS.wake);
const requestSignal = defineSignal<[unknown]>(SIGNALS.request);

const HISTORY_LIMIT = 300;

/**
 * Sends a company's manifestations, one request at a time, and completes when nothing is pending. It holds nothing but requests that
 * came by signal and are not written down yet: what is due stands in the database, so it can be ended and started again at any time.
 */
export async function manifestation({ capture, historyLimit = HISTORY_LIMIT }: ManifestationInput): Promise<void> {
  const inbox = new ManifestationInbox();
  let total: Totals = { requests: 0, registered: 0, rejected: 0 };

  // Before the first await: a signal without a handler is lost at continue-as-new.
  setHandler(wakeSignal, () => inbox.wake());
  setHandler(requestSignal, (argument) => {
    if (!inbox.request(argument)) log.warn('ignored a malformed signal argument', { signal: SIGNALS.request });
  });
  setDefaultSignalHandler((name) => log.warn('ignored a signal of unknown name', { signal: name }));
  publishOwner(capture);

  for (;;) {
    const requests = inbox.take();
    if (requests.length > 0) {
      await manifestationRows(capture, `write down ${requests.length} requests`).recordManifestations({
        capture,
        requests,
      });
    }
    if (inbox.hasNews) continue;
    if (historyIsLong()) {
      await condition(allHandlersFinished);
      if (inbox.hasNews) continue;
      await continueAsNew<typeof manifestation>({ capture, historyLimit });
    }
    const last = await manifestationCalls(capture, 'send what is due').sendManifestations({ capture });
    total = added(total, last);
    const wait = waitOf(last, Date.now(), Math.random());
    const until = wait === null ? null : Date.now() + wait;
    setCurrentDetails(describeSending(last, total, until));
    if (inbox.hasNews || wait === 0) continue;
    if (wait !== null) {
      const summary = `${last.pending} pending: until ${new Date(Date.now() + wait).toISOString()}`;
      await condition(() => inbox.hasNews, wait, { summary });
      continue;
    }
    await condition(allHandlersFinished);
    if (!inbox.hasNews) return;
  }

  function historyIsLong(): boolean {
    const { historyLength, continueAsNewSuggested } = workflowInfo();
    return continueAsNewSuggested || historyLength >= historyLimit;
  }
}
