import { describe } from 'node:test';
import { backends, cached } from './backends.ts';
import { storeSuite } from './store-suite.ts';

for (const backend of backends) {
  const open = cached(backend);
  describe(`${backend.name} behind the cache`, () =>
    storeSuite(async () => {
      const opened = await open();
      return { store: opened.cache, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
    }));
}
