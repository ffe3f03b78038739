import { IllegalStateError } from '@temporalio/common';
import { type LogLevel, type LogMetadata, Runtime, type RuntimeOptions } from '@temporalio/worker';
import type { Logger } from './log.js';

/**
 * Warnings about what is meant to be: each of our workers serves one task queue and does one kind of work; and our heartbeats carry no
 * details that a server could lose.
 */
const EXPECTED =
  /^No (activities|workflows|Nexus services) registered|did not advertise the activity_failure_include_heartbeat capability/;

/**
 * Sets the Temporal SDK's process-wide runtime up: its logs go through ours (and so lose what must not be logged), and signals
 * are left to us. Right before a connection for workers is made: the runtime ends by itself with the last of them, and until
 * then keeps the process alive.
 *
 * @param metricsPort port for the SDK's own Prometheus metrics, or null
 */
export function installTemporalRuntime(logger: Logger, metricsPort: number | null): void {
  try {
    Runtime.install(runtimeOptions(logger, metricsPort));
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error;
    // It is there already: another worker of this process brought it.
  }
}

function runtimeOptions(logger: Logger, metricsPort: number | null): RuntimeOptions {
  const log = (level: LogLevel, message: string, meta?: LogMetadata): void => {
    const write = EXPECTED.test(message)
      ? 'debug'
      : (level.toLowerCase() as 'trace' | 'debug' | 'info' | 'warn' | 'error');
    if (meta === undefined) logger[write](message);
    else logger[write](meta, message);
  };
  return {
    logger: {
      log,
      trace: (message, meta) => log('TRACE', message, meta),
      debug: (message, meta) => log('DEBUG', message, meta),
      info: (message, meta) => log('INFO', message, meta),
      warn: (message, meta) => log('WARN', message, meta),
      error: (message, meta) => log('ERROR', message, meta),
    },
    shutdownSignals: [],
    telemetryOptions: {
      logging: { filter: { core: 'WARN', other: 'WARN' }, forward: {} },
      ...(metricsPort === null ? {} : { metrics: { prometheus: { bindAddress: `0.0.0.0:${metricsPort}` } } }),
    },
  };
}
