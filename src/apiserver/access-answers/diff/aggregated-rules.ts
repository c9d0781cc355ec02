import type { ClusterRole, PolicyRule } from '../../../api/index.ts';
import { EventLoopYielder } from '../../../base/index.ts';
import { selectsAny } from '../../controllers/index.ts';

/** Rounds of aggregation: real chains of roles that aggregate each other are shorter. */
const maxRounds = 20;
/** About how many rules and selector conditions are examined in all: roles that aggregate each other multiply. */
const maxChecked = 2_000_000;
/** So many characters of a selector cost about as much to evaluate as one rule. */
const selectorCharacters = 32;

export interface AggregatedRules {
  /** The rules of aggregating roles, by name, where they differ from the stored ones. */
  rules: Map<string, PolicyRule[]>;
  /** Whether all of them were examined. */
  isComplete: boolean;
}

/** Rules by their text, each once. */
type RuleSet = ReadonlyMap<string, PolicyRule>;

interface Aggregate {
  name: string;
  members: readonly string[];
}

/**
 * Computes the rules that ClusterRoles with an aggregationRule will have once the controller has updated them. `roles`: all
 * ClusterRoles after the change, by name. Yields to other requests.
 */
export async function aggregateRules(roles: ReadonlyMap<string, ClusterRole>): Promise<AggregatedRules> {
  const effort = new Effort();
  const known = new Map<string, RuleSet>();
  const aggregated = new Map<string, RuleSet>();
  const rulesOf = (name: string) => known.get(name) ?? toRuleSet(roles.get(name)?.rules ?? []);
  const aggregates: Aggregate[] = [];
  for (const [name, role] of roles) {
    if (role.aggregationRule === undefined) continue;
    aggregates.push({ name, members: await findMembers(name, role.aggregationRule, roles, effort) });
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
      aggregated.set(name, rules);
      isSettled = false;
    }
    if (isSettled) break;
  }
  return {
    rules: new Map([...aggregated].map(([name, rules]) => [name, sortRules(rules)])),
    isComplete: !effort.isOver,
  };
}

/** The remaining amount of work. */
class Effort {
  readonly #yielder = new EventLoopYielder();
  #left = maxChecked;

  get isOver(): boolean {
    return this.#left < 0;
  }

  async spend(amount: number): Promise<void> {
    this.#left -= amount;
    if (this.#yielder.isDue) await this.#yielder.yield();
  }
}

async function findMembers(
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

function toRuleSet(rules: readonly PolicyRule[]): RuleSet {
  return new Map(rules.map((rule) => [JSON.stringify(Object.entries(rule).sort()), rule]));
}

function isSame(one: RuleSet, other: RuleSet): boolean {
  return one.size === other.size && one.keys().every((text) => other.has(text));
}

/** Sorts rules by their text. */
function sortRules(rules: RuleSet): PolicyRule[] {
  return [...rules].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, rule]) => rule);
}
