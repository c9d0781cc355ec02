import { describe } from 'node:test';
import { backends, cached } from './backends.ts';
import { cacheSuite } from './cache-suite.ts';

for (const backend of backends) describe(`cache over ${backend.name}`, () => cacheSuite(cached(backend)));
