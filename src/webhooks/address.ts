import { type LookupAddress, type LookupOptions, lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';

/** As `dns.lookup` with `all: true`; tests answer for a name server here. */
export type ResolveAll = (
  hostname: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** The address that a webhook would be sent to is not on the public internet. */
class AddressNotAllowed extends Error {
  override readonly name = 'AddressNotAllowed';
  readonly code = 'ADDRESS_NOT_ALLOWED';
  constructor() {
    super('the address is private, local or reserved');
  }
}

/** All of the public IPv6 internet; outside it lie, among others, the IPv4-mapped, NAT64 and unique local addresses. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether an IP address belongs to the public internet. Ranges that carry an IPv4 address inside (mapped, NAT64, 6to4, Teredo) are
 * refused as a whole: their inner address could be anything.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || (parsed as ipaddr.IPv6).match(GLOBAL_UNICAST);
}

/**
 * Connects only to public addresses. The check is on the very addresses that the socket is given, after resolution, so a name
 * server that changes its answer between check and use gains nothing; and again at every new connection.
 */
export function publicOnlyConnector(
  options: buildConnector.BuildOptions,
  resolveAll: ResolveAll = systemLookup,
): buildConnector.connector {
  const connect = buildConnector({ ...options, lookup: publicLookup(resolveAll) } as buildConnector.BuildOptions);
  return (target, callback) => {
    // A literal address is never looked up.
    if (isIP(target.hostname) && !isPublicAddress(target.hostname)) return callback(new AddressNotAllowed(), null);
    connect(target, callback);
  };
}

function publicLookup(resolveAll: ResolveAll): LookupFunction {
  return (hostname, options, callback) => {
    resolveAll(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      const allowed = addresses.filter(({ address }) => isPublicAddress(address));
      const [first] = allowed;
      if (!first) return callback(new AddressNotAllowed(), []);
      if (options.all) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}
