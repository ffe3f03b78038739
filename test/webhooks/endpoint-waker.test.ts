import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EndpointWaker } from '../../src/webhooks/endpoint-waker.js';
import { until } from '../support/until.js';

const INTERVAL = 150;

function counted(behave: (id: string, nth: number) => Promise<void> = async () => {}) {
  const wakes: { id: string; at: number }[] = [];
  const errors: unknown[] = [];
  const waker = new EndpointWaker({
    intervalMs: INTERVAL,
    wake: (id) => {
      wakes.push({ id, at: performance.now() });
      return behave(id, wakes.length);
    },
    onError: (_, error) => errors.push(error),
  });
  return { waker, wakes, errors };
}

describe('waking endpoints', () => {
  test('goes out at once, and a burst becomes one more at the end of the interval', async () => {
    const { waker, wakes } = counted();
    for (let i = 0; i < 100; i += 1) waker.wake(['a']);
    assert.equal(wakes.length, 1);
    await until(() => wakes.length === 2, 'the trailing wake');
    const [first, second] = wakes;
    assert.ok(first && second && second.at - first.at >= INTERVAL - 5);
    await waker.close();
    assert.equal(wakes.length, 2);
  });

  test('never more often than the interval, and the last wake asked for is never lost', async () => {
    const { waker, wakes } = counted();
    const end = performance.now() + 4 * INTERVAL;
    let last = 0;
    while (performance.now() < end) {
      last = performance.now();
      waker.wake(['a']);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await until(() => (wakes.at(-1)?.at ?? 0) >= last, 'a wake after the last');
    for (let i = 1; i < wakes.length; i += 1) {
      assert.ok((wakes[i]?.at ?? 0) - (wakes[i - 1]?.at ?? 0) >= INTERVAL - 5);
    }
    await waker.close();
  });

  test('endpoints do not wait for each other', () => {
    const { waker, wakes } = counted(() => new Promise(() => {}));
    waker.wake(['a', 'b', 'c', 'a']);
    assert.deepEqual(
      wakes.map((wake) => wake.id),
      ['a', 'b', 'c'],
    );
  });

  test('one that fails is tried again', async () => {
    const { waker, wakes, errors } = counted(async (_, nth) => {
      if (nth < 3) throw new Error('Temporal is away');
    });
    waker.wake(['a']);
    await until(() => wakes.length === 3, 'three tries');
    assert.equal(errors.length, 2);
    await waker.close();
    assert.equal(wakes.length, 3);
  });

  test('closing sends what waits, and waits for what is in the air', async () => {
    let arrived = 0;
    const { waker, wakes } = counted(async () => {
      await new Promise((resolve) => setTimeout(resolve, 30));
      arrived += 1;
    });
    waker.wake(['a']);
    waker.wake(['a']);
    await waker.close();
    assert.equal(wakes.length, 2);
    assert.equal(arrived, 2);
  });
});
