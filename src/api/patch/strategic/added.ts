import { isRecord } from '../../schema/index.ts';
import { hasMarker, markerOf } from './directives.ts';
import type { Place } from './place.ts';

type Nulls = 'keep nulls' | 'drop nulls';

/**
 * What a patch brings where the object has nothing: without objects and items that carry `$patch`, for there is nothing
 * to replace or to delete, and without members that are null. Undefined when nothing is left of it.
 */
export function added(value: unknown, place: Place, nulls: Nulls = 'drop nulls'): unknown {
  if (Array.isArray(value)) return addedItems(value, place, nulls);
  return isRecord(value) ? addedObject(value, place, nulls) : value;
}

export function addedItems(items: readonly unknown[], place: Place, nulls: Nulls): unknown[] {
  return items
    .map((item, index) => added(item, { parent: place, step: index }, nulls))
    .filter((item) => item !== undefined);
}

function addedObject(members: Readonly<Record<string, unknown>>, place: Place, nulls: Nulls): unknown {
  if (hasMarker(members) && markerOf(members, place) !== undefined) return undefined;
  const kept = Object.entries(members).flatMap(([name, value]): [string, unknown][] => {
    if (value === null && nulls === 'drop nulls') return [];
    const inner = added(value, { parent: place, step: name }, nulls);
    return inner === undefined ? [] : [[name, inner]];
  });
  return Object.fromEntries(kept);
}
