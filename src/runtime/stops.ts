import type { Logger } from '../platform/log.js';

/** What has to be stopped, the last started first. */
export class Stops {
  readonly #stops: (() => unknown)[] = [];

  push(stop: () => unknown): void {
    this.#stops.push(stop);
  }

  /** One that fails does not keep the others from being stopped. */
  async all(logger: Logger): Promise<void> {
    for (const stop of this.#stops.splice(0).reverse()) {
      try {
        await stop();
      } catch (error) {
        logger.warn({ err: error }, 'a part did not stop as it should');
      }
    }
  }
}
