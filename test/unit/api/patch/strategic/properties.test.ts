import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { servedKinds } from '../../../../../src/api/index.ts';
import { applyStrategicPatch, PatchError } from '../../../../../src/api/patch/index.ts';
import { jsonObject } from '../arbitrary-json.ts';
import { frozen } from './frozen.ts';
import { mapDifference } from './map-difference.ts';

type Members = Readonly<Record<string, unknown>>;

const pod = servedKinds.find(({ kind }) => kind === 'Pod')?.root;
assert.ok(pod);
const apply = (document: Members, patch: Members) =>
  applyStrategicPatch(pod, frozen(document), frozen(patch));

const fields = ['name', 'containers', 'finalizers', 'volumes', 'env', 'labels', 'affinity', '__proto__'];
const directives = [
  '$patch',
  '$retainKeys',
  '$setElementOrder/containers',
  '$setElementOrder/finalizers',
  '$setElementOrder/env',
  '$deleteFromPrimitiveList/finalizers',
  '$deleteFromPrimitiveList',
];

/** Few names, so that they meet. */
const names = fc.uniqueArray(fc.constantFrom(...'abcdefgh'), { maxLength: 7 });
const image = fc.constantFrom('1', '2', '3');
const withImages = (items: readonly string[]) =>
  fc
    .tuple(...items.map(() => image))
    .map((images) => items.map((name, index) => ({ name, image: images[index] })));
const containers = names.chain(withImages);
const podOf = (items: readonly unknown[], finalizers: readonly string[]) => ({
  metadata: { finalizers },
  spec: { containers: items },
});

/** What a client would send that has seen a part of the object: items it adds, changes and deletes, in its order. */
const change = fc
  .record({ order: names, deleted: names, chosen: fc.infiniteStream(fc.boolean()) })
  .chain(({ order, deleted, chosen }) => {
    const set = order.filter(() => chosen.next().value);
    return withImages(set).map((items) => ({
      order,
      deleted: deleted.filter((name) => !order.includes(name)),
      items,
    }));
  });

function patchOf({ order, deleted, items }: { order: string[]; deleted: string[]; items: unknown[] }) {
  return {
    spec: {
      '$setElementOrder/containers': order.map((name) => ({ name })),
      containers: [...items, ...deleted.map((name) => ({ name, $patch: 'delete' }))],
    },
  };
}

function namesIn(document: Members): string[] {
  return JSON.stringify(document).match(/(?<="name":")[^"]*/g) ?? [];
}

const object = jsonObject({ nulls: false });

describe('laws of strategic merge patches', () => {
  it('an empty patch changes nothing, and gives a copy', () => {
    fc.assert(
      fc.property(containers, names, object, (items, finalizers, extra) => {
        const document = { ...podOf(items, finalizers), extra };
        const patched = apply(document, {});
        assert.deepEqual(patched, document);
        assert.ok(!Object.isFrozen(patched['spec']), 'it shares something with what went in');
      }),
    );
  });

  it('what two objects differ in leads from one to the other', () => {
    fc.assert(
      fc.property(object, object, (from, to) => {
        const [given, wanted] = [{ extra: from }, { extra: to }];
        assert.deepEqual(apply(given, mapDifference(given, wanted)), wanted);
      }),
      { numRuns: 500 },
    );
  });

  it('a list has afterwards what it had, less what is deleted, with what is added', () => {
    fc.assert(
      fc.property(containers, change, (live, asked) => {
        const after = namesIn(apply(podOf(live, []), patchOf(asked)));
        const expected = new Set([...live, ...asked.items].map(({ name }) => name));
        for (const name of asked.deleted) expected.delete(name);
        assert.deepEqual(after.toSorted(), [...expected].toSorted());
      }),
      { numRuns: 500 },
    );
  });

  it('items that $setElementOrder names stand as it says, the others as they stood', () => {
    fc.assert(
      fc.property(containers, change, (live, asked) => {
        const after = namesIn(apply(podOf(live, []), patchOf(asked)));
        const isNamed = (name: string) => asked.order.includes(name);
        assert.deepEqual(
          after.filter(isNamed),
          asked.order.filter((name) => after.includes(name)),
        );
        assert.deepEqual(
          after.filter((name) => !isNamed(name)),
          live.map(({ name }) => name).filter((name) => after.includes(name) && !isNamed(name)),
        );
      }),
      { numRuns: 500 },
    );
  });

  it('the same patch once more changes no item', () => {
    fc.assert(
      fc.property(containers, change, (live, asked) => {
        const once = apply(podOf(live, []), patchOf(asked));
        const twice = apply(once, patchOf(asked));
        assert.deepEqual(containersByName(twice), containersByName(once));
      }),
    );
  });

  it('scalars are a set: those of both, without those that are taken away', () => {
    fc.assert(
      fc.property(names, names, names, (live, added, removed) => {
        const patch = { metadata: { finalizers: added, '$deleteFromPrimitiveList/finalizers': removed } };
        const { finalizers } = Object(apply(podOf([], live), patch)['metadata']);
        const expected = new Set([...live, ...added]).difference(new Set(removed));
        assert.deepEqual(finalizers.toSorted(), [...expected].toSorted());
      }),
    );
  });
});

function containersByName(document: Members): unknown[] {
  const items: { name: string }[] = Object(document['spec']).containers;
  return items.toSorted((one, other) => one.name.localeCompare(other.name));
}

/** Anything that might pass for a patch, with directives where they belong and where they do not. */
const { patch: anyPatch } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    fc.constantFrom<unknown>(null, 1, true, 'a-secret', 'name', 'replace', 'delete', 'merge'),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('patch'),
  ),
  patch: fc
    .array(fc.tuple(fc.constantFrom(...directives, ...fields), tie('value')), { maxLength: 5 })
    .map((entries) => Object.fromEntries(entries)),
}));

describe('any strategic merge patch', () => {
  it('is applied or refused, and a refusal shows no value', () => {
    let refused = 0;
    fc.assert(
      fc.property(containers, names, anyPatch, anyPatch, (live, finalizers, spec, metadata) => {
        try {
          apply(podOf(live, finalizers), { spec, metadata });
        } catch (error) {
          assert.ok(error instanceof PatchError, `${error}`);
          assert.doesNotMatch(error.message, /a-secret/);
          refused++;
        }
      }),
      { numRuns: 3000 },
    );
    assert.ok(refused > 100, `only ${refused} of the patches were refused`);
  });
});

describe('the cost of strategic merge patches', () => {
  const itemNames = (count: number) => Array.from({ length: count }, (_, index) => `item-${index}`);

  /** Merges, orders and deletes by key; tells how many items there are afterwards. */
  function mergeItems(count: number): number {
    const items = itemNames(count).map((name) => ({ name, image: '1' }));
    const changed = items.filter((_, index) => index % 2 === 0).toReversed();
    const patch = patchOf({
      order: changed.map(({ name }) => name),
      items: changed.map(({ name }) => ({ name, image: '2' })),
      deleted: itemNames(count).filter((_, index) => index % 4 === 1),
    });
    return namesIn(apply(podOf(items, []), patch)).length;
  }

  /** Merges, orders and takes away; tells how many are left. */
  function mergeScalars(count: number): number {
    const all = itemNames(count);
    const patch = {
      metadata: {
        finalizers: all.toReversed(),
        '$setElementOrder/finalizers': all.toReversed(),
        '$deleteFromPrimitiveList/finalizers': all.slice(count / 4),
      },
    };
    return Object(apply(podOf([], all), patch)['metadata']).finalizers.length;
  }

  for (const [sort, merge, left] of [
    ['items', mergeItems, 75_000],
    ['scalars', mergeScalars, 25_000],
  ] as const) {
    it(`100,000 ${sort} take about ten times as long as 10,000`, () => {
      merge(10_000); // warm
      const small = cpuTime(() => merge(10_000));
      const large = cpuTime(() => assert.equal(merge(100_000), left));
      // one list against the other, item by item, would take a hundred times as long
      assert.ok(large < 40 * small, `${large} µs against ${small} µs`);
    });
  }
});

/** The least of some tries, in microseconds: what else the process does meanwhile is not counted. */
function cpuTime(work: () => void): number {
  const tries = Array.from({ length: 4 }, () => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return user + system;
  });
  return Math.min(...tries);
}
