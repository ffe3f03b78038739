import { condition } from '@temporalio/workflow';

/**
 * One government call of a tax ID at a time, of whatever kind: whoever wants to call takes the turn first. Holding it while waiting for
 * anything else but the call would hold up everybody, and an exit of the run for ever.
 */
export class CallTurn {
  #taken = false;

  /** Runs `call` when it is its turn. */
  async during<T>(call: () => Promise<T>): Promise<T> {
    // Several may have been woken at once: the first takes it.
    while (this.#taken) await condition(() => !this.#taken);
    this.#taken = true;
    try {
      return await call();
    } finally {
      this.#taken = false;
    }
  }
}
