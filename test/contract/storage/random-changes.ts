import fc from 'fast-check';

/** Keys of two kinds, one with namespaces, and one that has no kind. */
export const changingKeys = [
  '/registry/leases/a/1',
  '/registry/leases/a/2',
  '/registry/leases/b/1',
  '/registry/nodes/1',
  '/odd',
] as const;

/** What is watched: everything, kinds, namespaces, nothing. */
export const changingPrefixes = [
  '',
  '/registry/',
  '/registry/leases/',
  '/registry/leases/a/',
  '/registry/nodes/',
  '/registry/none/',
] as const;

const write = fc.record({
  do: fc.constant('write' as const),
  key: fc.constantFrom(...changingKeys),
  value: fc.option(fc.nat(5).map(String), { freq: 4 }),
});

/** What happens to a store while it is followed. `back`: how many of the last writes stay in history. */
export const happening = fc.oneof(
  { weight: 8, arbitrary: write },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('settle' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('compact' as const), back: fc.nat(8) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('openAgain' as const) }) },
);

/** Which of so many there are. */
export function pick<T>(all: readonly T[], index: number): T {
  const found = all[index % all.length];
  if (found === undefined) throw new RangeError('nothing to pick from');
  return found;
}
