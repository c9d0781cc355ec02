import { describe } from 'node:test';
import { createCache, openStore } from '../../../src/apiserver/storage/index.ts';
import { cacheSuite } from './cache-suite.ts';
import type { OpenCache } from './open-cache.ts';
import { openInNewFolder } from './sqlite-folder.ts';

const overMemory: OpenCache = async (options, before) => {
  const store = await openStore({ kind: 'memory' });
  await before?.(store);
  const cache = await createCache(store, options);
  return { cache, [Symbol.asyncDispose]: () => cache.close() };
};

const overSqlite: OpenCache = async (options, before) => {
  const opened = await openInNewFolder();
  await before?.(opened.store);
  const cache = await createCache(opened.store, options);
  return {
    cache,
    async [Symbol.asyncDispose]() {
      await cache.close();
      await opened[Symbol.asyncDispose]();
    },
  };
};

describe('cache over memory', () => cacheSuite(overMemory));
describe('cache over sqlite', () => cacheSuite(overSqlite));
