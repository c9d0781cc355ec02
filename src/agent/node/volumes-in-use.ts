import type { Node } from '../../api/index.ts';

/** Far more than a node can have. */
const maxWaiting = 10_000;

/**
 * The volumes that the status of the Node says are in use: who detaches volumes leaves those alone. A volume is announced before it
 * is used, and used only once the API has that. Until it is settled which volumes are here, what the status says stays.
 */
export class NodeVolumesInUse {
  readonly #announced = new Set<string>();
  readonly #waiting = new Map<() => void, string>();
  readonly #listeners = new Set<() => void>();
  #stored: ReadonlySet<string> = new Set();
  #isSettled = false;

  /** Resolves when the API has it. Rejects with the reason of `signal`. */
  async announce(name: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.#announced.add(name);
    if (this.#stored.has(name)) return;
    if (this.#waiting.size >= maxWaiting) throw new Error('too many volumes wait to be announced');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    this.#waiting.set(resolve, name);
    this.#tell();
    try {
      await promise;
    } finally {
      this.#waiting.delete(resolve);
      signal.removeEventListener('abort', abort);
    }
  }

  withdraw(name: string): void {
    if (this.#announced.delete(name) || this.#stored.has(name)) this.#tell();
  }

  settle(): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#tell();
  }

  /** For the status that follows `previous`. */
  compose(previous: readonly string[] = []): string[] {
    const kept = this.#isSettled ? [] : previous;
    return [...new Set([...kept, ...this.#announced])].sort();
  }

  /** Takes the Node as the API has it. */
  onNode({ status }: Node): void {
    this.#stored = new Set(status?.volumesInUse);
    for (const [resolve, name] of this.#waiting) if (this.#stored.has(name)) resolve();
  }

  /** Calls `listener` when the status should be written soon. */
  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
