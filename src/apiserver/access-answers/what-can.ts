import type {
  AccessNamespaceRules,
  AccessQueryStatus,
  NonResourceRule,
  ResourceRule,
} from '../../api/index.ts';
import type { User } from '../authn/index.ts';
import type { PolicyIndex, RuleList } from '../authz/index.ts';
import { compactNonResourceRules, compactResourceRules, faultsOf } from '../authz/index.ts';
import { rbacName } from './authorizers.ts';
import type { Explaining } from './explain.ts';
import { isOpaque } from './opaque.ts';
import { maxReported } from './told.ts';

/** A namespace with more rules than this is not put together: its answer would say nothing to anybody. */
const maxRules = 10_000;

/**
 * What somebody may do, by namespace, in few rules: what counts everywhere first, and of each namespace only what its
 * own bindings add. Without a namespace all are told where the user has anything.
 */
export async function whatCan(
  explaining: Explaining,
  asked: User,
  namespace: string,
): Promise<AccessQueryStatus> {
  const { index, group } = explaining;
  const user = { ...asked, groups: [...new Set(asked.groups)] };
  const others = await listed(explaining, user);
  const everywhere = rulesIn(index, user, '');
  const told: AccessNamespaceRules[] = [];
  const errors = new Set([...others.flatMap((list) => list.errors), ...faultsOf(index, user, '', group)]);
  let [count, more, isCut] = [0, 0, everywhere.isCut];
  const tell = (name: string, rules: Rules) => {
    const resourceRules = compactResourceRules(rules.resourceRules);
    const nonResourceRules = compactNonResourceRules(rules.nonResourceRules);
    count += resourceRules.length + nonResourceRules.length;
    const parts = {
      ...(resourceRules.length === 0 ? {} : { resourceRules }),
      ...(nonResourceRules.length === 0 ? {} : { nonResourceRules }),
    };
    if (Object.keys(parts).length > 0) told.push(name === '' ? parts : { namespace: name, ...parts });
  };
  tell('', {
    resourceRules: [...others.flatMap((list) => list.resourceRules), ...everywhere.resourceRules],
    nonResourceRules: [...others.flatMap((list) => list.nonResourceRules), ...everywhere.nonResourceRules],
  });
  for (const name of namespacesOf(index, user, namespace)) {
    if (count >= maxReported) more++;
    else {
      const rules = rulesIn(index, user, name);
      isCut ||= rules.isCut;
      for (const text of faultsOf(index, user, name, group)) errors.add(text);
      tell(name, rules);
    }
  }
  return {
    namespaces: told,
    ...(more === 0 ? {} : { moreNamespaces: more }),
    ...(isCut || others.some(({ incomplete }) => incomplete) ? { incomplete: true } : {}),
    ...(errors.size === 0 ? {} : { errors: [...errors] }),
  };
}

/** In the order of their names. */
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

/** By the bindings of a namespace alone, or of the cluster; only these give paths. */
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

/** What the others than RBAC allow, which is the same in every namespace. */
async function listed({ authorizers }: Explaining, user: User): Promise<RuleList[]> {
  const lists: RuleList[] = [];
  for (const { name, authorizer } of authorizers) {
    if (name === rbacName) continue;
    const list = await authorizer.rules?.(user, '');
    const isAnybodys = await isOpaque(authorizer);
    const why = isAnybodys ? [`incomplete: ${name} cannot list what it allows, and may allow more`] : [];
    const { incomplete = true, errors = [] } = list ?? {};
    lists.push({ ...(list ?? nothing), incomplete, errors: [...errors, ...why] });
  }
  return lists;
}

const nothing = { resourceRules: [], nonResourceRules: [] };
