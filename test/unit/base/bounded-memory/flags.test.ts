import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  boundedMemoryEnvironment,
  smallMemoryEnvironment,
  toControlPlaneEnvironment,
} from '../../../../src/base/bounded-memory/index.ts';

test('a control plane that an agent starts has bounds of its own, and all else that the agent has', () => {
  const own = toControlPlaneEnvironment({ ...smallMemoryEnvironment, PATH: '/bin' });
  assert.deepEqual(own, { ...boundedMemoryEnvironment, PATH: '/bin' });
});

test('malloc never raises its thresholds: it would keep what it has freed', () => {
  for (const environment of [boundedMemoryEnvironment, smallMemoryEnvironment])
    for (const name of ['MALLOC_MMAP_THRESHOLD_', 'MALLOC_TRIM_THRESHOLD_'])
      assert.ok(Number(environment[name]) <= 128 * 1024, name);
});
