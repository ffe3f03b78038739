/**
 * The one clock that guard, quota and leases go by (design.md section 4, rule 6). Production: PostgreSQL's. Tests
 * that skip time: when the activity was scheduled, and what a monotonic clock counted since. Never the host's own.
 */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): Promise<number>;
}
