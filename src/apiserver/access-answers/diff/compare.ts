import type { AccessRight, PolicyRule } from '../../../api/index.ts';
import type { User } from '../../authn/index.ts';
import {
  anonymousName,
  authenticatedGroup,
  serviceAccountGroups,
  serviceAccountOf,
  unauthenticatedGroup,
} from '../../authn/index.ts';
import type { Holder, Policies } from './policy-change.ts';
import { byVerb, forResources, minus, rightKey, told } from './rights.ts';

/*
 * What one subject gains and loses. What it gains is what its own bindings give then and it does not have now, be it by
 * its own bindings or by those of the groups that it is always in; what it loses, the same the other way round. Rights
 * of groups are told of the groups. What counts everywhere is told once, and with it the namespaces where it changes
 * nothing because bindings there give it before and after.
 */

type Rules = readonly PolicyRule[];

/** The rules that somebody has at one time. */
interface Side {
  own(scope: string): Rules;
  /** With what its groups give. */
  all(scope: string): Rules;
}

/** All that is needed to compare what a subject has and will have; nothing of it changes any more. */
export interface Comparison {
  /** The same for all who have the same. */
  key: string;
  scopes: readonly string[];
  /** Where the subject may have something by bindings of the namespace. */
  elsewhere: readonly string[];
  now: Side;
  later: Side;
}

export interface Change {
  gains: AccessRight[];
  loses: AccessRight[];
}

/** Gives each list of rules a number, so that what is the same is compared once. */
export class RuleLists {
  readonly #numbers = new WeakMap<Rules, number>();
  #next = 0;

  numberOf(list: Rules): number {
    const known = this.#numbers.get(list) ?? this.#next++;
    this.#numbers.set(list, known);
    return known;
  }
}

/** Reads what a subject has now and will have, at once. */
export function comparisonOf(
  holder: Holder,
  scopes: readonly string[],
  elsewhere: readonly string[],
  { now, later, lists }: { now: Policies; later: Policies; lists: RuleLists },
): Comparison {
  const places = [...new Set(['', ...scopes, ...(scopes.includes('') ? elsewhere : [])])];
  const own = alone(holder);
  const withGroups = { ...own, groups: [...own.groups, ...groupsOf(holder)] };
  const numbers: unknown[] = [scopes];
  const read = (policies: Policies, user: User) => {
    const rules = new Map<string, Rules>();
    for (const place of places) {
      const some = policies.rulesIn(place, user);
      numbers.push(place, some.map((list) => lists.numberOf(list)).sort());
      rules.set(place, some.flat());
    }
    return (place: string) => rules.get(place) ?? [];
  };
  const sideOf = (policies: Policies): Side => ({
    own: read(policies, own),
    all: read(policies, withGroups),
  });
  const sides = { now: sideOf(now), later: sideOf(later) };
  return {
    key: JSON.stringify(numbers),
    scopes,
    elsewhere: scopes.includes('') ? elsewhere : [],
    ...sides,
  };
}

/** The subject itself, with nothing that groups give. */
export function alone({ kind, name }: Holder): User {
  return kind === 'Group' ? { name: '', groups: [name], extra: {} } : { name, groups: [], extra: {} };
}

/** The groups that a user, or each member of a group, is in whenever they ask something. */
export function groupsOf({ kind, name }: Holder): readonly string[] {
  if (name === (kind === 'Group' ? unauthenticatedGroup : anonymousName)) {
    return kind === 'Group' ? [] : [unauthenticatedGroup];
  }
  if (kind === 'Group') return name === authenticatedGroup ? [] : [...parentGroups(name), authenticatedGroup];
  const account = serviceAccountOf(name);
  return [...(account === undefined ? [] : serviceAccountGroups(account.namespace)), authenticatedGroup];
}

/** Service accounts of a namespace are among all service accounts. */
function parentGroups(group: string): string[] {
  const [all = ''] = serviceAccountGroups('any');
  return group.startsWith(`${all}:`) ? [all] : [];
}

/** About how many single rights are looked at to compare. */
export function weightOf({ scopes, elsewhere, now, later }: Comparison): number {
  const everywhere = rightsIn(now.all('')) + rightsIn(later.all(''));
  const places = new Set([...scopes, ...elsewhere]);
  let weight = everywhere * (1 + elsewhere.length);
  for (const place of places) weight += rightsIn(now.all(place)) + rightsIn(later.all(place));
  return weight;
}

function rightsIn(rules: Rules): number {
  return rules.reduce((sum, { verbs, apiGroups = [], resources = [], resourceNames = [], ...rest }) => {
    const names = Math.max(1, resourceNames.length);
    return (
      sum + verbs.length * (apiGroups.length * resources.length * names + (rest.nonResourceURLs ?? []).length)
    );
  }, 0);
}

/** What changes for a subject; 'tooMany' when that takes too long to say. */
export function compare({ scopes, elsewhere, now, later }: Comparison): Change | 'tooMany' {
  const gains = changed(scopes, elsewhere, now, later);
  const loses = changed(scopes, elsewhere, later, now);
  return gains === 'tooMany' || loses === 'tooMany' ? 'tooMany' : { gains, loses };
}

/** What is in `next` and not in `before`. */
function changed(
  scopes: readonly string[],
  elsewhere: readonly string[],
  before: Side,
  next: Side,
): AccessRight[] | 'tooMany' {
  const rights: AccessRight[] = [];
  for (const scope of scopes) {
    const found = scope === '' ? everywhere(elsewhere, before, next) : inNamespace(scope, before, next);
    if (found === 'tooMany') return 'tooMany';
    rights.push(...found);
  }
  return rights;
}

function inNamespace(scope: string, before: Side, next: Side): AccessRight[] | 'tooMany' {
  const held = [...before.all(scope), ...before.all(''), ...next.own('')];
  const missing = minus(forResources(next.own(scope)), forResources(held));
  if (missing === 'tooMany') return 'tooMany';
  return told(
    scope,
    byVerb(missing).map((rule) => ({ rule, exceptIn: [] })),
  );
}

function everywhere(elsewhere: readonly string[], before: Side, next: Side): AccessRight[] | 'tooMany' {
  const missing = minus(next.own(''), before.all(''));
  if (missing === 'tooMany') return 'tooMany';
  const rights = byVerb(missing).map((rule) => ({ rule, exceptIn: [] as string[] }));
  const inNamespaces = forResources(rights.map(({ rule }) => rule));
  for (const namespace of inNamespaces.length === 0 ? [] : elsewhere) {
    const held = forResources(before.all(namespace));
    if (held.length === 0) continue;
    const left = minus(inNamespaces, [...held, ...forResources(before.all(''))]);
    if (left === 'tooMany') return 'tooMany';
    const changing = new Set(byVerb(left).map(rightKey));
    for (const { rule, exceptIn } of rights) {
      const isForResources = (rule.resources ?? []).length > 0;
      if (isForResources && !changing.has(rightKey(rule))) exceptIn.push(namespace);
    }
  }
  return told('', rights);
}
