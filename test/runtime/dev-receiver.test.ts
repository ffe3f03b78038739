import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Arrival, type Receiver, startReceiver } from '../../src/runtime/dev-receiver.js';
import { newSecret, signedHeaders } from '../../src/webhooks/signature.js';

const secret = newSecret();
const body = JSON.stringify({ action: 'issued_successfully', company: { id: 'c1' }, data: { kind: 'procNFe' } });

describe('built-in webhook receiver', () => {
  const arrivals: (Arrival | null)[] = [];
  let known: string | null = null;
  let receiver: Receiver;
  before(async () => {
    receiver = await startReceiver(
      () => known,
      (arrival) => arrivals.push(arrival),
    );
  });
  after(() => receiver.stop());

  const post = async (text: string, headers: Record<string, string>): Promise<number> =>
    (await fetch(receiver.url, { method: 'POST', body: text, headers })).status;

  test('takes what is signed with the secret, and nothing else', async () => {
    const headers = () => signedHeaders('evt_1', Date.now(), body, [secret]);
    assert.equal(await post(body, headers()), 401, 'before it knows the secret');
    known = secret;
    assert.equal(await post(body, headers()), 204);
    assert.equal(await post(body.replace('c1', 'c2'), headers()), 401, 'a changed body');
    assert.equal(await post(body, signedHeaders('evt_1', Date.now(), body, [newSecret()])), 401, 'another secret');
    assert.equal(await post('no JSON', {}), 401);
    assert.deepEqual(
      arrivals.map((arrival) => arrival?.company?.id ?? null),
      [null, 'c1', null, null, null],
    );
  });
});
