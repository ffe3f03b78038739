/** How endpoints are woken. */
export interface EndpointWakerOptions {
  /** Signal-with-start of the endpoint's delivery workflow. */
  readonly wake: (endpointId: string) => Promise<void>;
  /** Least time between two wakes of one endpoint by this process. Default 1 s. */
  readonly intervalMs?: number;
  /** Told when a wake failed; it is tried again. Default: nobody is told. */
  readonly onError?: (endpointId: string, error: unknown) => void;
}

/**
 * Tells delivery workflows that there is work, without a signal per page. The first wake goes out at once; those that come within
 * the interval become one at its end, so the last of them is always followed by a wake. One that fails counts as not sent.
 */
export class EndpointWaker {
  readonly #options: EndpointWakerOptions;
  readonly #intervalMs: number;
  /** Endpoints woken within the interval. */
  readonly #resting = new Map<string, { again: boolean; readonly timer: NodeJS.Timeout }>();
  readonly #inFlight = new Set<Promise<void>>();
  #closed = false;

  constructor(options: EndpointWakerOptions) {
    this.#options = options;
    this.#intervalMs = options.intervalMs ?? 1000;
  }

  /** Call after the commit, never inside the transaction. Returns at once. */
  wake(endpointIds: Iterable<string>): void {
    for (const id of endpointIds) {
      const resting = this.#resting.get(id);
      if (resting) resting.again = true;
      else this.#send(id);
    }
  }

  /** Sends what waits for its interval, and waits for what is in the air. Housekeeping finds what fails now. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const [id, { again, timer }] of [...this.#resting]) {
      clearTimeout(timer);
      this.#resting.delete(id);
      if (again) this.#send(id);
    }
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
  }

  #send(id: string): void {
    if (!this.#closed) this.#rest(id);
    const sending = this.#options.wake(id).catch((error: unknown) => {
      this.#options.onError?.(id, error);
      if (!this.#closed) this.wake([id]);
    });
    this.#inFlight.add(sending);
    void sending.finally(() => this.#inFlight.delete(sending));
  }

  #rest(id: string): void {
    const timer = setTimeout(() => {
      const again = this.#resting.get(id)?.again;
      this.#resting.delete(id);
      if (again) this.#send(id);
    }, this.#intervalMs);
    this.#resting.set(id, { again: false, timer });
  }
}
