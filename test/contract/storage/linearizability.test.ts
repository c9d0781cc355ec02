import { describe } from 'node:test';
import { createCache, openStore } from '../../../src/apiserver/storage/index.ts';
import { backends, bare, cached } from './backends.ts';
import { LateStore } from './late-store.ts';
import { cacheLinearizabilitySuite, storeLinearizabilitySuite } from './suite-linearizability.ts';

for (const backend of backends) {
  describe(backend.name, () => storeLinearizabilitySuite(bare(backend)));
  describe(`cache over ${backend.name}`, () => cacheLinearizabilitySuite(cached(backend)));
}

describe('cache over a store that tells its changes late', () =>
  cacheLinearizabilitySuite(async () => {
    const cache = await createCache(new LateStore(await openStore({ kind: 'memory' })));
    return { cache, [Symbol.asyncDispose]: () => cache.close() };
  }));
