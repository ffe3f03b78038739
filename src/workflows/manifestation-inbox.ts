import type { RequestedManifestation } from '../model/manifestation-contract.js';

/** What signals have asked for and the loop has not yet done. */
export class ManifestationInbox {
  #woken = false;
  #requests: RequestedManifestation[] = [];

  wake(): void {
    this.#woken = true;
  }

  /** False: the argument is no request. Whether key and type exist is looked at where the row is written. */
  request(argument: unknown): boolean {
    const { key, type } = (argument ?? {}) as { key?: unknown; type?: unknown };
    if (typeof key !== 'string' || typeof type !== 'string' || !/^\w{44,50}$/.test(key) || !/^\d{6}$/.test(type))
      return false;
    this.#requests.push({ key, type });
    return true;
  }

  get hasNews(): boolean {
    return this.#woken || this.#requests.length > 0;
  }

  /** Everything that came so far; what is due is looked at next, so a wake needs no more than that. */
  take(): RequestedManifestation[] {
    const requests = this.#requests;
    this.#requests = [];
    this.#woken = false;
    return requests;
  }
}
