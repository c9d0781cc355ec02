/** Lets those who want the same key in one after another, in the order in which they came. */
export class KeyQueue {
  readonly #last = new Map<string, Promise<void>>();

  /** Waits for everybody before; whoever is in leaves by disposing of what is answered. */
  async enter(key: string): Promise<Disposable> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = this.#last.get(key);
    this.#last.set(key, promise);
    await before;
    return {
      [Symbol.dispose]: () => {
        if (this.#last.get(key) === promise) this.#last.delete(key);
        resolve();
      },
    };
  }
}
