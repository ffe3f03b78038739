import getPort from 'get-port';

/**
 * Starts what listens on its usual port, or on a free one when that is in use.
 *
 * @param start may be called twice: somebody can take the port between the look and the start, and then the system chooses (port 0)
 */
export async function onUsualPort<T>(
  usual: { readonly port: number; readonly host?: string },
  start: (port: number) => Promise<T>,
): Promise<T> {
  try {
    return await start(await getPort(usual));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return start(0);
  }
}
