import { describe } from 'node:test';
import { createCache } from '../../../src/apiserver/storage/index.ts';
import type { OpenStore } from './scenario.ts';
import { openInNewFolder } from './sqlite-folder.ts';
import { storeSuite } from './store-suite.ts';

const openCached: OpenStore = async () => {
  const opened = await openInNewFolder();
  const store = await createCache(opened.store);
  return { store, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
};

describe('sqlite', () => storeSuite(openInNewFolder));
describe('sqlite behind the cache', () => storeSuite(openCached));
