import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseKeyring } from '../../src/certificates/keyring.js';
import {
  fromCompact,
  openSecret,
  rewrap,
  SealBroken,
  type SealContext,
  type SealedSecret,
  sealSecret,
  toCompact,
} from '../../src/certificates/seal.js';

const [OLD, NEW] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
const keyring = parseKeyring(OLD);
const CONTEXT: SealContext = { purpose: 'certificate-key', owner: '0197b6c0-0000-7000-8000-000000000001' };
const SECRET = Buffer.from('-----BEGIN PRIVATE KEY-----\nmade up\n-----END PRIVATE KEY-----\n');

const bytes = fc.uint8Array({ maxLength: 3000 });
const context: fc.Arbitrary<SealContext> = fc.record({
  purpose: fc.constantFrom('certificate-key', 'webhook-secret', 'idempotent-answer'),
  owner: fc.string(),
});

describe('a sealed secret', () => {
  test('opens to the same bytes, from its parts and from the compact form', () => {
    fc.assert(
      fc.property(bytes, context, (plaintext, its) => {
        const sealed = sealSecret(keyring, plaintext, its);
        assert.deepEqual(openSecret(keyring, sealed, its), Buffer.from(plaintext));
        assert.deepEqual(openSecret(keyring, fromCompact(toCompact(sealed)), its), Buffer.from(plaintext));
      }),
    );
  });

  test('shows nothing of the secret and never repeats', () => {
    const [a, b] = [sealSecret(keyring, SECRET, CONTEXT), sealSecret(keyring, SECRET, CONTEXT)];
    assert.notDeepEqual(a.sealed, b.sealed);
    assert.notDeepEqual(a.wrappedKey, b.wrappedKey);
    assert.ok(!toCompact(a).includes('made up'));
    assert.equal(a.wrappedKey.length, 60);
    assert.equal(a.sealed.length, SECRET.length + 28);
  });

  test('does not open with any bit flipped, anywhere', () => {
    const compact = toCompact(sealSecret(keyring, SECRET, CONTEXT));
    for (let at = 0; at < compact.length; at++) {
      for (let bit = 0; bit < 8; bit++) {
        const changed = Buffer.from(compact);
        changed[at] = (changed[at] ?? 0) ^ (1 << bit);
        assert.throws(() => openSecret(keyring, fromCompact(changed), CONTEXT), SealBroken, `byte ${at}, bit ${bit}`);
      }
    }
  });

  test('does not open cut, prolonged, or with parts of another', () => {
    const [a, b] = [sealSecret(keyring, SECRET, CONTEXT), sealSecret(keyring, SECRET, CONTEXT)];
    const broken: SealedSecret[] = [
      { ...a, sealed: b.sealed },
      { ...a, wrappedKey: b.wrappedKey },
      { ...a, sealed: Buffer.alloc(0) },
      { ...a, wrappedKey: Buffer.alloc(0) },
      { ...a, sealed: Buffer.concat([a.sealed, Buffer.of(0)]) },
      ...Array.from({ length: a.sealed.length }, (_, length) => ({ ...a, sealed: a.sealed.subarray(0, length) })),
    ];
    for (const secret of broken) assert.throws(() => openSecret(keyring, secret, CONTEXT), SealBroken);
    for (const length of [0, 1, 7, 66, 94]) {
      assert.throws(() => openSecret(keyring, fromCompact(toCompact(a).subarray(0, length)), CONTEXT), SealBroken);
    }
  });

  test('does not open for another owner or purpose', () => {
    fc.assert(
      fc.property(context, context, (its, other) => {
        fc.pre(its.owner !== other.owner || its.purpose !== other.purpose);
        const sealed = sealSecret(keyring, SECRET, its);
        assert.throws(() => openSecret(keyring, sealed, other), SealBroken);
        assert.throws(() => rewrap(parseKeyring(`${NEW},${OLD}`), sealed, other), SealBroken);
      }),
    );
  });
});

describe('rotation of the master key', () => {
  const both = parseKeyring(`${NEW},${OLD}`);
  const onlyNew = parseKeyring(NEW);

  test('what is under the old key opens while that key is listed, and says so when it is not', () => {
    const sealed = sealSecret(keyring, SECRET, CONTEXT);
    assert.deepEqual(openSecret(both, sealed, CONTEXT), SECRET);
    assert.throws(
      () => openSecret(onlyNew, sealed, CONTEXT),
      new RegExp(`master key ${keyring.current.id}.*MALOTE_MASTER_KEY`),
    );
  });

  test('rewrapped, it opens without the old key and with the same sealed bytes', () => {
    const sealed = sealSecret(keyring, SECRET, CONTEXT);
    const rewrapped = rewrap(both, sealed, CONTEXT);
    assert.equal(rewrapped.keyId, onlyNew.current.id);
    assert.equal(rewrapped.sealed, sealed.sealed);
    assert.deepEqual(openSecret(onlyNew, rewrapped, CONTEXT), SECRET);
    assert.throws(() => openSecret(keyring, rewrapped, CONTEXT), SealBroken);
    assert.equal(rewrap(both, rewrapped, CONTEXT), rewrapped);
  });
});

test('a broken seal’s message holds nothing of secret or key', () => {
  const sealed = sealSecret(keyring, SECRET, CONTEXT);
  for (const ring of [keyring, parseKeyring(NEW)]) {
    assert.throws(
      () => openSecret(ring, sealed, { ...CONTEXT, owner: 'other' }),
      (error: Error) => !error.message.includes('PRIVATE') && !error.message.includes(OLD) && error.cause === undefined,
    );
  }
});
