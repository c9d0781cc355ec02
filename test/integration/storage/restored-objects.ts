import type { RestoreOptions, Stored } from '../../../src/apiserver/storage/index.ts';

/** How the recorded restore is told to work: over a store with objects, which is kept aside under this name. */
export const restoring: Omit<RestoreOptions, 'folder' | 'objects'> = {
  groupSuffix: 'k8s.io',
  revision: 5_000,
  force: true,
  now: new Date('2026-03-04T05:06:07Z'),
};
export const asideName = 'store.sqlite.before-restore-20260304T050607Z';

/** So many objects whose values tell what they belong to. */
export async function* restoredObjects(what: string, count: number): AsyncGenerator<Stored> {
  for (let n = 1; n <= count; n++) {
    const key = `/registry/leases/default/${what}-${n}`;
    yield { key, revision: n, createRevision: n, value: Buffer.from(`${what} ${n} `.repeat(10)) };
  }
}
