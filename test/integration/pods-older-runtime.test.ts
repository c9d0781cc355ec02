/** Pods on containerd 1.6, which has no events and tells less of containers than later ones. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import type { PodNode } from './pods/index.ts';
import {
  endsForWantOfMemory,
  inRuntime,
  leavesNothing,
  outlivesTheAgent,
  refusesImage,
  restartsOnFailure,
  runsAndTells,
  startPodNode,
  startsInOrder,
  waitsLongerEachTime,
} from './pods/index.ts';

before(ensureBuilt);

let lab: PodNode;
before(async () => {
  lab = await startPodNode({ containerd: { version: '1.6' } });
  assert.match(lab.node.containerd.release, /^v?1\.6/);
});
after(() => lab?.[Symbol.asyncDispose]());

test('a pod runs, and says all that there is to say', () => runsAndTells(lab));
test('containers that fail are restarted', () => restartsOnFailure(lab));
test('one whose first process is killed for want of memory says so', () => endsForWantOfMemory(lab));
test('one that fails again and again waits', () => waitsLongerEachTime(lab));
test('init containers and sidecars start in order', () => startsInOrder(lab));
test('an image is no volume here', () =>
  refusesImage(lab, '', 'cannot mount images as volumes: containerd 2.1 and later can'));
test('a deleted pod leaves nothing', () => leavesNothing(lab));
test('an agent that is killed finds its pods again', () => outlivesTheAgent(lab, 'kill9'));
test('nothing runs of pods that are gone', async () => {
  await waitFor('the runtime to be empty', async () => (await inRuntime(lab)).length === 0);
});
