/** The government, simulated: real HTTPS with client certificates, and the real rules. docs/simulator.md explains it. */
export {
  type A1,
  type A1Request,
  type Authority,
  createAuthority,
  openAuthority,
} from './authority/authority.js';
export type { JournalEntry } from './journal.js';
export type { TruthEntry } from './queues/queue.js';
export type { Rule, RulePolicy } from './rules/state.js';
export { type Simulator, type SimulatorOptions, startSimulator } from './simulator.js';
