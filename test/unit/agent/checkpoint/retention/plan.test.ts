import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Candidate, Removal } from '../../../../../src/agent/checkpoint/retention/plan.ts';
import { planRetention } from '../../../../../src/agent/checkpoint/retention/plan.ts';
import type { RetentionSettings } from '../../../../../src/agent/checkpoint/retention/settings.ts';
import { retentionScopes } from '../../../../../src/agent/checkpoint/retention/settings.ts';

const owner = (namespace: string, pod = 'web', container = 'main') => ({ namespace, pod, container });

/** So many of one container, the first the oldest, a minute apart. */
function several(count: number, change: (index: number) => Partial<Candidate> = () => ({})): Candidate[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `c${index}`,
    bytes: 10,
    ageMs: (count - index) * 60_000,
    order: String(index).padStart(4, '0'),
    owner: owner('shop'),
    kept: false,
    ...change(index),
  }));
}

const ids = (removals: readonly Removal[]) => removals.map(({ id }) => id);

describe('what retention removes', () => {
  test('is nothing without limits', () => {
    assert.deepEqual(planRetention(several(9), {}), []);
    assert.deepEqual(planRetention(several(9), { node: { minCount: 1 } }), []);
    assert.deepEqual(planRetention([], { node: { maxCount: 1 } }), []);
  });

  test('is the oldest beyond a count, and says which limit', () => {
    assert.deepEqual(planRetention(several(3), { perContainer: { maxCount: 2 } }), [
      { id: 'c0', bytes: 10, scope: 'perContainer', limit: 'maxCount' },
    ]);
  });

  test('is the oldest beyond the bytes, but never the last of its scope', () => {
    assert.deepEqual(ids(planRetention(several(4), { perPod: { maxBytes: 25 } })), ['c0', 'c1']);
    assert.deepEqual(ids(planRetention(several(4), { perPod: { maxBytes: 1 } })), ['c0', 'c1', 'c2']);
  });

  test('is what is too old, be it the last', () => {
    const limits = { node: { maxAgeMs: 90_000 } };
    assert.deepEqual(ids(planRetention(several(3), limits)), ['c0', 'c1']);
    assert.deepEqual(
      ids(
        planRetention(
          several(1, () => ({ ageMs: 100_000 })),
          limits,
        ),
      ),
      ['c0'],
    );
    assert.deepEqual(
      planRetention(
        several(3, () => ({ ageMs: undefined })),
        limits,
      ),
      [],
    );
    assert.deepEqual(
      planRetention(
        several(3, () => ({ ageMs: -1e12 })),
        limits,
      ),
      [],
    );
  });

  test('leaves the newest that are to be kept at least, whatever another scope says', () => {
    const limits = { perContainer: { minCount: 2 }, node: { maxCount: 1, maxAgeMs: 60_000 } };
    assert.deepEqual(ids(planRetention(several(4), limits)), ['c0', 'c1']);
  });

  test('leaves what is kept, and counts it', () => {
    const candidates = several(4, (index) => ({ kept: index === 0 }));
    assert.deepEqual(ids(planRetention(candidates, { node: { maxCount: 2 } })), ['c1', 'c2']);
  });

  test('counts what has no owner for the node alone', () => {
    const candidates = several(3, () => ({ owner: undefined }));
    assert.deepEqual(planRetention(candidates, { perNamespace: { maxCount: 1 } }), []);
    assert.deepEqual(ids(planRetention(candidates, { node: { maxCount: 1 } })), ['c0', 'c1']);
  });

  test('counts containers, pods and namespaces apart', () => {
    const owners = [owner('a'), owner('a', 'web', 'side'), owner('a', 'db'), owner('b')];
    const candidates = several(8, (index) => ({ owner: owners[index % 4] }));
    const removed = (limits: RetentionSettings) => ids(planRetention(candidates, limits));
    assert.deepEqual(removed({ perContainer: { maxCount: 1 } }).sort(), ['c0', 'c1', 'c2', 'c3']);
    assert.deepEqual(removed({ perPod: { maxCount: 1 } }).sort(), ['c0', 'c1', 'c2', 'c3', 'c4']);
    assert.deepEqual(removed({ perNamespace: { maxCount: 1 } }).sort(), ['c0', 'c1', 'c2', 'c3', 'c4', 'c5']);
    assert.equal(removed({ node: { maxCount: 1 } }).length, 7);
  });
});

const candidate = fc.record({
  bytes: fc.nat(50),
  ageMs: fc.option(fc.integer({ min: -100, max: 100 }), { nil: undefined }),
  order: fc.stringMatching(/^[a-d]$/),
  owner: fc.option(
    fc.record({
      namespace: fc.constantFrom('a', 'b'),
      pod: fc.constantFrom('p', 'q'),
      container: fc.constantFrom('x', 'y'),
    }),
    { nil: undefined },
  ),
  kept: fc.boolean(),
});
const candidates = fc
  .array(candidate, { maxLength: 25 })
  .map((all): Candidate[] =>
    all.map((each, index) => ({ ...each, id: `c${String(index).padStart(2, '0')}` })),
  );
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const limits = fc
  .record({
    maxCount: optional(fc.integer({ min: 1, max: 6 })),
    maxBytes: optional(fc.integer({ min: 1, max: 200 })),
    maxAgeMs: optional(fc.integer({ min: 1, max: 100 })),
    minCount: optional(fc.nat(4)),
  })
  .map((all) => Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)));
const settings: fc.Arbitrary<RetentionSettings> = fc
  .record(Object.fromEntries(retentionScopes.map((scope) => [scope, optional(limits)])))
  .map((all) => Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)));

/** Written down anew, so that the planner is not compared with itself. */
function keyOf(scope: string, { owner: whose }: Candidate): string | undefined {
  if (scope === 'node') return 'all';
  if (whose === undefined) return undefined;
  const parts = { perNamespace: 1, perPod: 2, perContainer: 3 }[scope] ?? 0;
  return [whose.namespace, whose.pod, whose.container].slice(0, parts).join('/');
}

const age = (a: Candidate, b: Candidate) => (`${a.order} ${a.id}` < `${b.order} ${b.id}` ? -1 : 1);
const without = (all: readonly Candidate[], removals: readonly Removal[]) => {
  const gone = new Set(ids(removals));
  return all.filter(({ id }) => !gone.has(id));
};

/** The newest `minCount` of each scope. */
function spared(all: readonly Candidate[], wanted: RetentionSettings): Set<string> {
  const found = retentionScopes.flatMap((scope) => {
    const groups = Map.groupBy(all, (each) => keyOf(scope, each));
    groups.delete(undefined);
    const minCount = wanted[scope]?.minCount ?? 0;
    return [...groups.values()].flatMap((group) => group.toSorted(age).toReversed().slice(0, minCount));
  });
  return new Set(found.map(({ id }) => id));
}

describe('whatever there is and whatever the limits are', () => {
  test('they hold afterwards, unless all that is left must stay', () => {
    fc.assert(
      fc.property(candidates, settings, (all, wanted) => {
        const left = without(all, planRetention(all, wanted));
        const least = spared(all, wanted);
        for (const scope of retentionScopes) {
          const { maxCount = Infinity, maxBytes = Infinity, maxAgeMs = Infinity } = wanted[scope] ?? {};
          for (const [key, group] of Map.groupBy(left, (each) => keyOf(scope, each))) {
            if (key === undefined) continue;
            const mayGo = group.filter(({ id, kept }) => !kept && !least.has(id));
            for (const { ageMs } of mayGo) assert.ok(ageMs === undefined || ageMs <= maxAgeMs);
            const bytes = group.reduce((sum, each) => sum + each.bytes, 0);
            const newest = group.toSorted(age).at(-1);
            if (group.length > maxCount || bytes > maxBytes)
              assert.deepEqual(
                mayGo.filter((each) => each !== newest),
                [],
              );
          }
        }
      }),
    );
  });

  test('what must stay stays', () => {
    fc.assert(
      fc.property(candidates, settings, (all, wanted) => {
        const least = spared(all, wanted);
        const kept = new Set(all.filter((each) => each.kept).map(({ id }) => id));
        for (const id of ids(planRetention(all, wanted))) assert.ok(!kept.has(id) && !least.has(id), id);
      }),
    );
  });

  test('nothing goes whose limit held already when its turn came, and nothing before an older one that could', () => {
    fc.assert(
      fc.property(candidates, settings, (all, wanted) => {
        const least = spared(all, wanted);
        let left = all;
        for (const removal of planRetention(all, wanted)) {
          const { scope, limit } = removal;
          const gone = left.find(({ id }) => id === removal.id);
          assert.ok(gone, 'it goes once, and was there');
          const group = left.filter((each) => keyOf(scope, each) === keyOf(scope, gone));
          const { maxCount = 0, maxBytes = 0, maxAgeMs = 0 } = wanted[scope] ?? {};
          if (limit === 'maxAge') assert.ok(gone.ageMs !== undefined && gone.ageMs > maxAgeMs);
          if (limit === 'maxCount') assert.ok(group.length > maxCount);
          if (limit === 'maxBytes') assert.ok(group.reduce((sum, { bytes }) => sum + bytes, 0) > maxBytes);
          const older = group.filter((each) => !each.kept && !least.has(each.id) && age(each, gone) < 0);
          if (limit !== 'maxAge') assert.deepEqual(older, []);
          left = left.filter((each) => each !== gone);
        }
      }),
    );
  });

  test('planned again, nothing goes, and the order in which they are listed means nothing', () => {
    fc.assert(
      fc.property(candidates, settings, fc.infiniteStream(fc.nat()), (all, wanted, dice) => {
        const planned = planRetention(all, wanted);
        assert.deepEqual(planRetention(without(all, planned), wanted), []);
        const shuffled = all
          .map((each) => ({ each, at: dice.next().value ?? 0 }))
          .sort((a, b) => a.at - b.at)
          .map(({ each }) => each);
        assert.deepEqual(new Set(ids(planRetention(shuffled, wanted))), new Set(ids(planned)));
        assert.deepEqual(planRetention(shuffled, wanted), planned);
      }),
    );
  });
});
