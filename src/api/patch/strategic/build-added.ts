import { isRecord } from '../../schema/index.ts';
import { hasMarker, readMarker } from './directives.ts';
import type { Place } from './place.ts';

type Nulls = 'keep nulls' | 'drop nulls';

/**
 * The value that a patch adds where the object has none: without objects and items that have `$patch`, as there is nothing
 * to replace or to delete, and without members that are null. Undefined when nothing remains.
 */
export function buildAdded(value: unknown, place: Place, nulls: Nulls = 'drop nulls'): unknown {
  if (Array.isArray(value)) return buildAddedItems(value, place, nulls);
  return isRecord(value) ? buildAddedObject(value, place, nulls) : value;
}

export function buildAddedItems(items: readonly unknown[], place: Place, nulls: Nulls): unknown[] {
  return items
    .map((item, index) => buildAdded(item, { parent: place, step: index }, nulls))
    .filter((item) => item !== undefined);
}

function buildAddedObject(members: Readonly<Record<string, unknown>>, place: Place, nulls: Nulls): unknown {
  if (hasMarker(members) && readMarker(members, place) !== undefined) return undefined;
  const kept = Object.entries(members).flatMap(([name, value]): [string, unknown][] => {
    if (value === null && nulls === 'drop nulls') return [];
    const inner = buildAdded(value, { parent: place, step: name }, nulls);
    return inner === undefined ? [] : [[name, inner]];
  });
  return Object.fromEntries(kept);
}
