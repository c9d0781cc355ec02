import { describe } from 'node:test';
import { backends, bare } from './backends.ts';
import { unreadableSuite } from './suite-unreadable.ts';
import { unreadablePropertySuite } from './suite-unreadable-property.ts';

for (const backend of backends) {
  describe(`what cannot be read, over ${backend.name}`, () => {
    unreadableSuite(bare(backend));
    unreadablePropertySuite(bare(backend));
  });
}
