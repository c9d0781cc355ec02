import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusError } from '../../../src/api/index.ts';
import { ifFound } from '../../../src/client/index.ts';

test('gives what is there, undefined for what is not, and rejects otherwise', async () => {
  assert.equal(await ifFound(Promise.resolve('object')), 'object');
  assert.equal(await ifFound(Promise.reject(new StatusError('NotFound', 'no such node'))), undefined);
  await assert.rejects(ifFound(Promise.reject(new StatusError('Forbidden', 'not you'))), /not you/);
  await assert.rejects(ifFound(Promise.reject(new Error('NotFound'))), /NotFound/);
});
