import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Lease } from '../../../../src/api/index.ts';
import { leaseKind, namespaceKind } from '../../../../src/api/index.ts';
import { controlPlaneUser } from '../../../../src/apiserver/authn/index.ts';
import { leaderElection, leaderLease } from '../../../../src/apiserver/leader-election/index.ts';
import type { Registry } from '../../../../src/apiserver/registry/index.ts';
import { createRegistry } from '../../../../src/apiserver/registry/index.ts';
import type { CachedStore } from '../../../../src/apiserver/storage/index.ts';
import { createCache, openStore } from '../../../../src/apiserver/storage/index.ts';
import type { Service } from '../../../../src/base/index.ts';
import { createMetrics, untilAborted } from '../../../../src/base/index.ts';
import type { ManualClock } from '../../../support/manual-clock.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { recordedLog } from '../../base/recorded-log.ts';
import { storeWith } from '../controllers/interleaved-store.ts';

const context = { user: controlPlaneUser, dryRun: false };
const place = { namespace: leaderLease.namespace, name: leaderLease.name };

/** Two or more servers on one store, each with a way to it that a test can cut. */
async function house() {
  const clock = createManualClock();
  const storage = await createCache(await openStore({ kind: 'memory', clock }), { clock });
  const registry = createRegistry({ storage, clock, groupSuffix: 'k8s.io', admission: [] });
  await registry.of(namespaceKind).create('', { metadata: { name: 'kube-system' } }, context);
  const running = new Set<string>();
  const story: string[] = [];
  const members: Member[] = [];

  function add(name: string): Member {
    const member = createMember(name, { clock, storage, running, story });
    members.push(member);
    return member;
  }

  return {
    clock,
    registry,
    running,
    story,
    add,
    lease: (): Lease =>
      registry.of(leaseKind).encoding.read(registry.of(leaseKind).get(place.namespace, place.name)),
    async [Symbol.asyncDispose]() {
      for (const member of members) member.way = 'open';
      for (const member of members) await endOf(clock, member.stop());
      await storage.close();
    },
  };
}

interface Member {
  /** `hangs`: what it writes is never answered. */
  way: 'open' | 'hangs' | 'fails';
  stop(): Promise<void>;
  text(): string;
}

interface Shared {
  clock: ManualClock;
  storage: CachedStore;
  running: Set<string>;
  story: string[];
}

function createMember(name: string, { clock, storage, running, story }: Shared): Member {
  const { log, text } = recordedLog('text', 'info');
  const stop = new AbortController();
  const member: Member = {
    way: 'open',
    text,
    async stop() {
      stop.abort();
      await ended;
    },
  };
  const held = storeWith(storage, {
    commit(write) {
      if (member.way === 'hangs') return new Promise(() => undefined);
      const cause = new Error('the store is away');
      if (member.way === 'fails') return Promise.resolve({ ok: false, code: 'unavailable', cause });
      return storage.commit(write);
    },
  });
  const registry: Registry = createRegistry({ storage: held, clock, groupSuffix: 'k8s.io', admission: [] });
  const ended = leaderElection({
    registry,
    storage: held,
    services: [controller(name, running, story)],
    metrics: createMetrics(),
    clock,
    log,
    identity: name,
  }).run(stop.signal, () => undefined);
  return member;
}

function controller(name: string, running: Set<string>, story: string[]): Service {
  return {
    name: 'work',
    dependsOn: [],
    onFailure: 'restart',
    async run(signal, ready) {
      assert.equal(running.size, 0, `${name} begins while ${[...running].join()} works`);
      running.add(name);
      story.push(`${name} begins`);
      ready();
      await untilAborted(signal);
      running.delete(name);
      story.push(`${name} ends`);
    },
  };
}

/** Lets time pass as far as it must for something to end. */
async function endOf(clock: ManualClock, ending: Promise<void>): Promise<void> {
  let isOver = false;
  void ending.finally(() => {
    isOver = true;
  });
  await clock.advanceUntil(() => isOver, 60_000);
  await ending;
}

test('one of two leads, and shows it in the Lease', async () => {
  await using servers = await house();
  servers.add('a');
  await servers.clock.advance(0);
  servers.add('b');
  await servers.clock.advance(60_000);

  assert.deepEqual(servers.story, ['a begins']);
  const { spec } = servers.lease();
  assert.equal(spec?.holderIdentity, 'a');
  assert.equal(spec.leaseDurationSeconds, 10);
  assert.equal(spec.leaseTransitions, 0);
  assert.match(spec.renewTime ?? '', /^2025-01-01T00:00:5\d\.\d{6}Z$|^2025-01-01T00:01:00\.\d{6}Z$/);
});

test('one that stops in order is followed at once', async () => {
  await using servers = await house();
  const a = servers.add('a');
  await servers.clock.advance(5000);
  servers.add('b');
  await servers.clock.advance(5000);
  const before = servers.clock.monotonicMs();

  await a.stop();
  await servers.clock.advanceUntil(() => servers.running.has('b'), 100);

  assert.deepEqual(servers.story, ['a begins', 'a ends', 'b begins']);
  assert.ok(servers.clock.monotonicMs() - before < 100, 'no lease has to run out');
  assert.equal(servers.lease().spec?.leaseTransitions, 1);
});

for (const way of ['hangs', 'fails'] as const) {
  test(`one whose store ${way} ends its work before another begins, within 15 seconds`, async () => {
    await using servers = await house();
    const a = servers.add('a');
    await servers.clock.advance(5000);
    servers.add('b');
    await servers.clock.advance(5000);
    const before = servers.clock.monotonicMs();

    a.way = way;
    await servers.clock.advanceUntil(() => servers.running.has('b'), 15_000);

    assert.deepEqual(servers.story, ['a begins', 'a ends', 'b begins']);
    assert.ok(servers.clock.monotonicMs() - before >= 6000, 'a lease that was renewed is respected');
    assert.match(a.text(), /leading no more: the lease could not be renewed for 7000 ms/);

    a.way = 'open';
    await servers.clock.advance(60_000);
    assert.deepEqual([...servers.running], ['b'], 'whoever comes back leaves the leader alone');
  });
}

test('a leader whose store is away for less than its trust goes on', async () => {
  await using servers = await house();
  const a = servers.add('a');
  servers.add('b');
  await servers.clock.advance(5000);
  a.way = 'fails';
  await servers.clock.advance(4000);
  a.way = 'open';
  await servers.clock.advance(60_000);

  assert.deepEqual(servers.story, ['a begins']);
});

test('a leader that finds another in its seat ends at once', async () => {
  await using servers = await house();
  const a = servers.add('a');
  await servers.clock.advance(5000);
  const lease = servers.lease();

  await servers.registry
    .of(leaseKind)
    .update(
      place.namespace,
      place.name,
      { ...lease, spec: { ...lease.spec, holderIdentity: 'thief' } },
      '',
      context,
    );
  await servers.clock.advance(0);

  assert.deepEqual(servers.story, ['a begins', 'a ends']);
  assert.match(a.text(), /leading no more: thief leads now/);
  await servers.clock.advance(15_000);
  assert.equal(servers.story.at(-1), 'a begins', 'and leads again when the other does not renew');
});

test('a Lease that is deleted is made anew by its holder', async () => {
  await using servers = await house();
  servers.add('a');
  await servers.clock.advance(5000);
  servers.add('b');
  await servers.registry.of(leaseKind).delete(place.namespace, place.name, {}, context);
  await servers.clock.advance(5000);

  assert.equal([...servers.running].length, 1);
  assert.equal(servers.lease().spec?.holderIdentity, [...servers.running][0]);
});

test('wall clocks may jump', async () => {
  await using servers = await house();
  servers.add('a');
  await servers.clock.advance(5000);
  servers.add('b');
  for (const ms of [3_600_000, -7_200_000, 86_400_000]) {
    servers.clock.setWall(ms);
    await servers.clock.advance(20_000);
  }

  assert.deepEqual(servers.story, ['a begins']);
});

test('whatever happens to their stores, no two work at once, and in the end one does', async () => {
  const step = fc.record({
    who: fc.constantFrom(0, 1, 2),
    way: fc.constantFrom('open', 'hangs', 'fails'),
    ms: fc.integer({ min: 0, max: 14_000 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      await using servers = await house();
      const members = ['a', 'b', 'c'].map((name) => servers.add(name));
      for (const { who, way, ms } of steps) {
        const member = members[who];
        if (member !== undefined) member.way = way; // a controller asserts that it is alone when it begins
        await servers.clock.advance(ms);
        assert.ok(servers.running.size <= 1);
      }
      for (const member of members) member.way = 'open';
      await servers.clock.advanceUntil(() => servers.running.size === 1, 15_000);
    }),
    { numRuns: 60 },
  );
});

test('without the namespace of the Lease nobody leads, which is told, until it is there again', async () => {
  await using servers = await house();
  const namespaces = servers.registry.of(namespaceKind);
  const { key, revision: expect } = namespaces.get('', 'kube-system');
  await namespaces.storage.commit({ key, expect, value: null });
  const a = servers.add('a');
  await servers.clock.advance(5000);
  assert.deepEqual(servers.story, []);
  assert.match(a.text(), /cannot ask to lead, trying again: .*kube-system.* not found/);

  await namespaces.create('', { metadata: { name: 'kube-system' } }, context);
  await servers.clock.advance(5000);
  assert.deepEqual(servers.story, ['a begins']);
});
