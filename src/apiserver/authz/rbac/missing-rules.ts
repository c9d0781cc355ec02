import type { PolicyRule } from '../../../api/index.ts';
import type { ResourceRights } from './held-rights.ts';
import { HeldRights } from './held-rights.ts';

/** One verb on one path, or on one resource of one group for all the names of a rule. */
type Rights = ResourceRights | { readonly verb: string; readonly path: string };

type Target = Omit<PolicyRule, 'verbs' | 'resourceNames'>;

/** The missing rights on one target: the verbs for each name; the name undefined stands for all names, or for a path. */
interface Missing {
  readonly target: Target;
  readonly verbs: Map<string | undefined, Set<string>>;
}

/** Rules that would be split into more rights than this, of one name each, cannot be compared in reasonable time. */
const maxRights = 100_000;

/** The limit of held rules and names that are examined: takes some tens of milliseconds. */
const maxEffort = 1_000_000;

/**
 * Returns the rights in `wanted` that `held` does not give, in few rules; empty when all are held. `tooMany` when there are
 * too many combinations to find out, of what is wanted or of that with what is held.
 */
export function findMissingRules(
  held: readonly PolicyRule[],
  wanted: readonly PolicyRule[],
): readonly PolicyRule[] | 'tooMany' {
  if (wanted.reduce((count, rule) => count + countRights(rule), 0) > maxRights) return 'tooMany';
  const known = new HeldRights(held, wanted);
  if (known.effort > maxEffort) return 'tooMany';
  const missing = new Map<string, Missing>();
  for (const rule of wanted) {
    for (const rights of rightsIn(rule)) {
      addMissing(missing, rights, findMissingNames(known, rights));
      if (known.effort > maxEffort) return 'tooMany';
    }
  }
  return [...missing.values()].flatMap(rulesOf);
}

function findMissingNames(held: HeldRights, rights: Rights): readonly (string | undefined)[] {
  if (!('path' in rights)) return held.findMissing(rights);
  return held.allowsPath(rights.verb, rights.path) ? [] : [undefined];
}

function countRights(rule: PolicyRule): number {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const names = Math.max(1, resourceNames.length);
  return verbs.length * (apiGroups.length * resources.length * names + nonResourceURLs.length);
}

function* rightsIn(rule: PolicyRule): Generator<Rights> {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const names = resourceNames.length === 0 ? undefined : resourceNames;
  // without resources the groups mean nothing, and `countRights` has not counted them
  const groups = resources.length === 0 ? [] : apiGroups;
  for (const verb of verbs) {
    for (const path of nonResourceURLs) yield { verb, path };
    for (const group of groups) for (const resource of resources) yield { verb, group, resource, names };
  }
}

/** Adds missing rights; those that differ only in their verb become one rule. */
function addMissing(
  missing: Map<string, Missing>,
  rights: Rights,
  names: readonly (string | undefined)[],
): void {
  if (names.length === 0) return;
  const target = targetOf(rights);
  const key =
    'path' in rights ? `path ${rights.path}` : `${rights.group.length} ${rights.group}${rights.resource}`;
  const { verbs } = missing.get(key) ?? { target, verbs: new Map<string | undefined, Set<string>>() };
  for (const name of names) {
    const known = verbs.get(name);
    if (known === undefined) verbs.set(name, new Set([rights.verb]));
    else known.add(rights.verb);
  }
  missing.set(key, { target, verbs });
}

function targetOf(rights: Rights): Target {
  if ('path' in rights) return { nonResourceURLs: [rights.path] };
  return { apiGroups: [rights.group], resources: [rights.resource] };
}

function rulesOf({ target, verbs }: Missing): PolicyRule[] {
  return Array.from(verbs, ([name, some]) => {
    const rule = { verbs: [...some], ...target };
    return name === undefined ? rule : { ...rule, resourceNames: [name] };
  });
}
