import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import type { Config } from '../platform/config.js';
import type { Logger } from '../platform/log.js';
import { installTemporalRuntime } from '../platform/temporal-runtime.js';
import { ensureNamespace } from './temporal-namespace.js';

/** Where Temporal is and how to get in. */
export type TemporalAddress = Pick<Config['temporal'], 'namespace' | 'connectionOptions'>;

/**
 * Makes the namespace ready and connects a worker to it.
 *
 * @param metricsPort for the SDK's own Prometheus metrics; null: none
 * @throws Error that names the address, when Temporal does not answer; and as {@link ensureNamespace}
 */
export async function connectWorker(
  { namespace, connectionOptions }: TemporalAddress,
  logger: Logger,
  metricsPort: number | null,
): Promise<NativeConnection> {
  const connection = await Connection.connect(connectionOptions).catch((error: unknown) => {
    throw unreachable(connectionOptions.address, error);
  });
  try {
    await ensureNamespace(new Client({ connection, namespace }));
  } finally {
    await connection.close();
  }
  installTemporalRuntime(logger, metricsPort);
  return NativeConnection.connect(connectionOptions);
}

function unreachable(address: string | undefined, error: unknown): Error {
  const why = error instanceof Error ? error.message.split('\n')[0] : 'no answer';
  return new Error(`Temporal at ${address} does not answer (${why}): check TEMPORAL_ADDRESS and TEMPORAL_TLS_*`);
}
