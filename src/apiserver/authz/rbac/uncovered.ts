import type { PolicyRule } from '../../../api/index.ts';
import type { ResourceRights } from './held-rights.ts';
import { HeldRights } from './held-rights.ts';

/** One verb on one path, or on one resource of one group for all the names of a rule. */
type Rights = ResourceRights | { readonly verb: string; readonly path: string };

type Target = Omit<PolicyRule, 'verbs' | 'resourceNames'>;

/** What is missing of one target: the verbs for each name; undefined stands for all names, and for a path. */
interface Missing {
  readonly target: Target;
  readonly verbs: Map<string | undefined, Set<string>>;
}

/** Rules that would fall into more rights than this, of one name each, cannot be compared in reasonable time. */
const maxRights = 100_000;

/** Nor when more rules and names that are held would have to be looked at: this takes some tens of milliseconds. */
const maxEffort = 1_000_000;

/**
 * What of `wanted` nobody has by `held`, as few rules; empty when all of it is held. `tooMany` when that cannot be said
 * because there are too many combinations, of what is wanted or of that with what is held.
 */
export function uncovered(
  held: readonly PolicyRule[],
  wanted: readonly PolicyRule[],
): readonly PolicyRule[] | 'tooMany' {
  if (wanted.reduce((count, rule) => count + countOf(rule), 0) > maxRights) return 'tooMany';
  const known = new HeldRights(held, wanted);
  if (known.effort > maxEffort) return 'tooMany';
  const missing = new Map<string, Missing>();
  for (const rule of wanted) {
    for (const rights of rightsIn(rule)) {
      note(missing, rights, missingOf(known, rights));
      if (known.effort > maxEffort) return 'tooMany';
    }
  }
  return [...missing.values()].flatMap(rulesOf);
}

function missingOf(held: HeldRights, rights: Rights): readonly (string | undefined)[] {
  if (!('path' in rights)) return held.missing(rights);
  return held.allowsPath(rights.verb, rights.path) ? [] : [undefined];
}

function countOf(rule: PolicyRule): number {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const names = Math.max(1, resourceNames.length);
  return verbs.length * (apiGroups.length * resources.length * names + nonResourceURLs.length);
}

function* rightsIn(rule: PolicyRule): Generator<Rights> {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const names = resourceNames.length === 0 ? undefined : resourceNames;
  // Without resources the groups mean nothing, and nothing has counted them.
  const groups = resources.length === 0 ? [] : apiGroups;
  for (const verb of verbs) {
    for (const path of nonResourceURLs) yield { verb, path };
    for (const group of groups) for (const resource of resources) yield { verb, group, resource, names };
  }
}

/** Rights that differ by their verb alone are one rule. */
function note(missing: Map<string, Missing>, rights: Rights, names: readonly (string | undefined)[]): void {
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
