import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import type { OwnerReference } from '../../../../../src/api/index.ts';
import type { PropagationPolicy } from '../../../../../src/apiserver/registry/index.ts';
import type { Name } from './world.ts';
import { garbageWorld } from './world.ts';

/*
 * Objects that own each other in any way, in circles too, made and deleted one after the other. After each step exactly
 * those are left, with those owners, that the rules say, wherever the collector was stopped and started.
 */

type Family = Map<Name, { uid: string; owners: string[] }>;
type World = Awaited<ReturnType<typeof garbageWorld>>;

const everybody: Name[] = ['a', 'b', 'c', 'x/d', 'x/e', 'x/f', 'y/g', 'y/h'];
const anybody = fc.constantFrom(...everybody);
const owners = fc.uniqueArray(fc.constantFrom(...everybody, 'ghost'), { minLength: 1, maxLength: 3 });
const adoption = fc.record({ act: fc.constant('adopt'), name: anybody, owners, blocking: fc.boolean() });
const step = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({ act: fc.constant('create'), name: anybody, owners, blocking: fc.boolean() }),
  },
  { weight: 1, arbitrary: adoption },
  {
    weight: 4,
    arbitrary: fc.record({
      act: fc.constant('delete'),
      name: anybody,
      policy: fc.constantFrom<PropagationPolicy>('Background', 'Foreground', 'Orphan'),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
/** When the collector is stopped: before the step and started after it, or in the middle of what follows. */
const steps = fc.array(fc.tuple(step, fc.constantFrom('runs', 'stopped before', 'stopped after')), {
  minLength: 1,
  maxLength: 8,
});

const namespaceOf = (name: Name) => (name.includes('/') ? name.split('/', 1)[0] : '');

/** Whether an object is owned by one that is there and within its reach. */
function isOwned(family: Family, name: Name, uid: string): boolean {
  const owner = [...family].find(([, other]) => other.uid === uid)?.[0];
  if (owner === undefined) return false;
  return namespaceOf(owner) === '' || namespaceOf(owner) === namespaceOf(name);
}

/** What the rules leave of a family. */
function settled(family: Family, isLease: (uid: string) => boolean): Family {
  for (let changed = true; changed; ) {
    changed = false;
    for (const [name, object] of family) {
      const isNode = namespaceOf(name) === '';
      const present = object.owners.filter(
        (uid) => isOwned(family, name, uid) || (isNode && isLease(uid)), // nobody looks from there whether it is gone
      );
      if (present.length === object.owners.length) continue;
      changed = true;
      if (present.length === 0) family.delete(name);
      else family.set(name, { ...object, owners: present });
    }
  }
  return family;
}

function shown(family: Family): string {
  const lines = [...family].map(
    ([name, object]) => `${name} owned by ${[...object.owners].sort().join(' ')}`,
  );
  return lines.sort().join('\n');
}

/** The family as it is stored. */
function stored(world: World): Family {
  return new Map(
    world.names().map((name) => [name, { uid: world.must(name).uid ?? '', owners: world.ownersOf(name) }]),
  );
}

async function perform(world: World, family: Family, wanted: Step): Promise<void> {
  const { name } = wanted;
  if ('policy' in wanted) {
    const object = family.get(name);
    if (object === undefined) return;
    await world.remove(name, { propagationPolicy: wanted.policy });
    family.delete(name);
    if (wanted.policy !== 'Orphan') return;
    for (const [other, { uid, owners: before }] of family) {
      family.set(other, { uid, owners: before.filter((owner) => owner !== object.uid) });
    }
    return;
  }
  if (family.has(name) !== (wanted.act === 'adopt')) return;
  const references = wanted.owners.flatMap((owner): OwnerReference[] => {
    if (owner === 'ghost') return [world.ghost('ghost')];
    return family.has(owner) ? [world.owner(owner, { blockOwnerDeletion: wanted.blocking })] : [];
  });
  const ownerReferences = references.length === 0 ? {} : { ownerReferences: references };
  if (wanted.act === 'create') await world.create(name, ownerReferences);
  else await world.change(name, ({ ownerReferences: _before, ...rest }) => ({ ...rest, ...ownerReferences }));
  const uid = world.find(name)?.uid ?? 'gone already';
  family.set(name, { uid, owners: references.map((reference) => reference.uid) });
}

const turnsLimit = 5_000;

async function untilEqual(world: World, expected: string): Promise<void> {
  for (let turns = 0; turns < turnsLimit && shown(stored(world)) !== expected; turns++) await turn();
  assert.equal(shown(stored(world)), expected);
}

test('what is left of any family is what the rules say, whatever happens to the collector meanwhile', async () => {
  const adoptions = fc.array(adoption, { minLength: 4, maxLength: 12 });
  const property = fc.asyncProperty(adoptions, steps, async (first, all) => {
    await using world = await garbageWorld();
    const family: Family = new Map();
    const leases = new Set<string>();
    const act = async (wanted: Step) => {
      await perform(world, family, wanted);
      for (const [name, { uid }] of family) if (namespaceOf(name) !== '') leases.add(uid);
    };
    for (const name of everybody) await act({ act: 'create', name, owners: [], blocking: false });
    for (const adopted of first) await act(adopted);
    await world.start();
    const follow = () => untilEqual(world, shown(settled(family, (uid) => leases.has(uid))));
    await follow();
    for (const [wanted, collector] of all) {
      if (collector === 'stopped before') await world.stop();
      await act(wanted);
      if (collector === 'stopped after') await world.stop();
      if (collector !== 'runs') await world.start();
      await follow();
    }
    await world.settle();
    assert.equal(shown(stored(world)), shown(family), 'and so it stays');
  });
  await fc.assert(property, { numRuns: 150 });
});
