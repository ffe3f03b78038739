import { createRequire } from 'node:module';

/** The version of this program, from its package. The same place seen from `src` and from `dist`. */
export const VERSION: string = (createRequire(import.meta.url)('../../package.json') as { version: string }).version;
