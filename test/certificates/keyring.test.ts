import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { InvalidMasterKey, parseKeyring } from '../../src/certificates/keyring.js';

const key = () => randomBytes(32).toString('base64');

test('one key encrypts and decrypts', () => {
  const keyring = parseKeyring(key());
  assert.equal(keyring.keys.size, 1);
  assert.equal(keyring.keys.get(keyring.current.id), keyring.current);
  assert.match(keyring.current.id, /^[0-9a-f]{12}$/);
});

test('the first of a list is current; ids depend on the key only', () => {
  const [a, b] = [key(), key()];
  const keyring = parseKeyring(` ${a} ,\n${b}`);
  assert.equal(keyring.current.id, parseKeyring(a).current.id);
  assert.deepEqual([...keyring.keys.keys()], [parseKeyring(a).current.id, parseKeyring(b).current.id]);
});

test('a key without its padding is the same key', () => {
  const a = key();
  assert.equal(parseKeyring(a.replace(/=+$/, '')).current.id, parseKeyring(a).current.id);
});

test('what is no key is refused, saying which and how to make one, and never showing it', () => {
  const good = key();
  const bad: [string, RegExp][] = [
    ['', /The master key is missing.*openssl rand/],
    ['  ', /missing/],
    [`${good},`, /Master key 2 is missing/],
    [randomBytes(31).toString('base64'), /has 31 bytes, not 32/],
    [randomBytes(33).toString('base64'), /has 33 bytes/],
    [`${good},${randomBytes(16).toString('base64')}`, /Master key 2 has 16 bytes/],
    ['correct horse battery staple', /not Base64/],
    [`${good} ${good}`, /not Base64/],
    [Buffer.alloc(32).toString('base64'), /not random/],
    [Buffer.from('change-me-change-me-change-me-ch').toString('base64'), /not random/],
    [`${good},${good}`, /twice/],
  ];
  for (const [text, reason] of bad) {
    assert.throws(
      () => parseKeyring(text),
      (error: unknown) => {
        assert.ok(error instanceof InvalidMasterKey);
        assert.match(error.message, reason);
        for (const part of text.split(',')) assert.ok(part.trim().length < 5 || !error.message.includes(part.trim()));
        return true;
      },
    );
  }
});
