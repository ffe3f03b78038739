/**
 * The one clock that guard, quota and leases go by (design.md section 4, rule 6). Production: PostgreSQL's. Time-skipping
 * tests: the activity's scheduled time plus elapsed monotonic time. Never the host's own.
 */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): Promise<number>;
}
