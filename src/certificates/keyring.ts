import { createHash } from 'node:crypto';

/** One 256-bit master key. `id` is a short hash of it: it names the key in rows and says nothing about it. */
export interface MasterKey {
  readonly id: string;
  readonly bytes: Buffer;
}

/** The master keys in use. The first one encrypts, all of them decrypt; that is how keys are rotated. */
export interface Keyring {
  readonly current: MasterKey;
  readonly keys: ReadonlyMap<string, MasterKey>;
}

/** The master key is missing or no key. Says which one of the list and what to do, never what it is. */
export class InvalidMasterKey extends Error {
  override readonly name = 'InvalidMasterKey';
}

const KEY_BYTES = 32;
const HOW_TO_MAKE = 'Make one with: openssl rand -base64 32';

/**
 * Reads MALOTE_MASTER_KEY: 32 bytes in Base64, or several of them separated by commas, the one to encrypt with first.
 *
 * @throws {InvalidMasterKey}
 */
export function parseKeyring(text: string): Keyring {
  const parts = text.split(',').map((part) => part.trim());
  const keys = parts.map((part, index) =>
    parseKey(part, parts.length === 1 ? 'The master key' : `Master key ${index + 1}`),
  );
  const byId = new Map(keys.map((key) => [key.id, key]));
  if (byId.size < keys.length) throw new InvalidMasterKey('The list of master keys names one key twice. Remove it.');
  const [current] = keys;
  if (!current) throw new InvalidMasterKey(`The master key is missing. ${HOW_TO_MAKE}`);
  return { current, keys: byId };
}

function parseKey(text: string, which: string): MasterKey {
  if (text === '') throw new InvalidMasterKey(`${which} is missing. ${HOW_TO_MAKE}`);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) throw new InvalidMasterKey(`${which} is not Base64. ${HOW_TO_MAKE}`);
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== KEY_BYTES) {
    throw new InvalidMasterKey(`${which} has ${bytes.length} bytes, not ${KEY_BYTES}. ${HOW_TO_MAKE}`);
  }
  // Zeros, or one letter 32 times: a placeholder that nobody replaced. In random bytes fewer than 12 different ones do not occur.
  if (new Set(bytes).size < 12) throw new InvalidMasterKey(`${which} is not random. ${HOW_TO_MAKE}`);
  return { id: idOf(bytes), bytes };
}

/** 12 hex digits; the prefix keeps this hash apart from any other that may be made of the key. */
function idOf(bytes: Buffer): string {
  return createHash('sha256').update('malote master key id\0').update(bytes).digest('hex').slice(0, 12);
}
