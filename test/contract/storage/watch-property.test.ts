import { describe } from 'node:test';
import { createCache } from '../../../src/apiserver/storage/index.ts';
import { backends } from './backends.ts';
import { changesPropertySuite } from './suite-changes-property.ts';
import { watchStepsSuite } from './suite-watch-steps.ts';

for (const backend of backends) {
  describe(backend.name, () => changesPropertySuite(backend, (place) => place.open()));
  describe(`cache over ${backend.name}`, () => {
    changesPropertySuite(backend, async (place) => await createCache(await place.open()));
    watchStepsSuite(backend);
  });
}
