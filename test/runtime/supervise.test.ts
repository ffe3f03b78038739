import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Supervised, supervise } from '../../src/runtime/supervise.js';
import { until } from '../support/until.js';

/** A part that ends when told to. */
class Part implements Supervised {
  stopped = false;
  readonly ended: Promise<string>;
  end: (how: string) => void = () => undefined;
  fail: (error: Error) => void = () => undefined;

  constructor(readonly before: Part | null) {
    this.ended = new Promise((resolve, reject) => {
      this.end = resolve;
      this.fail = reject;
    });
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.end('stopped');
  }
}

describe('keeping a part running', () => {
  test('one that ends or fails is started again, and knows the one before', async () => {
    const told: string[] = [];
    const start = async (before: Part | null) => new Part(before);
    const supervisor = await supervise('It', start, (why) => told.push(why), 0);
    const first = supervisor.current();
    first.end('signal SIGKILL');
    const second = await until(() => supervisor.current() !== first && supervisor.current(), 'it starts again');
    assert.equal(second.before, first);
    second.fail(new Error('broken'));
    await until(() => supervisor.current() !== second, 'it starts once more');
    assert.deepEqual(told, ['signal SIGKILL', 'broken']);
    await supervisor.stop();
    assert.ok(supervisor.current().stopped);
    assert.deepEqual(told.length, 2, 'a stop is no end');
  });

  test('one that ends five times within a minute is given up, with the last reason', async () => {
    const start = async (before: Part | null) => {
      const part = new Part(before);
      part.end('exit code 1');
      return part;
    };
    const supervisor = await supervise('It', start, () => undefined, 0);
    await assert.rejects(supervisor.failed, /It ended 5 times within a minute, at last with: exit code 1/);
  });

  test('one that cannot be started again is given up', async () => {
    const start = async (before: Part | null) => {
      if (before !== null) throw new Error('its port is gone');
      return new Part(before);
    };
    const supervisor = await supervise('It', start, () => undefined, 0);
    supervisor.current().end('exit code 1');
    await assert.rejects(supervisor.failed, /its port is gone/);
  });

  test('a stop while it is coming up again stops the new one', async () => {
    let comeUp: (() => void) | null = null;
    const start = async (before: Part | null) => {
      if (before !== null) await new Promise<void>((resolve) => (comeUp = resolve));
      return new Part(before);
    };
    const supervisor = await supervise('It', start, () => undefined, 0);
    supervisor.current().end('signal SIGKILL');
    const up = await until<(() => void) | null>(() => comeUp, 'it is starting');
    const stopped = supervisor.stop();
    up();
    await stopped;
    assert.ok(supervisor.current().before !== null && supervisor.current().stopped);
  });
});
