import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { leaseKind, podKind, StatusError } from '../../../../../src/api/index.ts';
import { controlPlaneUser } from '../../../../../src/apiserver/authn/index.ts';
import { openStore } from '../../../../../src/apiserver/storage/index.ts';
import { systemClock } from '../../../../../src/base/index.ts';
import { temporaryFolder } from '../../../../support/index.ts';
import type { ListWorld } from '../list-world.ts';
import { LaggingStore, listWorld } from '../list-world.ts';

const red = (name: string) => ({ metadata: { name, labels: { colour: 'red' } } });
const plain = (name: string) => ({ metadata: { name } });

/** `count` leases, the red ones where `isRed` says so. */
async function withLeases(world: ListWorld, count: number, isRed: (index: number) => boolean): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const name = `a${String(index).padStart(6, '0')}`;
    await world.create(leaseKind, 'default', isRed(index) ? red(name) : plain(name));
  }
}

/** How often objects are parsed to see whether they are meant. */
function countReads(world: ListWorld): { reads: number } {
  const counted = { reads: 0 };
  for (const kind of [leaseKind, podKind]) {
    const { encoding } = world.registry.of<object>(kind);
    const { read } = encoding;
    encoding.read = (stored) => {
      counted.reads += 1;
      return read(stored);
    };
  }
  return counted;
}

describe('a list of one name', () => {
  test('looks at that object only, in every state', async () => {
    await using world = await listWorld();
    await withLeases(world, 50, () => false);
    const { revision } = await world.list(leaseKind);
    await world.remove(leaseKind, 'default', 'a000007');
    const counted = countReads(world);
    const names = async (query: Record<string, string>, namespace = 'default') =>
      (await world.list(leaseKind, { namespace, query })).names;
    const named = (name: string) => ({ fieldSelector: `metadata.name=${name}` });
    assert.deepEqual(await names(named('a000003')), ['a000003']);
    assert.deepEqual(await names({ ...named('a000003'), limit: '1' }), ['a000003']);
    assert.deepEqual(await names({ ...named('a000007') }), []);
    const then = { resourceVersion: String(revision), resourceVersionMatch: 'Exact' };
    assert.deepEqual(await names({ ...named('a000007'), ...then }), ['a000007']);
    assert.deepEqual(await names(named('a00000')), [], 'the beginning of a name is no name');
    assert.deepEqual(await names(named('a000003'), 'other'), []);
    assert.deepEqual(await names({ ...named('a000003'), labelSelector: 'colour' }), []);
    assert.ok(counted.reads <= 6, `${counted.reads} objects were read`);
  });

  test('is found in a namespace that a selector names, and without one in all', async () => {
    await using world = await listWorld();
    for (const namespace of ['default', 'other']) await world.create(leaseKind, namespace, plain('same'));
    await withLeases(world, 20, () => false);
    const found = async (fieldSelector: string, namespace = '') =>
      (await world.list(leaseKind, { namespace, query: { fieldSelector } })).objects.map(
        ({ metadata }) => `${metadata?.namespace}/${metadata?.name}`,
      );
    const counted = countReads(world);
    assert.deepEqual(await found('metadata.name=same,metadata.namespace=other'), ['other/same']);
    assert.deepEqual(await found('metadata.namespace=other'), ['other/same']);
    assert.equal(counted.reads, 2);
    assert.deepEqual(await found('metadata.name=same'), ['default/same', 'other/same']);
    assert.deepEqual(await found('metadata.name=same,metadata.namespace=other', 'default'), []);
    assert.deepEqual(await found('metadata.name='), []);
    assert.deepEqual(await found('metadata.name=a/b,metadata.namespace=default'), []);
  });
});

describe('a LIST by labels', () => {
  test('that nobody has, or few, parses no object, in any state and in chunks', async () => {
    await using world = await listWorld();
    await withLeases(world, 40, (index) => index % 10 === 0);
    const { revision } = await world.list(leaseKind);
    const counted = countReads(world);
    await world.remove(leaseKind, 'default', 'a000010');
    const removals = counted.reads;
    const names = async (query: Record<string, string>) => (await world.list(leaseKind, { query })).names;
    const red = ['a000000', 'a000020', 'a000030'];
    assert.deepEqual(await names({ labelSelector: 'nobody=has' }), []);
    for (const labelSelector of ['colour=red', 'colour', 'colour in (red,blue)', 'colour!=blue,colour']) {
      assert.deepEqual(await names({ labelSelector }), red);
    }
    assert.equal((await names({ labelSelector: '!colour' })).length, 36);
    assert.equal((await names({ labelSelector: 'colour notin (red)' })).length, 36);
    const then = { labelSelector: 'colour', resourceVersion: String(revision) };
    assert.deepEqual(await names({ ...then, resourceVersionMatch: 'Exact' }), [
      'a000000',
      'a000010',
      'a000020',
      'a000030',
    ]);
    const first = await world.list(leaseKind, {
      query: { ...then, resourceVersionMatch: 'Exact', limit: '3' },
    });
    assert.deepEqual(first.names, ['a000000', 'a000010', 'a000020']);
    assert.equal(counted.reads, removals);
  });
});

describe('a chunk of a list with selectors', () => {
  test('is answered though it is empty, when very many objects were looked at', async () => {
    await using world = await listWorld();
    await withLeases(world, 10_200, (index) => index === 10_150);
    const query = { labelSelector: 'colour=red', limit: '5' };
    const first = await world.list(leaseKind, { query });
    assert.deepEqual(first.names, []);
    assert.ok(first.metadata.continue);
    await world.create(leaseKind, 'default', red('b'));
    const second = await world.list(leaseKind, { query: { ...query, continue: first.metadata.continue } });
    assert.deepEqual(second.names, ['a010150']);
    assert.deepEqual(second.metadata, { resourceVersion: String(first.revision) });
    const all = await world.list(leaseKind, { query: { labelSelector: 'colour=red' } });
    assert.deepEqual(all.names, ['a010150', 'b'], 'without a limit it is answered whole');
  });

  test('lets others have their turn, and ends with its client', async () => {
    await using world = await listWorld();
    await withLeases(world, 5_000, () => false);
    const client = new AbortController();
    const counted = countReads(world);
    const query = { fieldSelector: 'metadata.name!=a000001' }; // for which every object is parsed
    const listed = world.list(leaseKind, { query, signal: client.signal });
    setImmediate(() => client.abort());
    await assert.rejects(
      listed,
      (error) => error instanceof StatusError && /client went/.test(error.message),
    );
    assert.ok(counted.reads > 0 && counted.reads < 5_000, `${counted.reads} of 5,000 were looked at`);
  });

  test('whose history ends in the middle shows what it has; the next one is told', async () => {
    const store = new LaggingStore(await openStore({ kind: 'memory', clock: systemClock }));
    await using world = await listWorld({ store });
    await withLeases(world, 1_200, (index) => index % 10 === 0);
    const { revision } = await world.list(leaseKind);
    await world.create(leaseKind, 'default', plain('b'));
    let pages = 0;
    store.onPage = () => {
      pages += 1;
      if (pages === 2) void store.compact(revision + 1);
    };
    const query = { labelSelector: 'colour=red', limit: '100' };
    const first = await world.list(leaseKind, { query: { ...query, resourceVersion: String(revision) } });
    assert.equal(first.names.length, 50);
    assert.equal(first.revision, revision);
    const token = first.metadata.continue ?? '';
    const fresh = await freshToken(world.list(leaseKind, { query: { ...query, continue: token } }));
    const rest = await world.list(leaseKind, { query: { ...query, continue: fresh } });
    assert.equal(rest.names.length, 70);
    assert.ok(rest.revision > revision);
  });
});

/** The token in the 410 that a list is refused with. */
async function freshToken(listed: Promise<unknown>): Promise<string> {
  const thrown: unknown = await listed.then(
    () => undefined,
    (error: unknown) => error,
  );
  assert.ok(thrown instanceof StatusError);
  assert.equal(thrown.reason, 'Expired');
  assert.ok(thrown.metadata.continue);
  return thrown.metadata.continue;
}

const pod = (name: string, nodeName?: string) => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i' }], ...(nodeName === undefined ? {} : { nodeName }) },
});

describe('a list of the pods of a node', () => {
  const onNode = async (world: ListWorld, node: string, more: Record<string, string> = {}, namespace = '') =>
    (await world.list(podKind, { namespace, query: { fieldSelector: `spec.nodeName=${node}`, ...more } }))
      .names;

  test('looks at those pods only, once the index is made', async () => {
    await using world = await listWorld();
    for (let index = 0; index < 60; index += 1) {
      await world.create(podKind, index % 2 ? 'default' : 'other', pod(`p${index}`, `n${index % 20}`));
    }
    await onNode(world, 'n1');
    const counted = countReads(world);
    assert.deepEqual(await onNode(world, 'n1'), ['p1', 'p21', 'p41']);
    assert.deepEqual(await onNode(world, 'n1', { limit: '2' }), ['p1', 'p21']);
    assert.deepEqual(await onNode(world, 'n1', {}, 'other'), []);
    assert.deepEqual(await onNode(world, 'n1', { labelSelector: 'colour' }), []);
    assert.deepEqual(await onNode(world, 'no-such'), []);
    assert.equal(counted.reads, 6, 'for a label they are not parsed');
  });

  test('is right after creations, bindings, deletions and rebirths', async () => {
    await using world = await listWorld();
    await world.create(podKind, 'default', pod('a', 'n1'));
    await world.create(podKind, 'default', pod('b'));
    assert.deepEqual(await onNode(world, 'n1'), ['a']);
    assert.deepEqual(await onNode(world, ''), ['b']);
    await bind(world, 'b', 'n1');
    assert.deepEqual(await onNode(world, 'n1'), ['a', 'b']);
    assert.deepEqual(await onNode(world, ''), []);
    await removeNow(world, 'a');
    assert.deepEqual(await onNode(world, 'n1'), ['b']);
    await world.create(podKind, 'default', pod('a', 'n2'));
    assert.deepEqual([await onNode(world, 'n1'), await onNode(world, 'n2')], [['b'], ['a']]);
    await world.create(podKind, 'default', pod('c', 'n2'));
    await removeNow(world, 'c');
    assert.deepEqual(await onNode(world, 'n2'), ['a'], 'one that came and went between two looks');
  });

  test('goes on in its own state, and shows any state there was', async () => {
    await using world = await listWorld();
    for (const name of ['a', 'b', 'c', 'd']) await world.create(podKind, 'default', pod(name, 'n1'));
    const query = { fieldSelector: 'spec.nodeName=n1', limit: '2' };
    const first = await world.list(podKind, { query });
    await removeNow(world, 'c');
    await world.create(podKind, 'default', pod('e', 'n1'));
    const token = first.metadata.continue ?? '';
    const second = await world.list(podKind, { query: { ...query, continue: token } });
    assert.deepEqual(
      [first.names, second.names],
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    );
    assert.equal(second.revision, first.revision);
    const then = { resourceVersion: String(first.revision), resourceVersionMatch: 'Exact' };
    assert.deepEqual(await onNode(world, 'n1', then), ['a', 'b', 'c', 'd']);
    assert.deepEqual(await onNode(world, 'n1'), ['a', 'b', 'd', 'e']);
  });

  test('is right after a restart', async () => {
    await using folder = await temporaryFolder();
    const open = async () =>
      await listWorld({
        store: await openStore({
          kind: 'sqlite',
          folder: join(folder.path, 'storage'),
          identity: { groupSuffix: 'k8s.io' },
        }),
      });
    {
      await using world = await open();
      for (const name of ['a', 'b', 'c']) await world.create(podKind, 'default', pod(name, 'n1'));
      await removeNow(world, 'b');
      assert.deepEqual(await onNode(world, 'n1'), ['a', 'c']);
    }
    await using world = await open();
    assert.deepEqual(await onNode(world, 'n1'), ['a', 'c']);
    await removeNow(world, 'a');
    assert.deepEqual(await onNode(world, 'n1'), ['c']);
  });
});

const context = { user: controlPlaneUser, dryRun: false };

async function bind(world: ListWorld, name: string, nodeName: string): Promise<void> {
  const pods = world.registry.of(podKind);
  const stored = pods.get('default', name);
  const object = pods.encoding.read(stored);
  const spec = { ...(object.spec ?? { containers: [] }), nodeName };
  const value = pods.encoding.encode({ ...object, spec });
  const outcome = await world.storage.commit({ key: stored.key, expect: stored.revision, value });
  assert.ok(outcome.ok);
}

/** Without the time that a pod is given to end. */
async function removeNow(world: ListWorld, name: string): Promise<void> {
  await world.registry.of(podKind).delete('default', name, { gracePeriodSeconds: 0 }, context);
}
