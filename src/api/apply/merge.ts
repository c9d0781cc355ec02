import type { ListType, MapType, StructType, Type } from '../schema/index.ts';
import { isRecord } from '../schema/index.ts';
import { itemElement } from './element.ts';
import { toGranularType } from './granular-type.ts';
import { getOwn, hasNoFields, isSameJson, toItems } from './json-values.ts';

/**
 * Merges `applied` into `live`: its scalars and atomic values replace those of `live`, its keys and items are merged with
 * those of `live`. Nothing is removed: a null in place of an object or list leaves it as it is. An absent value is
 * undefined. The result may share parts with both, and is `live` itself when that has all of `applied` already.
 */
export function mergeApplied(type: Type, live: unknown, applied: unknown): unknown {
  if (applied === undefined) return live;
  const parts = toGranularType(type);
  if (parts === undefined) return isSameJson(live, applied) ? live : applied;
  if (parts.t === 'list') return mergeList(parts, live, applied);
  const before = isRecord(live) ? live : {};
  const after = isRecord(applied) ? applied : {};
  if (hasNoFields(before) && hasNoFields(after)) return applied;
  return mergeFields(parts, before, after);
}

type Fields = Readonly<Record<string, unknown>>;

function mergeFields(parts: StructType | MapType, before: Fields, after: Fields): unknown {
  const changed: [string, unknown][] = [];
  for (const name of Object.keys(after)) {
    const of = parts.t === 'map' ? parts.of : parts.fields[name]?.type;
    const was = getOwn(before, name);
    const is = of === undefined ? after[name] : mergeApplied(of, was, after[name]);
    if (is !== was) changed.push([name, is]);
  }
  if (changed.length === 0) return before;
  return Object.fromEntries(new Map([...Object.entries(before), ...changed]));
}

interface Item {
  element: string | undefined;
  item: unknown;
}

function mergeList(list: ListType, live: unknown, applied: unknown): unknown {
  const elementOf = itemElement(list);
  const before = toItems(live).map((item): Item => ({ element: elementOf(item), item }));
  const after = toItems(applied).map((item): Item => ({ element: elementOf(item), item }));
  if (before.length === 0 && after.length === 0) return applied;
  const liveByElement = byElement(before);
  const result = orderItems(before, after).map(({ element, item, isApplied }) =>
    isApplied ? mergeApplied(list.of, liveByElement.get(element), item) : item,
  );
  const isSame =
    result.length === before.length && result.every((item, index) => item === before[index]?.item);
  return isSame ? live : result;
}

/** Items by their elements; undefined for an element that several items have, as those are merged with nothing. */
function byElement(items: readonly Item[]): Map<string | undefined, unknown> {
  const found = new Map<string | undefined, unknown>();
  for (const { element, item } of items) found.set(element, found.has(element) ? undefined : item);
  return found;
}

/**
 * The items of the result in the reference's order. Applied items keep their order in the configuration. An item that is
 * only live stays after the live item that precedes it, as far as the applied order allows.
 */
function orderItems(live: readonly Item[], applied: readonly Item[]): (Item & { isApplied: boolean })[] {
  const result: (Item & { isApplied: boolean })[] = [];
  const liveElements = new Set(live.map(({ element }) => element));
  const appliedElements = new Set(applied.map(({ element }) => element));
  const shared = applied.map(({ element }) => element).filter((element) => liveElements.has(element));
  const done = new Set<string | undefined>();
  let nextShared = 0;
  let l = 0;
  let a = 0;
  const takeApplied = (item: Item) => {
    done.add(item.element);
    if (shared[nextShared] === item.element) nextShared++;
    result.push({ ...item, isApplied: true });
    a++;
  };
  while (l < live.length || a < applied.length) {
    const mine = live[l];
    const theirs = applied[a];
    if (mine !== undefined && theirs !== undefined) {
      if (mine.element === theirs.element) {
        takeApplied(theirs);
        l++;
        continue;
      }
      // applied too, but at a later position: it is added there
      const isNext = nextShared >= shared.length || shared[nextShared] === mine.element;
      if (appliedElements.has(mine.element) && !isNext) {
        l++;
        continue;
      }
    }
    if (mine !== undefined && !appliedElements.has(mine.element)) {
      result.push({ ...mine, isApplied: false });
      l++;
      continue;
    }
    if (mine !== undefined && done.has(mine.element)) l++;
    if (theirs !== undefined) takeApplied(theirs);
  }
  return result;
}
