import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { proxyActivities, sleep, upsertSearchAttributes } from '@temporalio/workflow';

interface TextbookActivities {
  fetchPage(): Promise<void>;
  storePage(): Promise<void>;
  saveCursor(): Promise<void>;
}

const state = defineSearchAttributeKey('CaptureState', SearchAttributeType.KEYWORD);

/** What one writes first: an activity for each step, the phase published at every turn. For comparison only. */
export async function textbook(): Promise<void> {
  const { fetchPage, storePage, saveCursor } = proxyActivities<TextbookActivities>({
    taskQueue: 'background',
    startToCloseTimeout: '1 minute',
  });
  for (;;) {
    upsertSearchAttributes([{ key: state, value: 'querying' }]);
    await fetchPage();
    await storePage();
    await saveCursor();
    upsertSearchAttributes([{ key: state, value: 'waiting' }]);
    await sleep('62 minutes');
  }
}
