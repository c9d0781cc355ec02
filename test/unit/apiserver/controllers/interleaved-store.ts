import type { CachedStore, Write } from '../../../../src/apiserver/storage/index.ts';

/** A store of which some methods are others; those that are not named are its own. */
export function storeWith(storage: CachedStore, others: Partial<CachedStore>): CachedStore {
  return new Proxy(storage, {
    get(target, property) {
      const value: unknown = Reflect.get(Object.hasOwn(others, property) ? others : target, property);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/**
 * A store for one of two who write at the same time: before each of its writes `meanwhile` does what the other one
 * does, on the store itself, when everything that the writer goes by has been read.
 */
export function interleavedStore(
  storage: CachedStore,
  meanwhile: (write: Write) => Promise<unknown> | unknown,
): CachedStore {
  return storeWith(storage, {
    async commit(write) {
      await meanwhile(write);
      return await storage.commit(write);
    },
  });
}

/** Does something at the first deletion of this key. */
export function atDeletion(
  key: string,
  work: () => Promise<unknown>,
): (write: Write) => Promise<unknown> | undefined {
  let isDone = false;
  return (write) => {
    if (isDone || write.key !== key || write.value !== null) return undefined;
    isDone = true;
    return work();
  };
}
