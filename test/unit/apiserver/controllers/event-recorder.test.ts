import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { eventKind, namespaceKind } from '../../../../src/api/index.ts';
import { controlPlaneUser } from '../../../../src/apiserver/authn/index.ts';
import { createEventRecorder } from '../../../../src/apiserver/controllers/event-recorder.ts';
import { createRegistry } from '../../../../src/apiserver/registry/index.ts';
import type { Outcome } from '../../../../src/apiserver/storage/index.ts';
import { createCache, openStore } from '../../../../src/apiserver/storage/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { recordedLog } from '../../base/recorded-log.ts';
import { storeWith } from './interleaved-store.ts';

const context = { user: controlPlaneUser, dryRun: false };
const node = { kind: 'Node', namespace: '', name: 'node-a', uid: 'uid-a' } as const;
const lost = {
  type: 'Normal',
  reason: 'NodeNotReady',
  message: 'Node node-a status is now: NodeNotReady',
} as const;

/** A recorder at work on a store that takes no writes while `isFull`. */
async function openRecorder() {
  const { log, text: logged } = recordedLog();
  const clock = createManualClock();
  const storage = await createCache(await openStore({ kind: 'memory', clock }), { clock, log });
  const state = { isFull: false };
  const full: Outcome = { ok: false, code: 'full', cause: new Error('no room') };
  const seen = storeWith(storage, {
    commit: async (write) => (state.isFull ? full : await storage.commit(write)),
  });
  const registry = createRegistry({ storage: seen, clock, groupSuffix: 'k8s.io', admission: [] });
  for (const name of ['default', 'team']) {
    await registry.of(namespaceKind).create('', { metadata: { name } }, context);
  }
  const events = registry.of(eventKind);
  const recorder = createEventRecorder({ registry, storage: seen, clock, log });
  const idle = clock.sleepers;
  const stop = new AbortController();
  const running = recorder.run(stop.signal);
  const quiet = async () => {
    for (let round = 0; round < 50; round++) await turn();
  };
  return {
    state,
    clock,
    recorder,
    logged,
    quiet,
    async record(...given: Parameters<typeof recorder.record>) {
      recorder.record(...given);
      await quiet();
    },
    /** That of another server, on the same store. */
    another() {
      const other = createEventRecorder({ registry, storage: seen, clock, log });
      const end = new AbortController();
      const done = other.run(end.signal);
      return {
        recorder: other,
        async stop() {
          end.abort();
          await done;
        },
      };
    },
    removeEvent: (name: string) => events.delete('default', name, {}, context),
    events: () => storage.list(events.prefix(''), '', 0).items.map((stored) => events.encoding.read(stored)),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
      assert.equal(clock.sleepers, idle);
      await storage.close();
    },
  };
}

describe('an Event', () => {
  test('says who, what and when; about an object of the cluster it stands in default', async () => {
    await using world = await openRecorder();
    await world.record('node-controller', node, lost);
    const [{ metadata, ...event } = { metadata: {} }] = world.events();
    assert.match(metadata?.name ?? '', /^node-a\.[0-9a-f]{16}$/);
    assert.equal(metadata?.namespace, 'default');
    assert.deepEqual(event, {
      apiVersion: 'v1',
      kind: 'Event',
      involvedObject: { apiVersion: 'v1', kind: 'Node', name: 'node-a', uid: 'uid-a' },
      ...lost,
      source: { component: 'node-controller' },
      reportingComponent: 'node-controller',
      firstTimestamp: '2025-01-01T00:00:00Z',
      lastTimestamp: '2025-01-01T00:00:00Z',
      count: 1,
    });
  });

  test('that happens again is counted; another one of the same object stands beside it', async () => {
    await using world = await openRecorder();
    await world.record('node-controller', node, lost);
    await world.clock.advance(60_000);
    await world.record('node-controller', node, lost);
    await world.record('node-controller', node, { ...lost, reason: 'RemovingNode' });
    const told = world
      .events()
      .map(({ reason, count, firstTimestamp, lastTimestamp }) => [
        ...[reason, count, firstTimestamp?.slice(14, 19), lastTimestamp?.slice(14, 19)],
      ]);
    assert.deepEqual(told.sort(), [
      ['NodeNotReady', 2, '00:00', '01:00'],
      ['RemovingNode', 1, '01:00', '01:00'],
    ]);
  });

  test('that an earlier leader has written is counted on', async () => {
    await using world = await openRecorder();
    await world.record('node-controller', node, lost);
    await world.clock.advance(60_000);
    const next = world.another();
    next.recorder.record('node-controller', node, lost);
    await world.quiet();
    await next.stop();
    assert.deepEqual(
      world.events().map(({ count, lastTimestamp }) => [count, lastTimestamp?.slice(14, 19)]),
      [[2, '01:00']],
    );
  });

  test('that was removed meanwhile is made anew', async () => {
    await using world = await openRecorder();
    await world.record('node-controller', node, lost);
    await world.removeEvent(world.events()[0]?.metadata?.name ?? '');
    await world.record('node-controller', node, lost);
    assert.deepEqual(
      world.events().map(({ count }) => count),
      [1],
    );
  });

  test('in a namespace that is not there is dropped, and the next one is written', async () => {
    await using world = await openRecorder();
    await world.record('node-controller', { kind: 'Pod', namespace: 'gone', name: 'p', uid: 'u' }, lost);
    await world.record('node-controller', { kind: 'Pod', namespace: 'team', name: 'p', uid: 'v' }, lost);
    assert.deepEqual(
      world.events().map(({ metadata }) => metadata?.namespace),
      ['team'],
    );
  });
});

describe('what is bounded', () => {
  test('is how many are told of one object: 25, then one in five minutes; others are not held back', async () => {
    await using world = await openRecorder();
    for (let round = 0; round < 100; round++) world.recorder.record('node-controller', node, lost);
    await world.record('node-controller', { ...node, name: 'node-b', uid: 'uid-b' }, lost);
    const counts = () => Object.fromEntries(world.events().map((e) => [e.involvedObject.name, e.count]));
    assert.deepEqual(counts(), { 'node-a': 25, 'node-b': 1 });
    await world.clock.advance(300_000);
    for (let round = 0; round < 3; round++) await world.record('node-controller', node, lost);
    assert.deepEqual(counts(), { 'node-a': 26, 'node-b': 1 });
  });

  test('is how many wait while the store takes no writes: they are written later, what is beyond is told once', async () => {
    await using world = await openRecorder();
    world.state.isFull = true;
    for (let index = 0; index < 10_100; index++) {
      world.recorder.record('node-controller', { ...node, name: `node-${index}`, uid: `${index}` }, lost);
    }
    await world.clock.advance(30_000);
    assert.deepEqual(world.events(), []);
    world.state.isFull = false;
    await world.clock.advance(10_000);
    for (let round = 0; world.events().length < 10_000 && round < 500; round++) await world.quiet();
    assert.equal(world.events().length, 10_000);
    await world.quiet();
    assert.equal(world.logged().match(/Events than can be kept/g)?.length, 1);
    assert.match(world.logged(), /"dropped":100\b/);
  });
});
