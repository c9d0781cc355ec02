import { isRecord } from '../schema/index.ts';
import { sortElements } from './element.ts';

/*
 * Sets of fields, in the form in which metadata.managedFields carries them, so that no conversion is needed:
 *
 *   { "f:spec": { "f:containers": { 'k:{"name":"web"}': { ".": {}, "f:image": {} } } } }
 *
 * An element leads from a value to a part of it (element.ts). That part is a member of the set when it has nothing below
 * it, `{}`, or contains the key `.`. So the container above is a member, and its image, but neither `spec` nor
 * `spec.containers`. The whole object is never a member: at the root `{}` is the empty set, which the functions below
 * represent as undefined. They never change a set, and return the very same one where the result equals it.
 */

export type FieldSet = Readonly<Record<string, unknown>>;

/** The set of a member with nothing below it. */
export const leaf: FieldSet = Object.freeze({});

/** The set in an entry of managedFields; undefined when it is empty. */
export function rootOf(fields: FieldSet | undefined): FieldSet | undefined {
  for (const _ in fields) return fields;
  return undefined;
}

/** The set below an element. */
export function childAt(set: FieldSet, element: string): FieldSet | undefined {
  const inner = set[element];
  return isRecord(inner) ? inner : undefined;
}

/** Whether the field that this set is below is itself a member. */
export function isMember(set: FieldSet): boolean {
  if ('.' in set) return true;
  for (const _ in set) return false;
  return true;
}

/** A set of these elements, in this order, and with `self` of `.`; undefined when it is empty. */
export function setOf(self: boolean, inner: Iterable<readonly [string, FieldSet]>): FieldSet | undefined {
  const set: Record<string, FieldSet> = self ? { '.': leaf } : {};
  let count = 0;
  for (const [element, part] of inner) {
    set[element] = part;
    count++;
  }
  if (count > 0) return set;
  return self ? leaf : undefined;
}

/** The members of either set. The elements are in the reference's order, provided that those of `a` are. */
export function union(a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined {
  if (b === undefined || a === b) return a;
  if (a === undefined) return sortElementsDeep(b);
  const self = isMember(a) || isMember(b);
  const added = new Map<string, FieldSet>();
  for (const element in b) {
    const mine = element === '.' ? undefined : childAt(a, element);
    const joined = element === '.' ? undefined : union(mine, childAt(b, element));
    if (joined !== undefined && joined !== mine) added.set(element, joined);
  }
  if (added.size === 0 && self === isMember(a)) return a;
  return setOf(self, mergeElements(a, added));
}

/** The members of any set, sorted provided that the first is. The cost is about linear in their size. */
export function unionOf(sets: readonly (FieldSet | undefined)[]): FieldSet | undefined {
  if (sets.length < 2) return sets[0];
  // by halves: adding one after the other to a growing set would sort that set again each time
  const half = sets.length >> 1;
  return union(unionOf(sets.slice(0, half)), unionOf(sets.slice(half)));
}

/** The elements of `a` and `added`, sorted. */
function mergeElements(a: FieldSet, added: ReadonlyMap<string, FieldSet>): [string, FieldSet][] {
  const elements = Object.keys(a).filter((element) => element !== '.');
  const further = [...added.keys()].filter((element) => !(element in a));
  const all = further.length === 0 ? elements : sortElements([...elements, ...further]);
  return all.map((element) => [element, added.get(element) ?? childAt(a, element) ?? leaf]);
}

/** Sorts the elements in the reference's order, at every depth. */
export function sortElementsDeep(set: FieldSet): FieldSet {
  const elements = Object.keys(set).filter((element) => element !== '.');
  if (elements.length === 0) return leaf;
  const inner = sortElements(elements).map((element) => {
    const part: readonly [string, FieldSet] = [element, sortElementsDeep(childAt(set, element) ?? leaf)];
    return part;
  });
  return setOf('.' in set, inner) ?? leaf;
}

/** The members of `a` that are not in `b`. Removing a field does not remove what is below it. */
export function difference(a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined {
  if (a === undefined || b === undefined) return a;
  const self = isMember(a) && !isMember(b);
  return mapParts(a, self, (element, inner) => difference(inner, childAt(b, element)));
}

/** The members of `a` that are neither in `b` nor below a member of `b`. */
export function differenceBelow(a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined {
  if (a === undefined || b === undefined) return a;
  return mapParts(a, isMember(a), (element, inner) => {
    const removed = childAt(b, element);
    if (removed === undefined) return inner;
    return isMember(removed) ? undefined : differenceBelow(inner, removed);
  });
}

/** The members of both sets. */
export function intersection(a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined {
  if (a === undefined || b === undefined) return undefined;
  const self = isMember(a) && isMember(b);
  return mapParts(a, self, (element, inner) => intersection(inner, childAt(b, element)));
}

/** `set` with each part replaced by what `keep` returns for it; undefined drops the part. */
export function mapParts(
  set: FieldSet,
  self: boolean,
  keep: (element: string, inner: FieldSet) => FieldSet | undefined,
): FieldSet | undefined {
  let parts: [string, FieldSet][] | undefined = self === isMember(set) ? undefined : [];
  for (const element in set) {
    if (element === '.') continue;
    const inner = childAt(set, element);
    const part = inner && keep(element, inner);
    if (part !== inner) parts ??= partsBefore(set, element);
    if (part !== undefined) parts?.push([element, part]);
  }
  return parts === undefined ? set : setOf(self, parts);
}

function partsBefore(set: FieldSet, end: string): [string, FieldSet][] {
  const parts: [string, FieldSet][] = [];
  for (const element in set) {
    if (element === end) break;
    const inner = element === '.' ? undefined : childAt(set, element);
    if (inner !== undefined) parts.push([element, inner]);
  }
  return parts;
}

/** Whether the two have a member in common. */
export function intersects(a: FieldSet | undefined, b: FieldSet | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  if (isMember(a) && isMember(b)) return true;
  for (const element in b) {
    if (element !== '.' && element in a && intersects(childAt(a, element), childAt(b, element))) return true;
  }
  return false;
}

/** Whether a member of `set` is in `gone` or below a member of `gone`. */
export function intersectsBelow(set: FieldSet | undefined, gone: FieldSet | undefined): boolean {
  if (set === undefined || gone === undefined) return false;
  if (isMember(gone)) return true;
  for (const element in gone) {
    if (element in set && intersectsBelow(childAt(set, element), childAt(gone, element))) return true;
  }
  return false;
}

/** Whether all members of `part` are in `set`. */
export function contains(set: FieldSet | undefined, part: FieldSet | undefined): boolean {
  if (part === undefined || part === set) return true;
  if (set === undefined || (isMember(part) && !isMember(set))) return false;
  for (const element in part) {
    if (element !== '.' && !contains(childAt(set, element), childAt(part, element))) return false;
  }
  return true;
}
