import { typeNameOf } from '../../schema/index.ts';
import type { Place } from './place.ts';
import { malformed } from './place.ts';

/*
 * The directives of a strategic merge patch:
 *
 *   $patch: replace | delete           in an object: it replaces, or empties; in an item of a keyed list: the items of
 *                                      the patch replace the list, or this one is deleted
 *   $retainKeys: [name, …]             in an object: members that are not named are deleted
 *   $setElementOrder/FIELD: [item, …]  beside a list: the order of its items
 *   $deleteFromPrimitiveList/FIELD: [value, …]  beside a list of scalars: values that are taken away
 */

type Members = Readonly<Record<string, unknown>>;

const marker = '$patch';
const retaining = '$retainKeys';
const ordering = '$setElementOrder';
const removing = '$deleteFromPrimitiveList';

/** What `$patch` says here; undefined when it is not there. */
export function markerOf(members: Members, place: Place): 'replace' | 'delete' | undefined {
  if (!hasMarker(members)) return undefined;
  const said = members[marker];
  if (said === 'replace' || said === 'delete') return said;
  const shown = said === 'merge' ? 'merge, which cannot be asked for' : typeNameOf(said);
  throw malformed({ parent: place, step: marker }, `expected replace or delete, found ${shown}`);
}

export function hasMarker(members: Members): boolean {
  return Object.hasOwn(members, marker);
}

export function withoutMarker({ [marker]: _, ...rest }: Members): Members {
  return rest;
}

/** Which members an object keeps; undefined when the patch does not say. Each that the patch sets must be named. */
export function retainedBy(members: Members, place: Place): ReadonlySet<string> | undefined {
  if (!Object.hasOwn(members, retaining)) return undefined;
  const at = { parent: place, step: retaining };
  const names = listIn(members[retaining], at).map((name, index) => {
    if (typeof name === 'string') return name;
    throw malformed({ parent: at, step: index }, `expected the name of a field, found ${typeNameOf(name)}`);
  });
  const kept = new Set(names);
  for (const [name, value] of Object.entries(members)) {
    if (value === null || kept.has(name) || isDirective(name)) continue;
    throw malformed({ parent: place, step: name }, `the patch sets it, but ${retaining} does not name it`);
  }
  return kept;
}

function isDirective(name: string): boolean {
  return name === retaining || name.startsWith(ordering) || name.startsWith(removing);
}

/** A directive beside a list. */
export interface BesideList {
  /** The field that holds the list. */
  field: string;
  /** Null only where values shall be taken away: all of them. */
  items: readonly unknown[] | null;
  place: Place;
}

/** What a patch says of an object, sorted. */
export interface Sorted {
  /** Fields with their new values. */
  fields: (readonly [name: string, value: unknown])[];
  orders: (BesideList & { items: readonly unknown[] })[];
  removals: BesideList[];
}

export function sortMembers(members: Members, place: Place): Sorted {
  const sorted: Sorted = { fields: [], orders: [], removals: [] };
  for (const name of Object.keys(members)) {
    const value = members[name];
    const at = { parent: place, step: name };
    if (name.startsWith(ordering)) {
      sorted.orders.push({ field: fieldIn(name, ordering, at), items: listIn(value, at), place: at });
    } else if (name.startsWith(removing)) {
      const items = value === null ? null : listIn(value, at);
      sorted.removals.push({ field: fieldIn(name, removing, at), items, place: at });
    } else if (name !== retaining) {
      sorted.fields.push([name, value]);
    }
  }
  return sorted;
}

function fieldIn(name: string, directive: string, place: Place): string {
  const field = name.startsWith(`${directive}/`) ? name.slice(directive.length + 1) : '';
  if (field === '') throw malformed(place, `expected ${directive}/ and the name of a list`);
  return field;
}

export function listIn(value: unknown, place: Place): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw malformed(place, `expected a list, found ${typeNameOf(value)}`);
}
