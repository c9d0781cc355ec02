import type { ClusterRole, PolicyRule } from '../../../api/index.ts';
import { EventLoopYielder } from '../../../base/index.ts';
import { selectsAny } from '../../controllers/index.ts';

/** More roles that gather the rules of others in turn are left as they are: no chain of them is so long. */
const maxRounds = 20;
/** About so many rules and conditions of selectors are looked at in all: roles that gather each other multiply. */
const maxChecked = 2_000_000;
/** To look at a selector takes about as long as to look at a rule for each such piece of it. */
const selectorCharacters = 32;

export interface Gathered {
  /** Of roles that gather, where it is something else than they have. */
  rules: Map<string, PolicyRule[]>;
  /** Whether all of them were looked at. */
  isWhole: boolean;
}

/** Each rule once. */
type RuleSet = ReadonlyMap<string, PolicyRule>;

interface Aggregate {
  name: string;
  members: readonly string[];
}

/**
 * The rules that ClusterRoles with an aggregationRule will have, once the controller that keeps them has seen to it.
 * `roles`: all ClusterRoles, by name, as they will be. Lets other requests pass.
 */
export async function gatheredRules(roles: ReadonlyMap<string, ClusterRole>): Promise<Gathered> {
  const effort = new Effort();
  const known = new Map<string, RuleSet>();
  const gathered = new Map<string, RuleSet>();
  const rulesOf = (name: string) => known.get(name) ?? ruleSet(roles.get(name)?.rules ?? []);
  const aggregates: Aggregate[] = [];
  for (const [name, role] of roles) {
    if (role.aggregationRule === undefined) continue;
    aggregates.push({ name, members: await membersOf(name, role.aggregationRule, roles, effort) });
  }
  for (let round = 0; round < maxRounds && !effort.isOver; round++) {
    let isSettled = true;
    for (const { name, members } of aggregates) {
      const rules = new Map<string, PolicyRule>();
      for (const member of members) {
        const some = rulesOf(member);
        known.set(member, some);
        for (const [text, rule] of some) rules.set(text, rule);
        await effort.spend(1 + some.size);
      }
      if (effort.isOver) break;
      if (isSame(rules, rulesOf(name))) continue;
      known.set(name, rules);
      gathered.set(name, rules);
      isSettled = false;
    }
    if (isSettled) break;
  }
  return {
    rules: new Map([...gathered].map(([name, rules]) => [name, inOrder(rules)])),
    isWhole: !effort.isOver,
  };
}

/** How much has been looked at. */
class Effort {
  readonly #yielder = new EventLoopYielder();
  #left = maxChecked;

  get isOver(): boolean {
    return this.#left < 0;
  }

  async spend(looked: number): Promise<void> {
    this.#left -= looked;
    if (this.#yielder.isDue) await this.#yielder.yield();
  }
}

async function membersOf(
  name: string,
  { clusterRoleSelectors: selectors = [] }: NonNullable<ClusterRole['aggregationRule']>,
  roles: ReadonlyMap<string, ClusterRole>,
  effort: Effort,
): Promise<string[]> {
  const weight = 1 + Math.floor(JSON.stringify(selectors).length / selectorCharacters);
  const members: string[] = [];
  for (const [other, { metadata }] of roles) {
    if (effort.isOver) break;
    await effort.spend(weight);
    if (other !== name && selectsAny(selectors, metadata?.labels ?? {})) members.push(other);
  }
  return members;
}

function ruleSet(rules: readonly PolicyRule[]): RuleSet {
  return new Map(rules.map((rule) => [JSON.stringify(Object.entries(rule).sort()), rule]));
}

function isSame(one: RuleSet, other: RuleSet): boolean {
  return one.size === other.size && one.keys().every((text) => other.has(text));
}

/** In an order of their own. */
function inOrder(rules: RuleSet): PolicyRule[] {
  return [...rules].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, rule]) => rule);
}
