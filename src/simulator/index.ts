/** The government, simulated: real HTTPS with client certificates, and the real rules. docs/simulator.md explains it. */
export { type A1, createAuthority } from './authority/authority.js';
export type { JournalEntry } from './journal.js';
export type { TruthEntry } from './queues/queue.js';
export type { Rule } from './rules/state.js';
export type { Simulator, SimulatorOptions } from './simulator.js';
export { startSimulator } from './start.js';
