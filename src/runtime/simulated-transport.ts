import { isGovernmentHost } from '../government/addresses.js';
import { type Transport, TransportFailure } from '../government/types.js';

/**
 * The last gate of a system whose government is simulated or whose waits are shortened: no byte reaches the real one, whatever a
 * table of addresses says.
 */
export function awayFromGovernment(transport: Transport): Transport {
  return async (request) => {
    if (isGovernmentHost(request.url)) {
      throw new TransportFailure('not_sent', "the address is the government's own, and this system is a simulated one");
    }
    return transport(request);
  };
}
