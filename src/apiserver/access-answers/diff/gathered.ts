import { isDeepStrictEqual } from 'node:util';
import type { ClusterRole, PolicyRule } from '../../../api/index.ts';
import { selectsAny } from '../../controllers/index.ts';

/** More roles that gather the rules of others in turn are left as they are: no chain of them is so long. */
const mostRounds = 20;

/**
 * The rules that ClusterRoles with an aggregationRule will have, once the controller that keeps them has seen to it;
 * of those alone where that is something else than they have. `roles`: all ClusterRoles, by name, as they will be.
 */
export function gatheredRules(roles: ReadonlyMap<string, ClusterRole>): Map<string, PolicyRule[]> {
  const gathered = new Map<string, PolicyRule[]>();
  const aggregates = [...roles].filter(([, role]) => role.aggregationRule !== undefined);
  const rulesOf = (name: string, role: ClusterRole) => gathered.get(name) ?? role.rules ?? [];
  for (let round = 0; round < mostRounds; round++) {
    let isSettled = true;
    for (const [name, role] of aggregates) {
      const selectors = role.aggregationRule?.clusterRoleSelectors ?? [];
      const members = [...roles].filter(
        ([other, { metadata }]) => other !== name && selectsAny(selectors, metadata?.labels ?? {}),
      );
      const rules = distinct(members.flatMap(([other, member]) => rulesOf(other, member)));
      if (isDeepStrictEqual(rules, distinct(rulesOf(name, role)))) continue;
      gathered.set(name, rules);
      isSettled = false;
    }
    if (isSettled) break;
  }
  return gathered;
}

/** Each rule once, in an order of their own. */
function distinct(rules: readonly PolicyRule[]): PolicyRule[] {
  const byText = new Map(rules.map((rule) => [JSON.stringify(Object.entries(rule).sort()), rule]));
  return [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, rule]) => rule);
}
