/**
 * Everything is down at once. `refuse`: connections are dropped before TLS. `hang`: taken and never answered. `503`: the front
 * answers HTML. `108` and `109`: the service says so itself.
 */
export const OUTAGES = ['refuse', 'hang', '503', '108', '109'] as const;
export type Outage = (typeof OUTAGES)[number];
