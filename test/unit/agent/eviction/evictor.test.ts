import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, test } from 'node:test';
import type { ActivePod, EvictorOptions, Layout, PodUse } from '../../../../src/agent/eviction/index.ts';
import { Evictor, evictionMetrics } from '../../../../src/agent/eviction/index.ts';
import type { Eviction, Measurements } from '../../../../src/agent/node/index.ts';
import type { PodEnd } from '../../../../src/agent/pods/worker/index.ts';
import type { Pod } from '../../../../src/api/index.ts';
import { createMetrics } from '../../../../src/base/index.ts';
import { temporaryFolder, waitFor } from '../../../support/index.ts';
import type { ManualClock } from '../../../support/manual-clock.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { recordedLog } from '../../base/recorded-log.ts';
import { defaultEviction, healthy } from '../node/samples.ts';
import { disk, mi, podOf, useOf } from './samples.ts';

const roundMs = 10_000;
const hundred = { amount: 100 * mi, text: '100Mi' };
const none: Eviction = { ...defaultEviction, hard: {}, transitionMs: 60_000 };
const hardMemory: Eviction = { ...none, hard: { 'memory.available': hundred } };
const hardDisk: Eviction = { ...none, hard: { 'nodefs.available': hundred } };

interface World {
  memory: number;
  /** Of the file system of the node. */
  disk: number;
  layout: Layout;
  eviction: Eviction;
  pods: ActivePod[];
  uses: Map<string, PodUse> | undefined;
  /** Called when dead containers, and unused images, are removed. */
  onRemoved(what: 'containers' | 'images', world: World): void;
  /** Called for each pod that is ended. */
  onEnded(pod: Pod): void;
  released: Set<string>;
}

/** An evictor of a node of which everything can be set. */
async function start(
  t: TestContext,
  given: Partial<World>,
  more: (clock: ManualClock) => Partial<EvictorOptions> = () => ({}),
  /** One that hangs cannot be waited for at the end. */
  ending: 'ends' | 'hangs' = 'ends',
) {
  const clock = createManualClock();
  let isReady = false;
  const { log, text } = recordedLog();
  const registry = createMetrics();
  const world: World = {
    ...{ memory: 900 * mi, disk: 900 * mi, layout: 'shared', pods: [], uses: new Map() },
    ...{ onRemoved: () => undefined, onEnded: () => undefined, released: new Set<string>() },
    ...{ eviction: none, ...given },
  };
  const ended: (PodEnd & { readonly name: string })[] = [];
  const events: string[] = [];
  const annotations: unknown[] = [];
  const removed: string[] = [];
  const looks: number[] = [];
  const memory = () => ({ capacityBytes: 1000 * mi, availableBytes: world.memory });
  const measured = (): Measurements => ({
    ...healthy,
    memory: memory(),
    disk: {
      capacityBytes: 1000 * mi,
      availableBytes: world.disk,
      inodes: 1000,
      inodesFree: 500,
      askedMs: clock.monotonicMs(),
    },
    imageDisk: undefined,
    containerDisk: undefined,
  });
  const options: EvictorOptions = {
    async measure() {
      looks.push(clock.monotonicMs());
      return measured();
    },
    readMemory: memory,
    allPodsMemory: () => undefined,
    memoryEvents: () => undefined,
    eviction: () => world.eviction,
    roundMs: () => roundMs,
    fileSystems: { layout: async () => world.layout },
    pods: () => world.pods,
    readUse: async () => world.uses,
    endPod(uid, end) {
      const active = world.pods.find(({ pod }) => pod.metadata?.uid === uid);
      if (active === undefined) return false;
      world.pods = world.pods.filter((each) => each !== active);
      ended.push({ ...end, name: active.pod.metadata?.name ?? '' });
      world.onEnded(active.pod);
      return true;
    },
    isReleased: (uid) => world.released.has(uid),
    async removeDeadContainers() {
      removed.push('containers');
      world.onRemoved('containers', world);
    },
    async removeUnusedImages() {
      removed.push('images');
      world.onRemoved('images', world);
    },
    podEvent(pod, happening) {
      events.push(`${happening.reason} ${pod.metadata?.name}`);
      annotations.push(happening.annotations);
    },
    nodeEvent: ({ reason, message }) => void events.push(`${reason}: ${message}`),
    metrics: evictionMetrics(registry),
    ...{ clock, log },
    ...more(clock),
  };
  const evictor = new Evictor(options);
  const stop = new AbortController();
  const running = evictor.run(stop.signal, () => {
    isReady = true;
  });
  t.after(async () => {
    stop.abort();
    await clock.advance(1);
    if (ending === 'ends') await running;
  });
  await clock.advance(0);
  const ready = () => isReady;
  return { world, evictor, ready, clock, ended, events, annotations, removed, looks, text, registry };
}

const active = (pod: Pod, more: Partial<ActivePod> = {}): ActivePod => ({
  ...{ pod, origin: 'api', isEnding: false },
  ...more,
});
const usesOf = (uses: Readonly<Record<string, PodUse>>) =>
  new Map(Object.entries(uses).map(([name, use]) => [`uid-${name}`, use]));
const using = (bytes: number) => useOf({ memoryBytes: bytes * mi, main: { memoryBytes: bytes * mi } });
const names = (ended: readonly { readonly name: string }[]) => ended.map(({ name }) => name).join(' ');

describe('a node that is short of memory', () => {
  const three = () => ({
    pods: ['small', 'big', 'middle'].map((name) => active(podOf(name))),
    uses: usesOf({ small: using(1), big: using(300), middle: using(20) }),
  });

  test('ends one pod, waits for it to be gone, and then the next', async (t) => {
    const node = await start(t, { ...three(), memory: 50 * mi, eviction: hardMemory });
    assert.equal(names(node.ended), 'big');
    await node.clock.advance(9000);
    assert.equal(names(node.ended), 'big');
    node.world.released.add('uid-big');
    await node.clock.advance(300);
    assert.equal(names(node.ended), 'big middle');
    await node.clock.advance(29_000);
    assert.equal(names(node.ended), 'big middle');
    await node.clock.advance(2000);
    assert.equal(names(node.ended), 'big middle small', 'one that does not go holds it up for half a minute');
  });

  test('stops when there is enough again', async (t) => {
    const node = await start(t, { ...three(), memory: 50 * mi, eviction: hardMemory });
    node.world.released.add('uid-big');
    node.world.memory = 100 * mi;
    await node.clock.advance(120_000);
    assert.equal(names(node.ended), 'big');
    assert.equal(node.evictor.pressures().memory, false);
  });

  test('says why, word for word, to the pod and on its events, and leaves it one second', async (t) => {
    const node = await start(t, { ...three(), memory: 50 * mi, eviction: hardMemory });
    const message =
      'The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. Container main was using 300Mi, request is 0, has larger consumption of memory. ';
    assert.deepEqual(node.ended, [
      { name: 'big', reason: 'Evicted', message, graceSeconds: 1, disruption: message },
    ]);
    assert.deepEqual(node.events, ['EvictionThresholdMet: Attempting to reclaim memory', 'Evicted big']);
    assert.deepEqual(node.annotations, [
      { offending_containers: 'main', offending_containers_usage: '300Mi', starved_resource: 'memory' },
    ]);
    assert.match(await node.registry.metrics(), /kubelet_evictions\{eviction_signal="memory\.available"\} 1/);
    assert.match(await node.registry.metrics(), /kubelet_eviction_stats_age_seconds_count\{[^}]*\} 1/);
    assert.match(node.evictor.report().last?.what ?? '', /^evicted pod default\/big: The node was low/);
    assert.deepEqual(node.removed, []);
  });

  test('never ends what is critical', async (t) => {
    const pods = [
      active(podOf('system', { priority: 2_000_000_000 })),
      active(podOf('static'), { origin: 'file' }),
      active(podOf('from-url'), { origin: 'http' }),
      active({
        ...podOf('mirror'),
        metadata: { ...podOf('mirror').metadata, annotations: { 'kubernetes.io/config.mirror': 'x' } },
      }),
    ];
    const node = await start(t, { pods, memory: 0, eviction: hardMemory });
    await node.clock.advance(60_000);
    assert.deepEqual(node.ended, []);
    assert.match(node.evictor.report().last?.what ?? '', /no pod may be evicted/);
  });

  test('ends nobody while no figures can be read', async (t) => {
    const node = await start(t, { ...three(), uses: undefined, memory: 0, eviction: hardMemory });
    await node.clock.advance(30_000);
    assert.equal(names(node.ended), '');
    node.world.uses = usesOf({ small: using(1), big: using(2), middle: using(3) });
    await node.clock.advance(roundMs);
    assert.equal(names(node.ended), 'middle');
  });

  test('looks each second when it comes near, and acts at once', async (t) => {
    const node = await start(t, { ...three(), memory: 900 * mi, eviction: hardMemory });
    node.world.memory = 299 * mi;
    await node.clock.advance(roundMs);
    const before = node.looks.length;
    node.world.memory = 99 * mi;
    await node.clock.advance(1000);
    assert.equal(names(node.ended), 'big');
    assert.equal(node.looks.length, before + 2, 'once, and again before it acts');
  });

  test('is not looked at more often while it is far from it', async (t) => {
    const node = await start(t, { ...three(), eviction: hardMemory });
    await node.clock.advance(60_000);
    assert.equal(node.looks.length, 7);
  });

  test('looks at once when the kernel says something, but not more than once a second', async (t) => {
    const node = await start(t, { ...three(), eviction: hardMemory });
    await node.clock.advance(5000);
    for (let event = 0; event < 50; event += 1) {
      node.evictor.wake();
      await node.clock.advance(20);
    }
    assert.ok(node.looks.length >= 2 && node.looks.length <= 4, `${node.looks.length} looks`);
  });
});

describe('a soft threshold', () => {
  const soft: Eviction = {
    ...{ ...none, soft: { 'memory.available': hundred }, softGraceMs: { 'memory.available': 25_000 } },
    transitionMs: 1,
  };
  const world = () => ({ pods: [active(podOf('a', { graceSeconds: 20 }))], uses: usesOf({ a: using(5) }) });
  const graceOf = async (t: TestContext, maxPodGraceSeconds: number) => {
    const eviction = { ...soft, maxPodGraceSeconds };
    const node = await start(t, { ...world(), memory: 50 * mi, eviction });
    await node.clock.advance(40_000);
    return node.ended.map(({ graceSeconds }) => graceSeconds);
  };

  test('ends pods after its grace period, though it is a pressure at once', async (t) => {
    const node = await start(t, { ...world(), memory: 50 * mi, eviction: soft });
    assert.equal(node.evictor.pressures().memory, true);
    await node.clock.advance(24_000);
    assert.deepEqual(node.ended, []);
    await node.clock.advance(roundMs);
    assert.equal(names(node.ended), 'a');
  });

  test('leaves a pod its own grace, up to what is configured', async (t) => {
    assert.deepEqual(await graceOf(t, 0), [1]);
    assert.deepEqual(await graceOf(t, 15), [15]);
    assert.deepEqual(await graceOf(t, 60), [20]);
    assert.deepEqual(await graceOf(t, -1), [20]);
  });
});

test('a hard threshold is noticed at once while the soft one is known to be met, and the other way round', async (t) => {
  const pods = () => [active(podOf('big'))];
  const grace = { 'memory.available': 90_000 };
  const given = { memory: 250 * mi, uses: usesOf({ big: using(500) }) };
  const soft = { 'memory.available': { amount: 300 * mi } };
  const node = await start(t, {
    ...{ ...given, pods: pods(), eviction: { ...hardMemory, soft, softGraceMs: grace } },
  });
  await node.clock.advance(1000);
  node.world.memory = 5 * mi;
  await node.clock.advance(1000);
  assert.equal(names(node.ended), 'big');
  const looks = await start(t, { ...given, pods: [], memory: 50 * mi, eviction: hardMemory });
  looks.world.eviction = { ...hardMemory, soft, softGraceMs: grace };
  const before = looks.looks.length;
  await looks.clock.advance(1000);
  assert.ok(looks.looks.length > before);
});

describe('a node that is short of disk', () => {
  const pods = () => ({
    pods: [active(podOf('a')), active(podOf('b'))],
    uses: usesOf({ a: useOf({ main: { logs: disk(5) } }), b: useOf({ main: { logs: disk(9) } }) }),
  });

  test('first removes dead containers and unused images, and no pod when that is enough', async (t) => {
    const node = await start(t, {
      ...{ ...pods(), disk: 50 * mi, eviction: hardDisk },
      onRemoved(what, world) {
        if (what === 'images') world.disk = 200 * mi;
      },
    });
    await node.clock.advance(30_000);
    assert.deepEqual(node.removed, ['containers', 'images']);
    assert.deepEqual(node.ended, []);
    assert.deepEqual(node.events, ['EvictionThresholdMet: Attempting to reclaim ephemeral-storage']);
  });

  test('ends pods when there is not as much free as must be besides', async (t) => {
    const node = await start(t, {
      ...{ ...pods(), disk: 50 * mi, eviction: { ...hardDisk, reclaim: { 'nodefs.available': hundred } } },
      onRemoved(what, world) {
        if (what === 'images') world.disk = 199 * mi;
      },
    });
    assert.equal(names(node.ended), 'b');
  });

  test('removes nothing of images where they lie elsewhere', async (t) => {
    const node = await start(t, { ...pods(), layout: 'images', disk: 50 * mi, eviction: hardDisk });
    assert.deepEqual([node.removed, names(node.ended)], [[], 'b']);
  });

  test('goes on where something cannot be removed', async (t) => {
    const node = await start(t, {
      ...{ ...pods(), disk: 50 * mi, eviction: hardDisk },
      onRemoved(what) {
        throw new Error(`${what} are held`);
      },
    });
    assert.equal(names(node.ended), 'b');
    assert.match(node.text(), /cannot remove dead containers to make room: containers are held/);
  });
});

describe('while the runtime does not answer to the removal of images', () => {
  const given = (more: Partial<World> = {}) => ({
    ...{ pods: [active(podOf('a')), active(podOf('b'))], disk: 50 * mi },
    ...{ uses: usesOf({ a: using(1), b: using(2) }), eviction: hardDisk },
    ...more,
  });
  const hang = (t: TestContext, more: Partial<World> = {}) => {
    const asked: number[] = [];
    const removeUnusedImages = (): Promise<void> => {
      asked.push(1);
      return Promise.withResolvers<void>().promise;
    };
    return start(t, given(more), () => ({ removeUnusedImages })).then((node) => ({ ...node, asked }));
  };

  test('others do not wait for it', async (t) => {
    const node = await hang(t);
    assert.deepEqual([node.ready(), node.evictor.pressures().disk, node.asked.length], [true, true, 1]);
  });

  test('memory is looked at', async (t) => {
    const eviction = { ...hardDisk, hard: { ...hardDisk.hard, ...hardMemory.hard } };
    const node = await hang(t, { memory: 250 * mi, eviction });
    await node.clock.advance(5000);
    assert.equal(names(node.ended), '');
    node.world.memory = 50 * mi;
    await node.clock.advance(1000);
    assert.equal(names(node.ended), 'b');
  });

  test('pods are spared for half a minute, and it is not asked twice', async (t) => {
    const node = await hang(t);
    await node.clock.advance(29_000);
    assert.equal(names(node.ended), '');
    await node.clock.advance(2000);
    assert.equal(node.ended.length, 1);
    await node.clock.advance(120_000);
    assert.equal(node.asked.length, 1);
  });
});

test('others do not wait for a first look that fails', async (t) => {
  const measure = () => Promise.reject(new Error('no figures'));
  const node = await start(t, {}, () => ({ measure }));
  assert.equal(node.ready(), true);
});

test('others wait for the first figures alone, not for what follows from them', async (t) => {
  const never = Promise.withResolvers<never>().promise;
  const given = { pods: [active(podOf('a'))], memory: 50 * mi, eviction: hardMemory };
  for (const hanging of [{ fileSystems: { layout: () => never } }, { readUse: () => never }]) {
    const node = await start(t, given, () => hanging, 'hangs');
    assert.deepEqual([node.ready(), node.evictor.pressures().memory], [true, true]);
  }
});

test('a change of the kernel’s file wakes it, also of one that is there later', async (t) => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, 'memory.events.local');
  const found: { path?: string } = {};
  const node = await start(t, { eviction: hardMemory }, () => ({ memoryEvents: () => found.path }));
  await writeFile(file, 'max 0\n');
  found.path = file;
  await node.clock.advance(roundMs);
  await node.clock.advance(5000);
  const before = node.looks.length;
  await writeFile(file, 'max 1\n');
  await waitFor(
    'another look',
    async () => {
      await node.clock.advance(1);
      return node.looks.length > before;
    },
    { timeoutMs: 20_000 },
  );
  assert.ok((node.looks.at(-1) ?? 0) < roundMs * 2 + (node.looks[0] ?? 0), 'before its time');
});

describe('what was measured is looked at again', () => {
  const limited = podOf('limited', { limits: { 'ephemeral-storage': '1Gi' } });
  const given = (): Partial<World> => ({
    ...{ memory: 50 * mi, eviction: hardMemory, pods: [active(limited), active(podOf('big'))] },
    uses: usesOf({ limited: using(1), big: using(500) }),
  });

  test('before a pod goes: to find what pods use may have taken long', async (t) => {
    const node = await start(t, given(), (clock) => ({
      async readUse() {
        await clock.sleep(14_000);
        return usesOf({ limited: using(1), big: using(500) });
      },
    }));
    node.world.memory = 900 * mi;
    await node.clock.advance(60_000);
    assert.deepEqual(node.ended, []);
  });

  test('and a pod goes before limits of storage are looked at, which takes longer', async (t) => {
    const node = await start(t, given(), (clock) => ({
      async readUse(_pods, kinds) {
        if (kinds.includes('disk')) await clock.sleep(14_000);
        return usesOf({ limited: using(1), big: using(500) });
      },
    }));
    assert.equal(names(node.ended), 'big');
  });
});

test('a file system that hangs after it was short costs one pod', async (t) => {
  const asked = { capacityBytes: 1000 * mi, availableBytes: 50 * mi, inodes: 0, inodesFree: 0, askedMs: 0 };
  const pods = ['a', 'b', 'c'].map((name) => active(podOf(name)));
  const uses = usesOf({ a: useOf(), b: useOf(), c: useOf() });
  const released = new Set(['uid-a', 'uid-b', 'uid-c']);
  const node = await start(t, { pods, uses, released, eviction: hardDisk }, () => ({
    measure: async () => ({ ...healthy, disk: asked }),
  }));
  await node.clock.advance(600_000);
  assert.equal(node.ended.length, 1);
  assert.equal(node.evictor.pressures().disk, true);
});

test('however often the kernel wakes it, Events and removals come at most each ten seconds', async (t) => {
  const node = await start(t, { disk: 50 * mi, eviction: hardDisk });
  for (let second = 0; second < 29; second += 1) {
    await node.clock.advance(1000);
    node.evictor.wake();
  }
  assert.ok(node.looks.length > 20, `${node.looks.length} looks`);
  assert.equal(node.events.length, 3, node.events.join('\n'));
  assert.equal(node.removed.length, 6, node.removed.join(' '));
});

describe('a pod above its limit of local storage', () => {
  const limits = { 'ephemeral-storage': '1Mi' };
  const over = (name: string) => ({ [name]: useOf({ main: { logs: disk(2 * mi) } }) });

  test('is ended for its own fault, together with all others that are', async (t) => {
    const pods = ['a', 'b', 'c'].map((name) => active(podOf(name, { limits })));
    const node = await start(t, {
      ...{ pods, uses: usesOf({ ...over('a'), b: useOf({}), ...over('c') }), eviction: none },
    });
    const message = 'Pod ephemeral local storage usage exceeds the total limit of containers 1Mi. ';
    assert.deepEqual(
      node.ended,
      ['a', 'c'].map((name) => ({ name, reason: 'Evicted', message, graceSeconds: 1 })),
    );
    assert.deepEqual(node.events, ['Evicted a', 'Evicted c']);
    assert.match(
      await node.registry.metrics(),
      /kubelet_evictions\{eviction_signal="ephemeralpodfs\.limit"\} 2/,
    );
  });

  test('is left alone where limits are off, when it ends already, and when it is critical', async (t) => {
    const uses = usesOf({ ...over('a'), ...over('static'), ...over('ending') });
    const pods = [
      active(podOf('static', { limits }), { origin: 'file' }),
      active(podOf('ending', { limits }), { isEnding: true }),
    ];
    const node = await start(t, { pods, uses, eviction: none });
    const off = await start(t, {
      ...{ pods: [active(podOf('a', { limits }))], uses, eviction: { ...none, limitsStorage: false } },
    });
    for (const { clock } of [node, off]) await clock.advance(30_000);
    assert.deepEqual([node.ended, off.ended], [[], []]);
  });
});

test('a pressure that begins or ends is told, with since when', async (t) => {
  const node = await start(t, { eviction: { ...hardMemory, transitionMs: 30_000 } });
  let told = 0;
  using _listener = node.evictor.onChange(() => {
    told += 1;
  });
  node.world.memory = 5;
  await node.clock.advance(roundMs);
  assert.deepEqual([told, node.evictor.pressures().memory], [1, true]);
  const since = node.evictor.report().state?.sinceMs.memory;
  node.world.memory = 900 * mi;
  await node.clock.advance(20_000);
  assert.equal(node.evictor.report().state?.sinceMs.memory, since);
  await node.clock.advance(30_000);
  assert.deepEqual([told, node.evictor.pressures().memory], [2, false]);
});

test('a wall clock that jumps changes nothing', async (t) => {
  const node = await start(t, { eviction: { ...hardMemory, transitionMs: 30_000 }, memory: 5 });
  node.world.memory = 900 * mi;
  node.clock.setWall(3_600_000);
  await node.clock.advance(roundMs);
  assert.equal(node.evictor.pressures().memory, true);
});
