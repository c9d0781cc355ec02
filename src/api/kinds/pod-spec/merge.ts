import type { ListMerge } from '../../schema/index.ts';

/** Items are identified by these fields under apply, and by the first of them under a strategic merge patch. */
export function keyed(...keys: [string, ...string[]]): ListMerge {
  return { list: 'map', keys, patch: { merge: true, key: keys[0] } };
}

/** As `keyed`; but a patch removes the fields of an item that it does not name. */
export function keyedRetaining(key: string): ListMerge {
  return { list: 'map', keys: [key], patch: { merge: true, key, retainKeys: true } };
}
