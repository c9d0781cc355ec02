import { describe } from 'node:test';
import { backends, bare } from './backends.ts';
import { storeSuite } from './store-suite.ts';
import { reopenSuite } from './suite-reopen.ts';
import { windowSuite } from './suite-window.ts';

for (const backend of backends) {
  describe(backend.name, () => storeSuite(bare(backend)));
  describe(`${backend.name}, by the clock`, () => windowSuite(backend));
  if (backend.isDurable) describe(`${backend.name}, opened again`, () => reopenSuite(backend));
}
