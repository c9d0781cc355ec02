import type { Stored } from '../types.ts';
import { StorageError } from '../types.ts';
import { pairs, sameValue } from './differences.ts';
import type { Progress, Reading } from './types.ts';

export interface Verified {
  readonly objects: number;
  readonly bytes: number;
}

/** Compares every key and value. Throws a StorageError that names the first that is not the same in both. */
export async function verify(
  source: Reading,
  copy: AsyncIterable<Stored> | Iterable<Stored>,
  progress: Progress,
): Promise<Verified> {
  let objects = 0;
  let bytes = 0;
  for await (const { key, wanted, there } of pairs(source.objects, copy)) {
    if (wanted === undefined || there === undefined || !sameValue(wanted, there)) {
      throw new StorageError('unavailable', `${difference(key, wanted, there)}; ${advice}`);
    }
    objects++;
    bytes += wanted.value.byteLength;
    progress.add(1);
  }
  return { objects, bytes };
}

const advice =
  'something else writes to one of the stores, such as another program on the same etcd: stop that and migrate again';

function difference(key: string, wanted: Stored | undefined, there: Stored | undefined): string {
  if (wanted === undefined) return `the copy has ${key}, which is not in the source`;
  return there === undefined ? `the copy lacks ${key}` : `the copy of ${key} is not what the source has`;
}
