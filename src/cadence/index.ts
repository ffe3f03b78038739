export type { Cadence, Circumstances, JumpedRange, Step } from './step.js';
