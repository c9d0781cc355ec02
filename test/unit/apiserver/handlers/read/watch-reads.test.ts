import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { configMapKind } from '../../../../../src/api/kinds/core/config-map.ts';
import { SharedReads } from '../../../../../src/apiserver/handlers/index.ts';
import { objectEncoding } from '../../../../../src/apiserver/registry/encoding.ts';

test('an object that many look at is read once in a turn of the event loop, and not kept', async () => {
  const bytes = '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"}}';
  const stored = { key: 'a', revision: 7, createRevision: 7, value: Buffer.from(bytes) };
  const resource = { encoding: objectEncoding(configMapKind, 'k8s.io') };
  const reads = new SharedReads();
  const first = reads.object(resource, stored);
  assert.equal(reads.object(resource, stored), first);
  assert.notEqual(
    reads.object(resource, { ...stored, revision: 8 }),
    first,
    'another state is another object',
  );
  await turn();
  await turn();
  const again = reads.object(resource, stored);
  assert.notEqual(again, first);
  assert.deepEqual(again, first);
});
