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
 *   $deleteFromPrimitiveList/FIELD: [value, …]  beside a list of scalars: values that are removed
 */

type Members = Readonly<Record<string, unknown>>;

const marker = '$patch';
const retaining = '$retainKeys';
const ordering = '$setElementOrder';
const removing = '$deleteFromPrimitiveList';

/** The value of `$patch`; undefined when it is absent. */
export function readMarker(members: Members, place: Place): 'replace' | 'delete' | undefined {
  if (!hasMarker(members)) return undefined;
  const said = members[marker];
  if (said === 'replace' || said === 'delete') return said;
  const found = said === 'merge' ? 'merge, which cannot be asked for' : typeNameOf(said);
  throw malformed({ parent: place, step: marker }, `expected replace or delete, found ${found}`);
}

export function hasMarker(members: Members): boolean {
  return Object.hasOwn(members, marker);
}

export function withoutMarker({ [marker]: _, ...rest }: Members): Members {
  return rest;
}

/** The members of `$retainKeys`; undefined when it is absent. Each member that the patch sets must be named in it. */
export function readRetained(members: Members, place: Place): ReadonlySet<string> | undefined {
  if (!Object.hasOwn(members, retaining)) return undefined;
  const at = { parent: place, step: retaining };
  const names = expectList(members[retaining], at).map((name, index) => {
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
export interface ListDirective {
  /** The field that holds the list. */
  field: string;
  /** Null only in a removal, where it means all values. */
  items: readonly unknown[] | null;
  place: Place;
}

/** The members of a patch of an object, by their meaning. */
export interface SortedMembers {
  /** Fields with their new values. */
  fields: (readonly [name: string, value: unknown])[];
  orders: (ListDirective & { items: readonly unknown[] })[];
  removals: ListDirective[];
}

export function sortMembers(members: Members, place: Place): SortedMembers {
  const sorted: SortedMembers = { fields: [], orders: [], removals: [] };
  for (const name of Object.keys(members)) {
    const value = members[name];
    const at = { parent: place, step: name };
    if (name.startsWith(ordering)) {
      sorted.orders.push({
        field: parseFieldName(name, ordering, at),
        items: expectList(value, at),
        place: at,
      });
    } else if (name.startsWith(removing)) {
      const items = value === null ? null : expectList(value, at);
      sorted.removals.push({ field: parseFieldName(name, removing, at), items, place: at });
    } else if (name !== retaining) {
      sorted.fields.push([name, value]);
    }
  }
  return sorted;
}

function parseFieldName(name: string, directive: string, place: Place): string {
  const field = name.startsWith(`${directive}/`) ? name.slice(directive.length + 1) : '';
  if (field === '') throw malformed(place, `expected ${directive}/ and the name of a list`);
  return field;
}

export function expectList(value: unknown, place: Place): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw malformed(place, `expected a list, found ${typeNameOf(value)}`);
}
