/** Calls for one key while one is under way share its result, or its failure, instead of asking again. */
export class SingleFlight<T> {
  readonly #running = new Map<string, Promise<T>>();

  /** How many calls are under way. */
  get size(): number {
    return this.#running.size;
  }

  /** The call under way, if there is one. */
  get(key: string): Promise<T> | undefined {
    return this.#running.get(key);
  }

  /** Calls `ask`, unless a call is under way for this key. */
  run(key: string, ask: () => Promise<T>): Promise<T> {
    return this.#running.get(key) ?? this.#start(key, ask);
  }

  #start(key: string, ask: () => Promise<T>): Promise<T> {
    const running = ask().finally(() => this.#running.delete(key));
    this.#running.set(key, running);
    return running;
  }
}
