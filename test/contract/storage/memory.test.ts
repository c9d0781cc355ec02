import { describe } from 'node:test';
import { createCache, openStore } from '../../../src/apiserver/storage/index.ts';
import type { OpenStore } from './scenario.ts';
import { storeSuite } from './store-suite.ts';

const open: OpenStore = async () => {
  const store = await openStore({ kind: 'memory' });
  return { store, [Symbol.asyncDispose]: () => store.close() };
};

const openCached: OpenStore = async () => {
  const store = await createCache(await openStore({ kind: 'memory' }));
  return { store, [Symbol.asyncDispose]: () => store.close() };
};

describe('memory', () => storeSuite(open));
describe('memory behind the cache', () => storeSuite(openCached));
