import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { wrongUse } from './failure.js';

export interface Connection {
  /** Without a slash at its end. */
  readonly apiUrl: string;
  readonly apiKey: string;
}

export interface GlobalOptions {
  readonly json?: boolean;
  readonly apiUrl?: string;
  readonly apiKey?: string;
}

const DEFAULT_URL = 'http://127.0.0.1:3000';

/**
 * Where the API is and with which key: options, else the environment, else what `malote dev` wrote into the data folder.
 *
 * @throws {CliFailure} wrong use: no key, or no address
 */
export function findConnection(options: GlobalOptions, env: NodeJS.ProcessEnv = process.env): Connection {
  const dev = runningDev(env);
  const named = options.apiUrl ?? nonEmpty(env.MALOTE_API_URL);
  const apiUrl = (named ?? dev?.apiUrl ?? DEFAULT_URL).replace(/\/+$/, '');
  if (!URL.canParse(apiUrl) || !/^https?:$/.test(new URL(apiUrl).protocol)) {
    throw wrongUse(`"${apiUrl}" is no address of an API: expected something like ${DEFAULT_URL}`);
  }
  // The key of this machine's own system is sent nowhere else.
  const devKey = dev !== null && dev.apiUrl.replace(/\/+$/, '') === apiUrl ? dev.apiKey : undefined;
  const apiKey = options.apiKey ?? nonEmpty(env.MALOTE_API_KEY) ?? devKey;
  if (apiKey === undefined) {
    throw wrongUse('no API key: set MALOTE_API_KEY or pass --api-key, or start "malote dev" in this folder');
  }
  return { apiUrl, apiKey };
}

/** What a running `malote dev` tells; null when none runs on this data folder. */
function runningDev(env: NodeJS.ProcessEnv): Connection | null {
  try {
    const file = join(nonEmpty(env.MALOTE_DATA) ?? '.malote', 'dev.json');
    const { apiUrl, apiKey } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Connection>;
    return typeof apiUrl === 'string' && typeof apiKey === 'string' ? { apiUrl, apiKey } : null;
  } catch {
    return null;
  }
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text;
}
