/** A value that becomes available at some time and may be replaced later: an address, a certificate. */
export interface Latest<T> {
  /** The current value, if there is one yet. */
  readonly value: T | undefined;
  /** Resolves with the value once there is one. */
  get(): Promise<T>;
  set(value: T): void;
  /** Calls `listener` with each later value, until the result is disposed of. */
  onChange(listener: (value: T) => void): Disposable;
}

export function createLatest<T>(): Latest<T> {
  const first = Promise.withResolvers<void>();
  const listeners = new Set<(value: T) => void>();
  let current: { value: T } | undefined;

  async function get(): Promise<T> {
    while (current === undefined) await first.promise;
    return current.value;
  }

  return {
    get value() {
      return current?.value;
    },
    get,
    set(value) {
      current = { value };
      first.resolve();
      for (const listener of [...listeners]) listener(value);
    },
    onChange(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
}
