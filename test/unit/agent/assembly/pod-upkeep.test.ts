import assert from 'node:assert/strict';
import { test } from 'node:test';
import { usedImages } from '../../../../src/agent/assembly/pod-upkeep.ts';

test('which images are used is not known before all pods and all containers are', () => {
  const images = { wantedImages: () => new Set(['docker.io/library/app:1']) };
  const used = (pods: boolean, containers: boolean) =>
    usedImages({ isComplete: () => pods }, { isComplete: () => containers, pods: () => [] }, images);
  assert.deepEqual([used(false, true), used(true, false)], [undefined, undefined]);
  assert.deepEqual(used(true, true), new Set(['docker.io/library/app:1']));
});
