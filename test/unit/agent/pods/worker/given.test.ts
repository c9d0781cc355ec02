/** Containers that need objects of the API: told why they wait, and started in the moment in which what they need is there. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { PodObjects } from '../../../../../src/agent/objects/index.ts';
import {
  NodeObjects,
  NodeServices,
  objectsWithoutApi,
  servicesWithoutApi,
} from '../../../../../src/agent/objects/index.ts';
import type { Pod } from '../../../../../src/api/index.ts';
import { silentLogger } from '../../../../../src/base/index.ts';
import type { TemporaryFolder } from '../../../../support/index.ts';
import { temporaryFolder, waitFor } from '../../../../support/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import { away, FakeApi } from '../../objects/fake-api.ts';
import { NodeWorld } from './node-world.ts';
import { podOf } from './world.ts';

let folder: TemporaryFolder;
let world: NodeWorld;
let api: FakeApi;
let follow: (signal: AbortSignal) => Promise<unknown>;
let end: AbortController;
let following: Promise<unknown>;

beforeEach(async () => {
  folder = await temporaryFolder('pods-');
  api = new FakeApi();
  const clock = createManualClock();
  const options = { api: api.api, clock, log: silentLogger(), random: () => 0 };
  const given = { objects: new NodeObjects(options), services: new NodeServices(options) };
  const ready = () => undefined;
  follow = (signal) => Promise.all([given.objects.run(signal, ready), given.services.run(signal, ready)]);
  world = new NodeWorld(folder.path, { given, clock });
  end = new AbortController();
  world.start();
});

afterEach(async () => {
  await world.stop();
  end.abort();
  await following;
  await folder[Symbol.asyncDispose]();
});

function begin(): void {
  following = follow(end.signal);
}

function needing(name: string, configMap: string, more: Pod['metadata'] = {}): Pod {
  const pod = podOf(name, more);
  const env = [{ name: 'X', valueFrom: { configMapKeyRef: { name: configMap, key: 'k' } } }];
  return { ...pod, spec: { ...pod.spec, containers: [{ name: 'main', image: 'app:1', env }] } };
}

const reasonOf = (uid: string) =>
  world.statuses.get(uid)?.containerStatuses?.[0]?.state?.waiting?.reason ?? '';
const isRunning = (uid: string) => world.statuses.get(uid)?.phase === 'Running';
const environmentOf = () =>
  world.runtime.containers()[0]?.config.envs?.map(({ key, value }) => `${key}=${value}`);

test('an object that appears starts the container at once, with a key that is there only later', async () => {
  begin();
  world.want(needing('a', 'm'));
  await world.until('the reason', () => reasonOf('uid-a') === 'CreateContainerConfigError');
  assert.equal(world.waitingMessage('uid-a'), 'configmap "m" not found');
  api.put('configmaps default/m', { data: { other: '1' } });
  const missing = "Failed: Error: couldn't find key k in ConfigMap default/m";
  await waitFor('another try, while no time passes', () => world.eventsOf('a').includes(missing));
  api.put('configmaps default/m', { data: { k: 'hello' } });
  await waitFor('the container to run, while no time passes', () => world.running() === 1);
  assert.deepEqual(environmentOf(), ['X=hello']);
  assert.match(world.eventsOf('a'), /^Failed: Error: configmap "m" not found$/m);
  const { config } = world.runtime.containers()[0] ?? {};
  assert.equal(config?.metadata?.attempt, 0, 'tries of which the runtime has not heard are no attempts');
});

test('without such a change it is tried again after 10 s, as before', async () => {
  begin();
  world.want(needing('a', 'm'));
  await world.until('the reason', () => world.waitingMessage('uid-a') === 'configmap "m" not found');
  const sinceMs = world.clock.monotonicMs();
  const tries = () =>
    (world.events.get('a') ?? []).filter((each) => each.endsWith('configmap "m" not found'));
  await world.until('two more tries', () => tries().length === 3);
  assert.ok(world.clock.monotonicMs() - sinceMs >= 19_000);
});

test('an object that appears while a start has just missed it is not waited for', async () => {
  begin();
  let tries = 0;
  const listeners = new Set<() => void>();
  const objects: PodObjects = {
    ...objectsWithoutApi,
    configMap() {
      tries += 1;
      if (tries > 2) return { state: 'present', object: { data: { k: 'late' } } };
      if (tries === 2) queueMicrotask(() => listeners.forEach((listener) => void listener()));
      return { state: 'absent' };
    },
    onChange(listener) {
      const tell = () => listener({ kind: 'ConfigMap', namespace: 'default', name: 'm' }, new Set(['uid-a']));
      listeners.add(tell);
      return { [Symbol.dispose]: () => void listeners.delete(tell) };
    },
  };
  const other = new NodeWorld(folder.path, { given: { objects, services: servicesWithoutApi } });
  other.start();
  other.want(needing('a', 'm'));
  await other.until('the failure', () => other.eventsOf('a').includes('configmap "m" not found'));
  await waitFor('another try, while no time passes', () => tries > 2);
  await other.stop();
});

test('while the API does not answer the container says what it waits for, and runs as soon as it answers', async () => {
  api.failure = away;
  begin();
  world.want(needing('a', 'm'));
  await world.until('the reason', () => reasonOf('uid-a') === 'CreateContainerConfigError');
  assert.match(
    world.waitingMessage('uid-a'),
    /^services have not yet been read at least once, cannot construct envvars: nothing listens there$/,
  );
  api.failure = undefined;
  api.put('configmaps default/m', { data: { k: 'here' } });
  await world.until('the pod to run', () => isRunning('uid-a'), 60_000);
  assert.deepEqual(environmentOf(), ['X=here']);
});

test('objects are followed until nothing of the pod is left, and no longer than it has not ended', async () => {
  begin();
  api.put('configmaps default/m', { data: { k: '1' } });
  world.want(needing('a', 'm'), needing('b', 'n'));
  await world.until('a to run', () => isRunning('uid-a'));
  const ofObjects = () => api.watching.filter((each) => each.startsWith('configmaps'));
  assert.deepEqual(ofObjects(), ['configmaps default/m', 'configmaps default/n']);
  world.want(needing('a', 'm'), needing('b', 'o'));
  await world.until('the other object', () => api.watching.includes('configmaps default/o'));
  assert.deepEqual(ofObjects(), ['configmaps default/m', 'configmaps default/o']);
  world.want(
    needing('a', 'm', {
      deletionTimestamp: '2026-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 1,
      finalizers: ['x'],
    }),
  );
  await world.until('the runtime to be empty', () => world.isEmpty());
  await world.until('nothing to be followed', () => ofObjects().length === 0);
});
