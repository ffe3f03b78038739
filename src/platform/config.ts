import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { NativeConnectionOptions } from '@temporalio/worker';
import type { z } from 'zod';
import { variables } from './config-variables.js';
import { describeError } from './errors.js';

type Variables = z.output<typeof variables>;

/** The configuration of one process, checked and complete. Holds secrets: log {@link describeConfig} of it, never itself. */
export interface Config {
  /** Null: the embedded one. */
  readonly databaseUrl: string | null;
  /** Null: a folder below the data folder. */
  readonly objectStore: string | null;
  readonly dataFolder: string;
  /** As the variable has it. Null: the data folder's own. */
  readonly masterKey: string | null;
  readonly apiKey: string | null;
  readonly http: { readonly host: string | null; readonly port: number };
  /** Where customers reach the API, without a slash at its end. Null: not told. */
  readonly publicUrl: string | null;
  readonly workerPort: number | null;
  readonly temporalMetricsPort: number | null;
  readonly apiUrl: string | null;
  /** Content of the file. */
  readonly endpointsFile: string | null;
  /** Content of the file: PEM. */
  readonly governmentCaFile: string | null;
  /** Calls per second over all workers. */
  readonly rates: { readonly nfe: number; readonly cte: number; readonly nfse: number };
  /** Null: not set; then 1, or what the simulator brings. */
  readonly timeScale: number | null;
  readonly allowPrivateWebhooks: boolean;
  /** Null: alerts are not told by mail. */
  readonly mail: MailSettings | null;
  readonly logLevel: Variables['LOG_LEVEL'];
  /** From Temporal's standard environment configuration. `address` null: the embedded server. */
  readonly temporal: {
    readonly address: string | null;
    readonly namespace: string;
    readonly connectionOptions: NativeConnectionOptions;
  };
}

/** Where mails about alerts go out, and to whom. */
export interface MailSettings {
  /** `smtp://` or `smtps://`, with user and password where the server wants them. */
  readonly url: string;
  readonly from: string;
  readonly to: readonly string[];
}

/** What a process cannot do without, beyond what has a default. */
export type Need = 'DATABASE_URL' | 'MALOTE_OBJECT_STORE' | 'MALOTE_MASTER_KEY' | 'TEMPORAL_ADDRESS';

/** Wrong configuration: every fault at once. The command line ends with exit code 2. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly exitCode = 2;
  constructor(readonly faults: readonly string[]) {
    super(
      `the configuration has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`,
    );
  }
}

/**
 * What the parts of the program say of a variable's value, by its name: they know their own formats. A check throws what is wrong,
 * without the variable's name and without secrets.
 */
export type Checks = { readonly [name in keyof Variables]?: (value: NonNullable<Variables[name]>) => unknown };

/**
 * Reads the configuration from environment variables; an empty one counts as absent.
 *
 * @param needs variables without which this process cannot work (separate processes have no embedded parts)
 * @throws {ConfigError} with all faults
 */
export function loadConfig(env: NodeJS.ProcessEnv, needs: readonly Need[] = [], checks: Checks = {}): Config {
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== ''),
  );
  const faults: string[] = [];

  const read = variables.safeParse(given);
  if (!read.success) for (const issue of read.error.issues) faults.push(`${String(issue.path[0])} ${issue.message}`);
  for (const need of needs) {
    if (given[need] === undefined) faults.push(`${need} is not set, and this command needs it (docs/operating.md)`);
  }
  faults.push(...unknownVariables(Object.keys(given)), ...lackingForMail(given));
  for (const [name, check] of Object.entries(checks)) faults.push(...checked(name as keyof Checks, given[name], check));
  const temporal = readTemporal(given as Record<string, string>, faults);

  if (!read.success || temporal === null || faults.length > 0) throw new ConfigError(faults);
  return { ...fromVariables(read.data), temporal };
}

/** Runs a part's check on a value that is right so far; a wrong one has its fault already. */
function checked(name: keyof Checks, given: string | undefined, check: (value: never) => unknown): string[] {
  const value = variables.shape[name].safeParse(given);
  if (given === undefined || !value.success) return [];
  try {
    check(value.data as never);
    return [];
  } catch (error) {
    return [`${name} cannot be used: ${describeError(error)}`];
  }
}

function fromVariables(data: Variables): Omit<Config, 'temporal'> {
  return {
    databaseUrl: data.DATABASE_URL ?? null,
    objectStore: data.MALOTE_OBJECT_STORE ?? null,
    dataFolder: data.MALOTE_DATA,
    masterKey: data.MALOTE_MASTER_KEY ?? null,
    apiKey: data.MALOTE_API_KEY ?? null,
    http: { host: data.MALOTE_HTTP_HOST ?? null, port: data.MALOTE_HTTP_PORT },
    publicUrl: data.MALOTE_PUBLIC_URL ?? null,
    workerPort: data.MALOTE_WORKER_PORT ?? null,
    temporalMetricsPort: data.MALOTE_TEMPORAL_METRICS_PORT ?? null,
    apiUrl: data.MALOTE_API_URL ?? null,
    endpointsFile: data.MALOTE_ENDPOINTS_FILE ?? null,
    governmentCaFile: data.MALOTE_GOVERNMENT_CA_FILE ?? null,
    rates: { nfe: data.MALOTE_RATE_NFE, cte: data.MALOTE_RATE_CTE, nfse: data.MALOTE_RATE_NFSE },
    timeScale: data.MALOTE_TIME_SCALE ?? null,
    allowPrivateWebhooks: data.MALOTE_ALLOW_PRIVATE_WEBHOOKS,
    mail: mailFrom(data),
    logLevel: data.LOG_LEVEL,
  };
}

function mailFrom(data: Variables): MailSettings | null {
  const { MALOTE_SMTP_URL: url, MALOTE_ALERT_EMAIL_FROM: from, MALOTE_ALERT_EMAIL_TO: to } = data;
  return url !== undefined && from !== undefined && to !== undefined ? { url, from, to } : null;
}

const FOR_MAIL = ['MALOTE_SMTP_URL', 'MALOTE_ALERT_EMAIL_FROM', 'MALOTE_ALERT_EMAIL_TO'] as const;

/** Some of them without the others would mean that no mail goes out although somebody expects it. */
function lackingForMail(given: Readonly<Record<string, unknown>>): string[] {
  const lacking = FOR_MAIL.filter((name) => given[name] === undefined);
  if (lacking.length === 0 || lacking.length === FOR_MAIL.length) return [];
  return lacking.map((name) => `${name} is not set: mails about alerts need ${FOR_MAIL.join(', ')}`);
}

/**
 * Only the environment is read, never a profile file in the user's home: `malote dev` must not end up on the cluster that the
 * developer's own `temporal` command talks to. Name a file with TEMPORAL_CONFIG_FILE to use it.
 */
function readTemporal(env: Record<string, string>, faults: string[]): Config['temporal'] | null {
  try {
    const { connectionOptions, namespace } = loadClientConnectConfig({
      overrideEnvVars: env,
      disableFile: env.TEMPORAL_CONFIG_FILE === undefined,
    });
    return { address: connectionOptions.address ?? null, namespace: namespace ?? 'default', connectionOptions };
  } catch (error) {
    faults.push(`TEMPORAL_*: ${error instanceof Error ? error.message : 'cannot be read'}`);
    return null;
  }
}

/** A misspelt variable would silently leave its default in force, so it is a fault. Those of the tests are not ours. */
function unknownVariables(names: readonly string[]): string[] {
  const known = Object.keys(variables.shape).filter((name) => name.startsWith(PREFIX));
  return names
    .filter((name) => name.startsWith(PREFIX) && !name.startsWith('MALOTE_TEST_') && !known.includes(name))
    .map((name) => {
      const distances = known.map((other) => ({ other, distance: editDistance(name, other) }));
      const nearest = distances.reduce((best, next) => (next.distance < best.distance ? next : best));
      const close = nearest.distance <= Math.max(1, (name.length - PREFIX.length) / 3);
      return `${name} is unknown${close ? `: did you mean ${nearest.other}?` : ' (docs/operating.md lists all variables)'}`;
    });
}
const PREFIX = 'MALOTE_';

/** Levenshtein's distance. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(change, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}

/** The configuration for the start-up log: secrets masked. */
export function describeConfig(config: Config): Record<string, unknown> {
  const masked = (secret: unknown): string | null => (secret === null ? null : '(set)');
  return {
    ...config,
    databaseUrl: config.databaseUrl === null ? null : withoutPassword(config.databaseUrl),
    objectStore: config.objectStore === null ? null : withoutPassword(config.objectStore),
    masterKey: masked(config.masterKey),
    apiKey: masked(config.apiKey),
    governmentCaFile: masked(config.governmentCaFile),
    mail: config.mail && { url: withoutPassword(config.mail.url), from: config.mail.from, to: config.mail.to.length },
    temporal: {
      address: config.temporal.address,
      namespace: config.temporal.namespace,
      tls: Boolean(config.temporal.connectionOptions.tls),
      apiKey: masked(config.temporal.connectionOptions.apiKey ?? null),
    },
  };
}

function withoutPassword(address: string): string {
  const url = new URL(address);
  if (url.password !== '') url.password = '***';
  if (url.searchParams.has('password')) url.searchParams.set('password', '***');
  return url.href;
}
