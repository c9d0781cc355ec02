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
import { rightKey, selectResourceRules, splitByVerb, subtractRules, toAccessRights } from './rights.ts';

/*
 * What one subject gains and loses. It gains the rights that its own bindings will give and that it does not have now, by
 * its own bindings or by those of the groups that it is always in; it loses rights in the same way, the other way round.
 * Rights of groups are listed under the groups. A right for the whole cluster is listed once, together with the namespaces
 * where nothing changes because bindings there give it before and after.
 */

type Rules = readonly PolicyRule[];

/** The rules that a subject has before or after the change. */
interface Side {
  own(scope: string): Rules;
  /** Including those of its groups. */
  all(scope: string): Rules;
}

/** A snapshot of what a subject has and will have. */
export interface Comparison {
  /** Equal for subjects with the same rights. */
  key: string;
  scopes: readonly string[];
  /** Namespaces in which the subject may have rights by bindings of the namespace. */
  otherNamespaces: readonly string[];
  now: Side;
  later: Side;
}

export interface Change {
  gains: AccessRight[];
  loses: AccessRight[];
}

/** Numbers lists of rules, so that equal sets of lists are compared once. */
export class RuleLists {
  readonly #numbers = new WeakMap<Rules, number>();
  #next = 0;

  numberOf(list: Rules): number {
    const known = this.#numbers.get(list) ?? this.#next++;
    this.#numbers.set(list, known);
    return known;
  }
}

/** Takes the snapshot of what a subject has now and will have, in one step. */
export function createComparison(
  holder: Holder,
  scopes: readonly string[],
  otherNamespaces: readonly string[],
  { now, later, lists }: { now: Policies; later: Policies; lists: RuleLists },
): Comparison {
  const places = [...new Set(['', ...scopes, ...(scopes.includes('') ? otherNamespaces : [])])];
  const own = withoutGroups(holder);
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
    otherNamespaces: scopes.includes('') ? otherNamespaces : [],
    ...sides,
  };
}

/** The subject itself, without its groups. */
export function withoutGroups({ kind, name }: Holder): User {
  return kind === 'Group' ? { name: '', groups: [name], extra: {} } : { name, groups: [], extra: {} };
}

/** The groups that a user, or each member of a group, is in with every request. */
export function groupsOf({ kind, name }: Holder): readonly string[] {
  if (name === (kind === 'Group' ? unauthenticatedGroup : anonymousName)) {
    return kind === 'Group' ? [] : [unauthenticatedGroup];
  }
  if (kind === 'Group')
    return name === authenticatedGroup ? [] : [...findParentGroups(name), authenticatedGroup];
  const account = serviceAccountOf(name);
  return [...(account === undefined ? [] : serviceAccountGroups(account.namespace)), authenticatedGroup];
}

/** The group of a namespace's service accounts is part of the group of all service accounts. */
function findParentGroups(group: string): string[] {
  const [all = ''] = serviceAccountGroups('any');
  return group.startsWith(`${all}:`) ? [all] : [];
}

/** Estimates how many single rights a comparison examines. */
export function estimateWork({ scopes, otherNamespaces, now, later }: Comparison): number {
  const clusterWide = countRights(now.all('')) + countRights(later.all(''));
  const places = new Set([...scopes, ...otherNamespaces]);
  let weight = clusterWide * (1 + otherNamespaces.length);
  for (const place of places) weight += countRights(now.all(place)) + countRights(later.all(place));
  return weight;
}

function countRights(rules: Rules): number {
  return rules.reduce((sum, { verbs, apiGroups = [], resources = [], resourceNames = [], ...rest }) => {
    const names = Math.max(1, resourceNames.length);
    return (
      sum + verbs.length * (apiGroups.length * resources.length * names + (rest.nonResourceURLs ?? []).length)
    );
  }, 0);
}

/** Computes what changes for a subject; 'tooMany' when that would take too long. */
export function compare({ scopes, otherNamespaces, now, later }: Comparison): Change | 'tooMany' {
  const gains = findAdditions(scopes, otherNamespaces, now, later);
  const loses = findAdditions(scopes, otherNamespaces, later, now);
  return gains === 'tooMany' || loses === 'tooMany' ? 'tooMany' : { gains, loses };
}

/** The rights in `next` that are not in `before`. */
function findAdditions(
  scopes: readonly string[],
  otherNamespaces: readonly string[],
  before: Side,
  next: Side,
): AccessRight[] | 'tooMany' {
  const rights: AccessRight[] = [];
  for (const scope of scopes) {
    const found =
      scope === ''
        ? compareEverywhere(otherNamespaces, before, next)
        : compareInNamespace(scope, before, next);
    if (found === 'tooMany') return 'tooMany';
    rights.push(...found);
  }
  return rights;
}

function compareInNamespace(scope: string, before: Side, next: Side): AccessRight[] | 'tooMany' {
  const held = [...before.all(scope), ...before.all(''), ...next.own('')];
  const missing = subtractRules(selectResourceRules(next.own(scope)), selectResourceRules(held));
  if (missing === 'tooMany') return 'tooMany';
  return toAccessRights(
    scope,
    splitByVerb(missing).map((rule) => ({ rule, exceptIn: [] })),
  );
}

function compareEverywhere(
  otherNamespaces: readonly string[],
  before: Side,
  next: Side,
): AccessRight[] | 'tooMany' {
  const missing = subtractRules(next.own(''), before.all(''));
  if (missing === 'tooMany') return 'tooMany';
  const rights = splitByVerb(missing).map((rule) => ({ rule, exceptIn: [] as string[] }));
  const inNamespaces = selectResourceRules(rights.map(({ rule }) => rule));
  for (const namespace of inNamespaces.length === 0 ? [] : otherNamespaces) {
    const held = selectResourceRules(before.all(namespace));
    if (held.length === 0) continue;
    const left = subtractRules(inNamespaces, [...held, ...selectResourceRules(before.all(''))]);
    if (left === 'tooMany') return 'tooMany';
    const changing = new Set(splitByVerb(left).map(rightKey));
    for (const { rule, exceptIn } of rights) {
      const isForResources = (rule.resources ?? []).length > 0;
      if (isForResources && !changing.has(rightKey(rule))) exceptIn.push(namespace);
    }
  }
  return toAccessRights('', rights);
}
