import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { parseKeyring } from '../../src/certificates/keyring.js';
import { SealBroken } from '../../src/certificates/seal.js';
import { openKey, sealKey } from '../../src/certificates/vault.js';

const keyring = parseKeyring(randomBytes(32).toString('base64'));
const stored = (id: string, keyPem: string) => ({
  ...sealKey(keyring, { keyPem }, id),
  chain: `chain of ${id}`,
  thumbprint: id,
});

test('gives the opened key pair of a row', () => {
  assert.deepEqual(openKey(keyring, 'a', stored('a', 'key of a')), {
    keyPem: 'key of a',
    chainPem: 'chain of a',
    thumbprint: 'a',
  });
});

test('a sealed key opens in its own row and under its own master key only', () => {
  const row = stored('a', 'key of a');
  assert.throws(() => openKey(keyring, 'b', row), SealBroken);
  const other = parseKeyring(randomBytes(32).toString('base64'));
  assert.throws(() => openKey(other, 'a', row), SealBroken);
});
