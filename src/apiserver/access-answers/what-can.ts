import type {
  AccessNamespaceRules,
  AccessQueryStatus,
  NonResourceRule,
  ResourceRule,
} from '../../api/index.ts';
import type { User } from '../authn/index.ts';
import type { PolicyIndex, RuleList } from '../authz/index.ts';
import { compactNonResourceRules, compactResourceRules, listFaults } from '../authz/index.ts';
import { rbacName } from './authorizers.ts';
import type { ExplainContext } from './explain.ts';
import { maxReported } from './references.ts';
import { cannotListRules } from './unlisted-authorizers.ts';

/** Of a namespace with more rules than this the rest is left out: nobody could read such an answer. */
const maxRules = 10_000;

/**
 * Lists what a user may do by namespace, in as few rules as possible: first what applies everywhere, then for each namespace
 * only what its own bindings add. Without a namespace it lists all in which the user has any rights.
 */
export async function listWhatCan(
  context: ExplainContext,
  asked: User,
  namespace: string,
): Promise<AccessQueryStatus> {
  const { index, group } = context;
  const user = { ...asked, groups: [...new Set(asked.groups)] };
  const others = await listOtherRules(context, user);
  const everywhere = rulesIn(index, user, '');
  const namespaces: AccessNamespaceRules[] = [];
  const errors = new Set([...others.flatMap((list) => list.errors), ...listFaults(index, user, '', group)]);
  let [count, more, isCut] = [0, 0, everywhere.isCut];
  const addNamespace = (name: string, rules: Rules) => {
    const resourceRules = compactResourceRules(rules.resourceRules);
    const nonResourceRules = compactNonResourceRules(rules.nonResourceRules);
    count += resourceRules.length + nonResourceRules.length;
    const parts = {
      ...(resourceRules.length === 0 ? {} : { resourceRules }),
      ...(nonResourceRules.length === 0 ? {} : { nonResourceRules }),
    };
    if (Object.keys(parts).length > 0) namespaces.push(name === '' ? parts : { namespace: name, ...parts });
  };
  addNamespace('', {
    resourceRules: [...others.flatMap((list) => list.resourceRules), ...everywhere.resourceRules],
    nonResourceRules: [...others.flatMap((list) => list.nonResourceRules), ...everywhere.nonResourceRules],
  });
  for (const name of namespacesOf(index, user, namespace)) {
    if (count >= maxReported) more++;
    else {
      const rules = rulesIn(index, user, name);
      isCut ||= rules.isCut;
      for (const text of listFaults(index, user, name, group)) errors.add(text);
      addNamespace(name, rules);
    }
  }
  return {
    namespaces,
    ...(more === 0 ? {} : { moreNamespaces: more }),
    ...(isCut || others.some(({ incomplete }) => incomplete) ? { incomplete: true } : {}),
    ...(errors.size === 0 ? {} : { errors: [...errors] }),
  };
}

/** Sorted by name. */
function namespacesOf(index: PolicyIndex, user: User, only: string): string[] {
  if (only !== '') return [only];
  const found = [...index.namespaces].filter((name) => name !== '' && hasAny(index.grantsIn(name, user)));
  return found.sort();
}

function hasAny(values: Iterable<unknown>): boolean {
  for (const _ of values) return true;
  return false;
}

interface Rules {
  resourceRules: readonly ResourceRule[];
  nonResourceRules: readonly NonResourceRule[];
}

/** The rules by the bindings of one namespace, or of the cluster; only those of the cluster give paths. */
function rulesIn(index: PolicyIndex, user: User, scope: string): Rules & { isCut: boolean } {
  const resourceRules: ResourceRule[] = [];
  const nonResourceRules: NonResourceRule[] = [];
  for (const { rules } of new Set(index.rolesIn(scope, user))) {
    for (const { verbs, nonResourceURLs = [], ...target } of rules.rules) {
      if (resourceRules.length + nonResourceRules.length >= maxRules) {
        return { resourceRules, nonResourceRules, isCut: true };
      }
      if ((target.resources ?? []).length > 0) resourceRules.push({ verbs, ...target });
      if (scope === '' && nonResourceURLs.length > 0) nonResourceRules.push({ verbs, nonResourceURLs });
    }
  }
  return { resourceRules, nonResourceRules, isCut: false };
}

/** What the authorizers other than RBAC allow, which is the same in every namespace. */
async function listOtherRules({ authorizers }: ExplainContext, user: User): Promise<RuleList[]> {
  const lists: RuleList[] = [];
  for (const { name, authorizer } of authorizers) {
    if (name === rbacName) continue;
    const list = await authorizer.rules?.(user, '');
    const isUnlisted = await cannotListRules(authorizer);
    const why = isUnlisted ? [`incomplete: ${name} cannot list what it allows, and may allow more`] : [];
    const { incomplete = true, errors = [] } = list ?? {};
    lists.push({ ...(list ?? nothing), incomplete, errors: [...errors, ...why] });
  }
  return lists;
}

const nothing = { resourceRules: [], nonResourceRules: [] };
