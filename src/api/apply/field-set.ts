import { isRecord } from '../schema/index.ts';
import { sortedElements } from './element.ts';

/*
 * Sets of fields, in the form in which metadata.managedFields carries them, so that what is stored is what is computed
 * with:
 *
 *   { "f:spec": { "f:containers": { 'k:{"name":"web"}': { ".": {}, "f:image": {} } } } }
 *
 * An element leads from a value to a part of it (element.ts). What an element leads to is a member of the set when it
 * has nothing below it, `{}`, or says so by `.`. So the container above is a member, and its image, but neither `spec`
 * nor `spec.containers`. The whole object never is a member: at the root `{}` is the empty set, which the functions
 * below write as undefined. They never change a set, and give back the very same one where the result equals it.
 */

export type FieldSet = Readonly<Record<string, unknown>>;

/** What an element leads to when it is a member and nothing below it is. */
export const leaf: FieldSet = Object.freeze({});

/** The set in an entry of managedFields; undefined when it is empty. */
export function rootOf(fields: FieldSet | undefined): FieldSet | undefined {
  for (const _ in fields) return fields;
  return undefined;
}

/** What stands below an element. */
export function below(set: FieldSet, element: string): FieldSet | undefined {
  const inner = set[element];
  return isRecord(inner) ? inner : undefined;
}

/** Whether the field that a set stands below is itself a member. */
export function isMember(set: FieldSet): boolean {
  if ('.' in set) return true;
  for (const _ in set) return false;
  return true;
}

/** A set of these members; undefined when it is empty. Elements come in the order given. */
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

/** What is in either of them; elements are in the reference's order, provided that those of `a` are. */
export function union(a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined {
  if (b === undefined || a === b) return a;
  if (a === undefined) return ordered(b);
  const self = isMember(a) || isMember(b);
  const added = new Map<string, FieldSet>();
  for (const element in b) {
    const mine = element === '.' ? undefined : below(a, element);
    const joined = element === '.' ? undefined : union(mine, below(b, element));
    if (joined !== undefined && joined !== mine) added.set(element, joined);
  }
  if (added.size === 0 && self === isMember(a)) return a;
  return setOf(self, together(a, added));
}

/** What is in any of them, in order, provided that those of the first are; costs about as much as they are large. */
export function unionOf(sets: readonly (FieldSet | undefined)[]): FieldSet | undefined {
  if (sets.length < 2) return sets[0];
  // to add one after the other to a growing set would be to sort that anew for each
  const half = sets.length >> 1;
  return union(unionOf(sets.slice(0, half)), unionOf(sets.slice(half)));
}

/** The elements of `a` with what was added to them, in order. */
function together(a: FieldSet, added: ReadonlyMap<string, FieldSet>): [string, FieldSet][] {
  const elements = Object.keys(a).filter((element) => element !== '.');
  const further = [...added.keys()].filter((element) => !(element in a));
  const all = further.length === 0 ? elements : sortedElements([...elements, ...further]);
  return all.map((element) => [element, added.get(element) ?? below(a, element) ?? leaf]);
}

/** The same set with its elements in the reference's order, at every depth. */
export function ordered(set: FieldSet): FieldSet {
  const elements = Object.keys(set).filter((element) => element !== '.');
  if (elements.length === 0) return leaf;
  const inner = sortedElements(elements).map((element) => {
    const part: readonly [string, FieldSet] = [element, ordered(below(set, element) ?? leaf)];
    return part;
  });
  return setOf('.' in set, inner) ?? leaf;
}

/** What is in `a` and not in `b`. To take away a field takes nothing away that stands below it. */
export function difference(a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined {
  if (a === undefined || b === undefined) return a;
  const self = isMember(a) && !isMember(b);
  return kept(a, self, (element, inner) => difference(inner, below(b, element)));
}

/** What is in `a` and neither in `b` nor below a member of `b`. */
export function differenceBelow(a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined {
  if (a === undefined || b === undefined) return a;
  return kept(a, isMember(a), (element, inner) => {
    const taken = below(b, element);
    if (taken === undefined) return inner;
    return isMember(taken) ? undefined : differenceBelow(inner, taken);
  });
}

/** What is in both of them. */
export function intersection(a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined {
  if (a === undefined || b === undefined) return undefined;
  const self = isMember(a) && isMember(b);
  return kept(a, self, (element, inner) => intersection(inner, below(b, element)));
}

/** `set` with what `keep` leaves of each part of it. */
export function kept(
  set: FieldSet,
  self: boolean,
  keep: (element: string, inner: FieldSet) => FieldSet | undefined,
): FieldSet | undefined {
  let parts: [string, FieldSet][] | undefined = self === isMember(set) ? undefined : [];
  for (const element in set) {
    if (element === '.') continue;
    const inner = below(set, element);
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
    const inner = element === '.' ? undefined : below(set, element);
    if (inner !== undefined) parts.push([element, inner]);
  }
  return parts;
}

/** Whether the two have a member in common. */
export function intersects(a: FieldSet | undefined, b: FieldSet | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  if (isMember(a) && isMember(b)) return true;
  for (const element in b) {
    if (element !== '.' && element in a && intersects(below(a, element), below(b, element))) return true;
  }
  return false;
}

/** Whether something in `set` is in `gone` or below a member of it. */
export function reaches(set: FieldSet | undefined, gone: FieldSet | undefined): boolean {
  if (set === undefined || gone === undefined) return false;
  if (isMember(gone)) return true;
  for (const element in gone) {
    if (element in set && reaches(below(set, element), below(gone, element))) return true;
  }
  return false;
}

/** Whether all of `part` is in `set`. */
export function contains(set: FieldSet | undefined, part: FieldSet | undefined): boolean {
  if (part === undefined || part === set) return true;
  if (set === undefined || (isMember(part) && !isMember(set))) return false;
  for (const element in part) {
    if (element !== '.' && !contains(below(set, element), below(part, element))) return false;
  }
  return true;
}
