/** Collects the conditions of a list whose filters are all optional. Values go as parameters, never into the text. */
export class Filter {
  readonly values: unknown[] = [];
  readonly #conditions: string[] = [];

  /** Adds a parameter and gives its placeholder. */
  value(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  /** Adds a condition, unless the value is undefined: then the filter was not asked for. */
  add<T>(value: T | undefined, condition: (placeholder: string) => string): this {
    if (value !== undefined) this.#conditions.push(condition(this.value(value)));
    return this;
  }

  /** Adds a condition without a value. */
  always(condition: string): this {
    this.#conditions.push(condition);
    return this;
  }

  /** Only rows after a keyset position; nothing without one. `columns` in the order of the list, e.g. `captured_at, id`. */
  after(position: readonly unknown[] | null, columns: string, comparison: '<' | '>'): this {
    if (position === null) return this;
    return this.always(`(${columns}) ${comparison} (${position.map((part) => this.value(part)).join(', ')})`);
  }

  /** `where …`, or nothing. */
  get where(): string {
    return this.#conditions.length === 0 ? '' : `where ${this.#conditions.join(' and ')}`;
  }
}
