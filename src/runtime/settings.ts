import { parseKeyring } from '../certificates/keyring.js';
import { type GovernmentAddresses, governmentAddresses, isGovernmentHost } from '../government/addresses.js';
import { governmentRoots } from '../government/trust.js';
import { type Checks, type Config, ConfigError, loadConfig, type Need } from '../platform/config.js';

/** The configuration with what its parts make of it. */
export interface Settings extends Config {
  readonly addresses: GovernmentAddresses;
  /** 1 unless set. */
  readonly timeScale: number;
}

/** Variables that a process of its own cannot do without: it has no embedded parts. */
export const SEPARATE_PROCESS: readonly Need[] = [
  'DATABASE_URL',
  'MALOTE_OBJECT_STORE',
  'MALOTE_MASTER_KEY',
  'TEMPORAL_ADDRESS',
];

/**
 * Reads and checks the whole configuration.
 *
 * @throws {ConfigError} with all faults
 */
export function loadSettings(env: NodeJS.ProcessEnv, needs: readonly Need[] = []): Settings {
  const config = loadConfig(env, needs, CHECKS);
  const addresses = governmentAddresses(config.endpointsFile);
  const timeScale = config.timeScale ?? 1;
  refuseShortenedWaits(addresses, timeScale);
  return { ...config, addresses, timeScale };
}

/**
 * As {@link loadSettings}, where a simulated government stands in for the real one: its addresses are known only once it runs.
 *
 * @throws {ConfigError} with all faults
 */
export function loadSimulatedSettings(env: NodeJS.ProcessEnv): Config {
  const config = loadConfig(env, [], CHECKS);
  if (config.endpointsFile === null) return config;
  throw new ConfigError([
    'MALOTE_ENDPOINTS_FILE is set, and the simulator has addresses of its own: leave one of them out (--no-simulator)',
  ]);
}

const CHECKS: Checks = {
  MALOTE_MASTER_KEY: parseKeyring,
  MALOTE_ENDPOINTS_FILE: governmentAddresses,
  MALOTE_GOVERNMENT_CA_FILE: governmentRoots,
};

/**
 * The government's waits are law: they are shortened only where no government can be asked, in neither environment.
 *
 * @throws {ConfigError}
 */
function refuseShortenedWaits(addresses: GovernmentAddresses, timeScale: number): void {
  if (timeScale === 1) return;
  const faults = Object.entries(addresses).flatMap(([environment, services]) =>
    Object.entries(services)
      .filter(([, url]) => isGovernmentHost(url))
      .map(
        ([service]) =>
          `MALOTE_TIME_SCALE is ${timeScale}, but ${service} of ${environment} is the government's own: leave it out, or name other addresses for both environments in MALOTE_ENDPOINTS_FILE`,
      ),
  );
  if (faults.length > 0) throw new ConfigError(faults);
}
