/**
 * One request to etcd serves all callers that wait when it is sent. A caller that comes while a request is under way waits
 * for the next one: the result under way may be older than its call.
 */
export class SharedRevision {
  readonly #ask: () => Promise<number>;
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<number> | undefined;

  constructor(ask: () => Promise<number>) {
    this.#ask = ask;
  }

  /** Rejects as the request does. */
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
