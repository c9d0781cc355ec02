/** Something that comes at some time and may be replaced later: an address, a certificate. */
export interface Latest<T> {
  /** The value now, if it has come. */
  readonly value: T | undefined;
  /** Resolves with the value once there is one. */
  get(): Promise<T>;
  set(value: T): void;
  /** Calls `listener` with each later value, until disposed of. */
  onChange(listener: (value: T) => void): Disposable;
}

export function createLatest<T>(): Latest<T> {
  const first = Promise.withResolvers<void>();
  const listeners = new Set<(value: T) => void>();
  let held: { value: T } | undefined;

  async function get(): Promise<T> {
    while (held === undefined) await first.promise;
    return held.value;
  }

  return {
    get value() {
      return held?.value;
    },
    get,
    set(value) {
      held = { value };
      first.resolve();
      for (const listener of [...listeners]) listener(value);
    },
    onChange(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
}
