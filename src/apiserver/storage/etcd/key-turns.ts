/** One piece of work at a time for each key, in the order in which they came. */
export class KeyTurns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** `work` never rejects. */
  take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const turn = before === undefined ? work() : before.then(work);
    this.#last.set(key, turn);
    void turn.then(() => {
      if (this.#last.get(key) === turn) this.#last.delete(key);
    });
    return turn;
  }

  /** Resolves when all that was taken is done. */
  async settled(): Promise<void> {
    await Promise.all(this.#last.values());
  }
}
