/** The machine is started again: all pods come back, in the order of their importance. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../../../src/api/index.ts';
import { temporaryFolder } from '../../../../support/index.ts';
import { NodeWorld } from './node-world.ts';
import { podOf } from './world.ts';

const ofApi = (name: string, priority?: number): Pod => {
  const pod = podOf(name, { creationTimestamp: '2025-01-01T00:00:00Z' });
  const containers = pod.spec?.containers ?? [];
  return priority === undefined ? pod : { ...pod, spec: { ...pod.spec, containers, priority } };
};
const fromFile = (name: string): Pod =>
  podOf(name, { annotations: { 'kubernetes.io/config.source': 'file' } });

/** Among equals, who is ready first comes first. */
const ranking = [['s1', 's2'], ['high'], ['low'], ['none', 'z']];

test('after a reboot static pods come first, and then the others by their priority', async () => {
  await using folder = await temporaryFolder('pods-');
  const world = new NodeWorld(folder.path, { startsAtOnce: 1 });
  const inOrder = [
    fromFile('s1'),
    fromFile('s2'),
    ofApi('high', 100),
    ofApi('low', 10),
    ofApi('none'),
    ofApi('z'),
  ];
  world.want(...inOrder.toReversed());
  world.start();
  await world.until('all to run', () => world.running() === inOrder.length);
  await world.kill();
  world.runtime.reboot();
  const before = new Set(world.runtime.sandboxes().map(({ id }) => id));

  const release = world.runtime.fault({ call: 'runSandbox', kind: 'hang' });
  world.start();
  const calls = world.runtime.calls.length;
  await world.until('the first to begin', () => world.runtime.calls.slice(calls).includes('runSandbox'));
  await world.until('the others to wait', () => world.waitForTurn === inOrder.length - 1);
  release();
  await world.until('all to run again', () => world.running() === inOrder.length);
  const made = world.runtime.sandboxes().filter(({ id }) => !before.has(id));
  const names = made.map(({ config }) => config.metadata?.name);
  assert.equal(names.length, inOrder.length);
  // the one whose folders are made first has the first turn, while no other waits for it
  const ranks = names.slice(1).map((name = '') => ranking.findIndex((equals) => equals.includes(name)));
  assert.deepEqual(ranks, ranks.toSorted(), names.join());
  const counts = inOrder.map(
    ({ metadata }) => world.statuses.get(metadata?.uid ?? '')?.containerStatuses?.[0],
  );
  assert.ok(counts.every((status) => status?.restartCount === 1));
  assert.deepEqual(world.runtime.violations, []);
  await world.stop();
});
