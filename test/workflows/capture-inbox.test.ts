import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CaptureInbox } from '../../src/workflows/capture-inbox.js';

const NOW = Date.UTC(2026, 11, 1);

describe('signals that arrive together', () => {
  test('pause, then resume: no hold is left', () => {
    const inbox = new CaptureInbox();
    assert.ok(inbox.pause(undefined, NOW));
    inbox.resume();
    assert.deepEqual([inbox.takeResume(), inbox.takeHold()], [true, undefined]);
    assert.ok(!inbox.hasNews);
  });

  test('resume, then pause: the hold stands', () => {
    const inbox = new CaptureInbox();
    inbox.resume();
    assert.ok(inbox.pause({ until: new Date(NOW + 1).toISOString() }, NOW));
    assert.deepEqual([inbox.takeResume(), inbox.takeHold()], [true, NOW + 1]);
  });

  test('stop and start: the later one counts', () => {
    const inbox = new CaptureInbox();
    inbox.stop();
    assert.ok(inbox.start(undefined));
    assert.deepEqual([inbox.wantsStop, inbox.takeStart()], [false, {}]);
    assert.ok(inbox.start(undefined));
    inbox.stop();
    assert.deepEqual([inbox.wantsStop, inbox.takeStart()], [true, null]);
  });
});
