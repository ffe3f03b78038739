import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Keyring } from './keyring.js';

/**
 * Secrets at rest: AES-256-GCM under a data key of their own, which lies beside them under a master key. Rotating the master key
 * so means wrapping small keys again, and no secret is ever shown for it.
 */
export interface SealedSecret {
  /** Which master key wraps the data key. */
  readonly keyId: string;
  /** Data key under the master key: nonce ‖ ciphertext ‖ tag. */
  readonly wrappedKey: Uint8Array;
  /** Secret under the data key: nonce ‖ ciphertext ‖ tag. */
  readonly sealed: Uint8Array;
}

/** What a secret is and whose. Bound into the seal: bytes moved to another row, or used as something else, do not open. */
export interface SealContext {
  readonly purpose: 'certificate-key' | 'webhook-secret' | 'idempotent-answer';
  /** Id of the row that owns the secret. */
  readonly owner: string;
}

/** A seal that does not open. Says why and what to do; holds nothing of the secret. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken';
}

/** Seals under the keyring's current key. The same secret sealed twice gives different bytes. */
export function sealSecret(keyring: Keyring, plaintext: Uint8Array, context: SealContext): SealedSecret {
  const dataKey = randomBytes(KEY_BYTES);
  try {
    return {
      keyId: keyring.current.id,
      wrappedKey: encrypt(keyring.current.bytes, dataKey, bindingOf('key', context)),
      sealed: encrypt(dataKey, plaintext, bindingOf('secret', context)),
    };
  } finally {
    dataKey.fill(0);
  }
}

/** @throws {SealBroken} master key not in the keyring, bytes changed, or another purpose or owner than it was sealed for */
export function openSecret(keyring: Keyring, secret: SealedSecret, context: SealContext): Buffer {
  const dataKey = unwrap(keyring, secret, context);
  try {
    return decrypt(dataKey, secret.sealed, bindingOf('secret', context), context);
  } finally {
    dataKey.fill(0);
  }
}

/**
 * The same secret with its data key under the current master key; what is under it already comes back as it is.
 *
 * @throws {SealBroken} as {@link openSecret}
 */
export function rewrap(keyring: Keyring, secret: SealedSecret, context: SealContext): SealedSecret {
  if (secret.keyId === keyring.current.id) return secret;
  const dataKey = unwrap(keyring, secret, context);
  try {
    const wrappedKey = encrypt(keyring.current.bytes, dataKey, bindingOf('key', context));
    return { keyId: keyring.current.id, wrappedKey, sealed: secret.sealed };
  } finally {
    dataKey.fill(0);
  }
}

const COMPACT_VERSION = 1;

/** One buffer, for tables with one column: version (1 byte) ‖ key id (6) ‖ wrapped key (60) ‖ sealed. */
export function toCompact(secret: SealedSecret): Buffer {
  return Buffer.concat([
    Uint8Array.of(COMPACT_VERSION),
    Buffer.from(secret.keyId, 'hex'),
    secret.wrappedKey,
    secret.sealed,
  ]);
}

/** @throws {SealBroken} not a buffer of {@link toCompact} */
export function fromCompact(bytes: Uint8Array): SealedSecret {
  const buffer = Buffer.from(bytes);
  if (buffer[0] !== COMPACT_VERSION || buffer.length < KEY_END + WRAPPED_BYTES + NONCE_BYTES + TAG_BYTES) {
    throw new SealBroken('These bytes are no sealed secret of this version of Malote.');
  }
  return {
    keyId: buffer.subarray(1, KEY_END).toString('hex'),
    wrappedKey: buffer.subarray(KEY_END, KEY_END + WRAPPED_BYTES),
    sealed: buffer.subarray(KEY_END + WRAPPED_BYTES),
  };
}

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
/** 96 bits, random. A data key encrypts once; a master key wraps far fewer keys than the 2³² that random nonces allow. */
const NONCE_BYTES = 12;
/** Always checked in full: a shorter tag is not accepted. */
const TAG_BYTES = 16;
const WRAPPED_BYTES = NONCE_BYTES + KEY_BYTES + TAG_BYTES;
const KEY_END = 1 + 6;

function unwrap(keyring: Keyring, secret: SealedSecret, context: SealContext): Buffer {
  const master = keyring.keys.get(secret.keyId);
  if (!master) {
    throw new SealBroken(
      `A ${context.purpose} is sealed under master key ${secret.keyId}, which is not in MALOTE_MASTER_KEY. Add that key to the end of the list.`,
    );
  }
  return decrypt(master.bytes, secret.wrappedKey, bindingOf('key', context), context);
}

function encrypt(key: Uint8Array, plaintext: Uint8Array, binding: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(binding);
  return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(key: Uint8Array, bytes: Uint8Array, binding: Buffer, context: SealContext): Buffer {
  const buffer = Buffer.from(bytes);
  try {
    const decipher = createDecipheriv(CIPHER, key, buffer.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
      .setAAD(binding)
      .setAuthTag(buffer.subarray(Math.max(NONCE_BYTES, buffer.length - TAG_BYTES)));
    const plaintext = decipher.update(buffer.subarray(NONCE_BYTES, -TAG_BYTES));
    return Buffer.concat([plaintext, decipher.final()]);
  } catch {
    throw new SealBroken(
      `A ${context.purpose} does not open: its bytes were changed, or it belongs to another row. Restore the row, or store the secret again.`,
    );
  }
}

/** JSON keeps the parts apart whatever they contain. */
function bindingOf(layer: 'key' | 'secret', { purpose, owner }: SealContext): Buffer {
  return Buffer.from(JSON.stringify(['malote', layer, purpose, owner]));
}
