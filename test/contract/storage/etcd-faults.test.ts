/** What members of a cluster and the ways to them may do, and what clients of several servers notice of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Store } from '../../../src/apiserver/storage/index.ts';
import { StorageError } from '../../../src/apiserver/storage/index.ts';
import type { EtcdMember, LabEtcd } from '../../integration/lab/etcd.ts';
import { waitFor } from '../../support/index.ts';
import { EtcdPlace, etcdLack, sharedEtcd } from './etcd-place.ts';
import { EtcdTraffic } from './etcd-traffic.ts';
import { allAt, bytes, lease, put } from './scenario.ts';

const skip = etcdLack() ?? false;
const cluster = sharedEtcd({ members: 3 });
/** Shorter than in use, so that silence is noticed within the time of a test. */
const times = { callMs: 3_000, connectMs: 1_500, silenceMs: 1_500, closeMs: 5_000 };

interface Fault {
  readonly name: string;
  begin(member: EtcdMember): unknown;
  end(member: EtcdMember): unknown;
}

const faults: readonly Fault[] = [
  { name: 'is killed', begin: (member) => member.kill9(), end: (member) => member.start() },
  { name: 'stops', begin: (member) => member.stop(), end: (member) => member.start() },
  { name: 'hangs', begin: (member) => member.freeze(), end: (member) => member.thaw() },
  {
    name: 'is cut off from its clients',
    begin: ({ proxy }) => proxy.cut(),
    end: ({ proxy }) => proxy.mend(),
  },
  {
    name: 'is cut off from the other members',
    begin({ peers }) {
      peers.cut();
      peers.reset();
    },
    end({ peers }) {
      peers.reset();
      peers.mend();
    },
  },
  {
    name: 'loses its connections again and again',
    begin: ({ proxy }) => proxy.reset(),
    end: ({ proxy }) => proxy.reset(),
  },
  {
    name: 'is slow',
    begin: ({ proxy }) => Object.assign(proxy, { delayMs: 300 }),
    end: ({ proxy }) => Object.assign(proxy, { delayMs: 0 }),
  },
];

for (const { name, begin, end } of faults) {
  test(`each of three members ${name}: servers go on, nothing is lost or done twice`, {
    skip,
    timeout: 180_000,
  }, async () => {
    const etcd = await cluster();
    await using place = new EtcdPlace(etcd);
    const stores = [await place.open({ times }), await place.open({ times })];
    const traffic = new EtcdTraffic(stores, await newest(stores), 3);
    await traffic.more(15, 'before');
    for (const member of etcd.members) {
      await begin(member);
      await traffic.more(15, `while ${member.name} ${name}`);
      await end(member);
      await traffic.more(15, `after ${member.name} is back`);
    }
    await traffic.check();
  });
}

test('all members are away: every answer comes in time, and all is well when they are back', {
  skip,
  timeout: 120_000,
}, async () => {
  const etcd = await cluster();
  await using place = new EtcdPlace(etcd);
  const store = await place.open({ times });
  const start = await store.revision();
  const first = await put(store, lease('a'), '1');
  await all(etcd, (member) => member.kill9());
  const begun = performance.now();
  await assert.rejects(store.revision(), isUnavailable);
  await assert.rejects(store.listAt('', first, '', 0), isUnavailable);
  const refused = await store.commit({ key: lease('a'), expect: first, value: bytes('2') });
  assert.ok(!refused.ok && refused.code === 'unavailable', JSON.stringify(refused));
  assert.ok(performance.now() - begun < 3 * times.callMs + 5_000);
  const heard: number[] = [];
  const follow = async () => {
    for await (const batch of store.changes('', start, new AbortController().signal))
      if (Array.isArray(batch)) heard.push(...batch.map(({ revision }) => revision));
  };
  const following = follow();
  await all(etcd, (member) => member.start());
  const second = await waitFor(
    'a write to be possible again',
    async () => {
      const outcome = await store.commit({ key: lease('a'), expect: first, value: bytes('2') });
      return outcome.ok ? outcome.revision : undefined;
    },
    { timeoutMs: 30_000 },
  );
  assert.equal(store.failed.aborted, false);
  assert.deepEqual(await allAt(store, '', second), [`${lease('a')}=2`]);
  // a write can be possible again before the watch is there
  await waitFor('the changes', () => heard.includes(second), { timeoutMs: 30_000 });
  await store.close();
  await following;
  assert.deepEqual(heard, [first, second]);
});

test('a write whose answer is lost is of unknown outcome, never of a wrong one', {
  skip,
  timeout: 60_000,
}, async () => {
  const etcd = await cluster();
  await using place = new EtcdPlace(etcd);
  const store = await place.open({ times, servers: etcd.urls.slice(0, 1) });
  const first = await put(store, lease('a'), '1');
  const [member] = etcd.members;
  assert.ok(member);
  member.proxy.cut();
  const outcome = await store.commit({ key: lease('a'), expect: first, value: bytes('2') });
  assert.ok(!outcome.ok && outcome.code === 'unknown', JSON.stringify(outcome));
  member.proxy.mend();
  await waitFor('the store to answer again', () => store.revision(), { timeoutMs: 20_000 });
});

async function newest(stores: readonly Store[]): Promise<number> {
  return Math.max(...(await Promise.all(stores.map((store) => store.revision()))));
}

async function all(etcd: LabEtcd, act: (member: EtcdMember) => Promise<void>): Promise<void> {
  await Promise.all(etcd.members.map(act));
}

function isUnavailable(error: unknown): boolean {
  return error instanceof StorageError && error.code === 'unavailable';
}
