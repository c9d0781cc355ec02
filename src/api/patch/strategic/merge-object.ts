import { isRecord } from '../../schema/index.ts';
import { setOwn } from '../set-own.ts';
import { buildAdded } from './build-added.ts';
import type { ListDirective } from './directives.ts';
import { hasMarker, readMarker, readRetained, sortMembers, withoutMarker } from './directives.ts';
import { orderList } from './element-order.ts';
import type { MaybeType } from './member-type.ts';
import { asList, findMemberType, isReplaced, isStruct } from './member-type.ts';
import type { Merge } from './merge.ts';
import { mergeList } from './merge-list.ts';
import type { Place } from './place.ts';
import { removeScalars } from './scalar-list.ts';

type Members = Readonly<Record<string, unknown>>;

/** Merges a patch of an object into it. Unchanged parts are shared with both. */
export function mergeObject(
  type: MaybeType,
  live: Members,
  patch: Members,
  place: Place,
  merge: Merge,
): Members {
  merge.spend(Object.keys(live).length + Object.keys(patch).length);
  const marker = readMarker(patch, place);
  if (marker !== undefined) return marker === 'delete' ? {} : withoutMarker(patch);

  const retained = readRetained(patch, place);
  const liveOf = (name: string) =>
    Object.hasOwn(live, name) && isKept(name, retained) ? live[name] : undefined;
  const { fields, orders, removals } = sortMembers(patch, place);
  const changed = new Map<string, unknown>();
  for (const order of orders) {
    const { field } = order;
    const lists = { live: liveOf(field), patch: getOwn(patch, field), place: { parent: place, step: field } };
    changed.set(field, orderList(findMemberType(type, field), lists, order, merge));
  }
  for (const [name, value] of fields) {
    if (changed.has(name)) continue;
    const at = { parent: place, step: name };
    changed.set(name, mergeValue(findMemberType(type, name), liveOf(name), value, at, merge));
  }
  for (const removal of removals) {
    const { field } = removal;
    changed.set(field, removeItems(changed.has(field) ? changed.get(field) : liveOf(field), removal, merge));
  }
  return withChanges(live, retained, changed);
}

function getOwn(members: Members, name: string): unknown {
  return Object.hasOwn(members, name) ? members[name] : undefined;
}

function isKept(name: string, retained: ReadonlySet<string> | undefined): boolean {
  return retained === undefined || retained.has(name);
}

/** Members keep their order, new ones follow; one that has become undefined is left out. */
function withChanges(
  live: Members,
  retained: ReadonlySet<string> | undefined,
  changed: ReadonlyMap<string, unknown>,
): Members {
  const merged: Record<string, unknown> = {};
  for (const name of Object.keys(live)) {
    const value = changed.has(name) ? changed.get(name) : live[name];
    if (value !== undefined && isKept(name, retained)) setOwn(merged, name, value);
  }
  for (const [name, value] of changed) {
    if (value !== undefined && !Object.hasOwn(merged, name)) setOwn(merged, name, value);
  }
  return merged;
}

/** The new value of a field; undefined when it becomes absent. */
function mergeValue(type: MaybeType, live: unknown, patch: unknown, place: Place, merge: Merge): unknown {
  if (patch === null) return undefined;
  if (isRecord(patch)) {
    if (isRecord(live) && isReplaced(type)) return buildAdded(patch, place);
    if (isRecord(live)) return merge.object(type, live, patch, place);
    const isThere = isStruct(type) && !(hasMarker(patch) && readMarker(patch, place) === 'delete');
    return isThere ? merge.object(type, {}, patch, place) : buildAdded(patch, place);
  }
  if (Array.isArray(patch) && Array.isArray(live)) {
    return mergeList(asList(type), live, patch, place, merge).items;
  }
  return buildAdded(patch, place);
}

/** Removes values from a list; null removes all of it, and a value that is not a list stays. */
function removeItems(live: unknown, { items, place }: ListDirective, merge: Merge): unknown {
  if (items === null) return undefined;
  if (!Array.isArray(live)) return live;
  merge.spend(live.length + items.length);
  return removeScalars(live, items, place);
}
