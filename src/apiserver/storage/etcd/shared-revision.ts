/**
 * One question asked of etcd serves all who wait when it is sent. Who comes while one is on its way waits for the next:
 * the answer under way may be older than his question.
 */
export class SharedRevision {
  readonly #ask: () => Promise<number>;
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<number> | undefined;

  constructor(ask: () => Promise<number>) {
    this.#ask = ask;
  }

  /** Rejects as the question does. */
  read(): Promise<number> {
    this.#next ??= this.#askAfter(this.#running);
    return this.#next;
  }

  async #askAfter(before: Promise<unknown>): Promise<number> {
    await before.catch(() => undefined);
    const asked = this.#ask();
    this.#running = asked;
    this.#next = undefined;
    return await asked;
  }
}
