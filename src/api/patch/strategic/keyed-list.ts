import type { ListType } from '../../schema/index.ts';
import { isRecord } from '../../schema/index.ts';
import type { MergedList } from './arrange.ts';
import { arrange, positionsIn } from './arrange.ts';
import { markerOf } from './directives.ts';
import { keyInObject, keyInPatch } from './keys.ts';
import type { Merge } from './merge.ts';
import type { Place } from './place.ts';

interface Entry {
  key: unknown;
  item: unknown;
}

/** What a patch asks of a list: items that it deletes, by key, and those that it changes or adds. */
interface Changes {
  deleted: Set<unknown>;
  entries: (Entry & { place: Place })[];
  /** Whether the entries take the place of all that the object has. */
  replace: boolean;
}

/**
 * Merges items with the same key, adds the others as they are, and deletes. Only the first of several keys tells items
 * apart: ports by `containerPort`, whatever their protocol. So a patch may well name an item several times: it is merged
 * as often, one time after the other.
 */
export function mergeKeyed(
  type: ListType,
  live: readonly unknown[],
  patch: readonly unknown[],
  place: Place,
  merge: Merge,
): MergedList {
  const { deleted, entries, replace } = changesIn(type, patch, place);
  if (replace) return replaced(entries);
  const kept = live
    .map((item): Entry => ({ key: keyInObject(type, item, place), item }))
    .filter(({ key }) => !deleted.has(key));
  const merged = [...kept];
  const indexes = new Map(positionsIn(kept.map(({ key }) => key)));
  const named = new Set<unknown>();
  for (const { key, item, place: at } of entries) {
    const index = indexes.get(key);
    const known = index === undefined ? undefined : merged[index]?.item;
    if (index === undefined) indexes.set(key, merged.push({ key, item }) - 1);
    else if (isRecord(known) && isRecord(item)) {
      const mergedItem = named.has(key)
        ? merge.itemAgain(type, known, item, at)
        : merge.item(type, known, item, at);
      merged[index] = { key, item: mergedItem };
    }
    named.add(key);
  }
  return {
    items: inOrder(merged, entries, kept),
    // the reference deletes and adds in place, and afterwards looks at as much of the list as there was before
    liveOrder: merged.slice(0, live.length).map(({ key }) => key),
  };
}

function changesIn(type: ListType, patch: readonly unknown[], place: Place): Changes {
  const changes: Changes = { deleted: new Set(), entries: [], replace: false };
  for (const [index, item] of patch.entries()) {
    const at = { parent: place, step: index };
    const marker = isRecord(item) ? markerOf(item, at) : undefined;
    if (marker === 'replace') changes.replace = true;
    else if (marker === 'delete') changes.deleted.add(keyInPatch(type, item, at));
    else changes.entries.push({ key: keyInPatch(type, item, at), item, place: at });
  }
  return changes;
}

function replaced(entries: readonly Entry[]): MergedList {
  return { items: inOrder(entries, [], entries), liveOrder: [] };
}

function inOrder(merged: readonly Entry[], named: readonly Entry[], live: readonly Entry[]): unknown[] {
  const positions = (entries: readonly Entry[]) => positionsIn(entries.map(({ key }) => key));
  return arrange(merged, ({ key }) => key, positions(named), positions(live)).map(({ item }) => item);
}
