import type { Party } from '../model/document.js';
import { present } from './reader.js';

/** Undefined for a party of which nothing is known, such as an empty `<transporta/>` (case C47). */
export function party(fields: { [K in keyof Party]: Party[K] | undefined }): Party | undefined {
  const known: Party = present(fields);
  return Object.keys(known).length > 0 ? known : undefined;
}
