/** More pods at once than a node takes, and pods with more containers than most. */
import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, beforeEach, test } from 'node:test';
import { podMetrics } from '../../../../../src/agent/pods/index.ts';
import { createStaticPods } from '../../../../../src/agent/pods/sources/static-pods.ts';
import type { Verdict } from '../../../../../src/agent/pods/worker/index.ts';
import type { Pod } from '../../../../../src/api/index.ts';
import { createMetrics, silentLogger, systemClock } from '../../../../../src/base/index.ts';
import type { TemporaryFolder } from '../../../../support/index.ts';
import { temporaryFolder } from '../../../../support/index.ts';
import { manifest } from '../support.ts';
import type { NodeWorldOptions } from './node-world.ts';
import { NodeWorld } from './node-world.ts';
import { podOf } from './world.ts';

const maxPods = 110;
/** The disk has its own time, in which much of the test's passes. */
const dayMs = 24 * 3600 * 1000;

let folder: TemporaryFolder;
let world: NodeWorld | undefined;
beforeEach(async () => {
  folder = await temporaryFolder('pods-');
});
afterEach(async () => {
  await world?.stop();
  assert.deepEqual(world?.runtime.violations, []);
  await folder[Symbol.asyncDispose]();
});

function startWorld(options: NodeWorldOptions = {}): NodeWorld {
  world = new NodeWorld(folder.path, options);
  world.start();
  return world;
}

const outOfPods: Verdict = { isAdmitted: false, reason: 'OutOfpods', message: 'no room' };
const emptied = (world: NodeWorld) => async () => world.isEmpty() && (await world.leftovers()).length === 0;

test('500 manifests at once: the node runs what it has room for, refuses the others, and forgets all', async () => {
  const manifests = join(folder.path, 'manifests');
  await mkdir(manifests);
  const names = Array.from({ length: 500 }, (_, index) => `pod-${index}`);
  await Promise.all(names.map((name) => writeFile(join(manifests, `${name}.yaml`), manifest(name))));
  const statics = createStaticPods({
    ...{ folder: manifests, isStated: true, nodeName: 'n1', rescanMs: 50, quietMs: 10 },
    ...{ metrics: podMetrics(createMetrics()), log: silentLogger(), clock: systemClock },
  });
  const options: NodeWorldOptions = {
    admit: async (_pod, _origin, others) => (others.length < maxPods ? { isAdmitted: true } : outOfPods),
  };
  const before = process.cpuUsage();
  const world = startWorld(options);
  const end = new AbortController();
  using _changes = statics.onChange((pods) => world.want(...pods));
  const following = statics.run(end.signal, () => undefined);
  after(() => end.abort());
  await world.until('all to be judged', () => world.statuses.size === 500, dayMs);
  await world.until('those with room to run', () => world.running() === maxPods, dayMs);
  const failed = [...world.statuses.values()].filter(({ phase }) => phase === 'Failed');
  assert.equal(failed.length, 500 - maxPods);
  assert.ok(
    failed.every(({ reason, message }) => reason === 'OutOfpods' && message === 'Pod was rejected: no room'),
  );

  await world.pass(60_000);
  assert.equal(world.running(), maxPods);
  const calls = world.runtime.calls.length;
  await world.pass(60_000);
  assert.ok(world.runtime.calls.length - calls < 50, 'a crowd at rest asks nothing of the runtime but lists');

  await rm(manifests, { recursive: true });
  await world.until('nothing to be left', emptied(world), dayMs);
  assert.equal(world.statuses.size, 0);
  const { user, system } = process.cpuUsage(before);
  const msOfPod = (user + system) / 1000 / 500;
  assert.ok(msOfPod < 60, `${msOfPod.toFixed(1)} ms of CPU for each, from its manifest to its end`);
  end.abort();
  await following;
});

test('a pod with 60 containers runs all of them once, and leaves nothing', async () => {
  const containers = Array.from({ length: 60 }, (_, index) => ({ name: `c${index}`, image: 'app:1' }));
  const { spec, ...pod } = podOf('wide');
  const wide: Pod = { ...pod, spec: { ...spec, containers } };
  // each needs a moment to end, in which the runtime has all that it is told to stop
  const world = startWorld({ behaviours: () => ({ obeysAfterMs: 1500 }) });
  world.want(wide);
  await world.until(
    'it to run',
    () => world.statuses.get('uid-wide')?.phase === 'Running' && world.running() === 60,
  );
  await world.until('all to be ready', () => {
    const { containerStatuses = [] } = world.statuses.get('uid-wide') ?? {};
    return containerStatuses.length === 60 && containerStatuses.every(({ ready }) => ready);
  });
  assert.equal(world.runtime.calls.filter((call) => call === 'createContainer').length, 60);
  const stops = () => world.runtime.calls.filter((call) => call === 'stopContainer').length;
  world.want();
  await world.until('the first stops', () => {
    const isBegun = stops() > 0;
    assert.ok(stops() <= 60 - world.running() + 24, 'not more at a time than one shim bears');
    return isBegun;
  });
  await world.until('nothing to be left', emptied(world));
});

test('a name that is used again at once: each pod runs alone, in turn', async () => {
  const beside: string[] = [];
  const world = startWorld({
    behaviours: ({ podUid }) => {
      const runs = world.runtime.containers().filter(({ state }) => state === 'running');
      const isOther = runs.some(({ config }) => config.labels?.['io.kubernetes.pod.uid'] !== podUid);
      if (isOther) beside.push(podUid);
      return { obeysAfterMs: 60_000 };
    },
  });
  const deletion = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 100 };
  const ending: Pod[] = [];
  for (let count = 0; count < 12; count += 1) {
    const uid = `uid-${count}`;
    world.want(...ending, podOf('same', { uid }));
    // every second one is replaced while it runs, the others at once
    if (count % 2 === 1) continue;
    await world.until('it to run', () => world.statuses.get(uid)?.phase === 'Running');
    ending.push(podOf('same', { uid, ...deletion }));
  }
  world.want(...ending, podOf('same', { uid: 'uid-last' }));
  await world.until('the last to run', () => world.statuses.get('uid-last')?.phase === 'Running');
  assert.equal(world.runtime.sandboxes().length, 1);
  assert.equal(world.running(), 1);
  assert.deepEqual(beside, [], 'none began while another ran');
  world.want();
  await world.until('nothing to be left', emptied(world));
});
