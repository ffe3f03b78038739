/**
 * The simulator's own clock: the machine's until somebody pushes an instant. It never goes back, so that two pushes that arrive in
 * the wrong order cannot shorten anybody's hour.
 */
export class SimulatorClock {
  private stoppedAt: number | null = null;
  private floor = 0;

  /** `offset`: milliseconds ahead of the machine's clock. `onMove` is told a new one. */
  constructor(
    private offset = 0,
    private readonly onMove: (offset: number) => void = () => {},
  ) {}

  /** Milliseconds since 1970, UTC. */
  now(): number {
    const instant = this.stoppedAt ?? Date.now() + this.offset;
    this.floor = Math.max(this.floor, instant);
    return this.floor;
  }

  /**
   * Moves the clock forward to `instant` (milliseconds); an earlier one changes nothing. `stopped`: stands there until the next push,
   * as a time-skipping test wants it; otherwise it runs on from there, and an earlier stop ends.
   */
  push(instant: number, stopped = false): void {
    const target = Math.max(instant, this.now());
    this.stoppedAt = stopped ? target : null;
    this.offset = target - Date.now();
    this.onMove(this.offset);
  }

  advance(milliseconds: number): void {
    this.push(this.now() + milliseconds, this.stoppedAt !== null);
  }

  get stopped(): boolean {
    return this.stoppedAt !== null;
  }
}
