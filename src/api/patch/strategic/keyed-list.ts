import type { ListType } from '../../schema/index.ts';
import { isRecord } from '../../schema/index.ts';
import type { MergedList } from './arrange.ts';
import { arrange, indexPositions } from './arrange.ts';
import { readMarker } from './directives.ts';
import { keyInObject, keyInPatch } from './keys.ts';
import type { Merge } from './merge.ts';
import type { Place } from './place.ts';

interface Entry {
  key: unknown;
  item: unknown;
}

/** The changes of a patch to a list: items that it deletes, by key, and those that it changes or adds. */
interface Changes {
  deleted: Set<unknown>;
  entries: (Entry & { place: Place })[];
  /** Whether the entries replace all items of the object. */
  replace: boolean;
}

/**
 * Merges items with the same key, adds the others as they are, and deletes. Only the first of several keys identifies an
 * item: ports by `containerPort`, whatever their protocol. So a patch can name an item several times: it is merged each
 * time.
 */
export function mergeKeyed(
  type: ListType,
  live: readonly unknown[],
  patch: readonly unknown[],
  place: Place,
  merge: Merge,
): MergedList {
  const { deleted, entries, replace } = readChanges(type, patch, place);
  if (replace) return toReplacement(entries);
  const kept = live
    .map((item): Entry => ({ key: keyInObject(type, item, place), item }))
    .filter(({ key }) => !deleted.has(key));
  const merged = [...kept];
  const indexes = new Map(indexPositions(kept.map(({ key }) => key)));
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
    items: arrangeEntries(merged, entries, kept),
    // the reference deletes and adds in place, then considers as many items of the list as there were before
    liveOrder: merged.slice(0, live.length).map(({ key }) => key),
  };
}

function readChanges(type: ListType, patch: readonly unknown[], place: Place): Changes {
  const changes: Changes = { deleted: new Set(), entries: [], replace: false };
  for (const [index, item] of patch.entries()) {
    const at = { parent: place, step: index };
    const marker = isRecord(item) ? readMarker(item, at) : undefined;
    if (marker === 'replace') changes.replace = true;
    else if (marker === 'delete') changes.deleted.add(keyInPatch(type, item, at));
    else changes.entries.push({ key: keyInPatch(type, item, at), item, place: at });
  }
  return changes;
}

function toReplacement(entries: readonly Entry[]): MergedList {
  return { items: arrangeEntries(entries, [], entries), liveOrder: [] };
}

function arrangeEntries(
  merged: readonly Entry[],
  named: readonly Entry[],
  live: readonly Entry[],
): unknown[] {
  const positions = (entries: readonly Entry[]) => indexPositions(entries.map(({ key }) => key));
  return arrange(merged, ({ key }) => key, positions(named), positions(live)).map(({ item }) => item);
}
