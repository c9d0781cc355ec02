import type { ClusterRole } from '../../../api/index.ts';
import { selectsAny } from './label-selectors.ts';

type Selectors = Parameters<typeof selectsAny>[0];

interface Aggregate {
  selectors: Selectors;
  members: Set<string>;
}

/** Which ClusterRoles aggregate the rules of which others. It is updated with one role at a time. */
export class AggregatedRoles {
  readonly #aggregates = new Map<string, Aggregate>();
  /** Of the roles that have labels. */
  readonly #labels = new Map<string, Readonly<Record<string, string>>>();
  /** Roles without labels: an empty selector, or one for the absence of a label, selects them as well. */
  readonly #unlabelled = new Set<string>();

  /**
   * Sets the present state of a role; undefined: it is gone. Returns the aggregating roles whose rules may change because
   * of it, possibly including itself.
   */
  set(name: string, role: ClusterRole | undefined): string[] {
    this.#setLabels(name, role);
    this.#setAggregate(name, role);
    const affected: string[] = [];
    for (const [aggregate, { selectors, members }] of this.#aggregates) {
      const wasMember = members.delete(name);
      const isMember =
        role !== undefined && name !== aggregate && selectsAny(selectors, this.#labelsOf(name));
      if (isMember) members.add(name);
      if (wasMember || isMember || aggregate === name) affected.push(aggregate);
    }
    return affected;
  }

  /** The roles whose rules a role aggregates, in the order of their names; undefined for a role with rules of its own. */
  membersOf(name: string): readonly string[] | undefined {
    const aggregate = this.#aggregates.get(name);
    return aggregate && [...aggregate.members].sort();
  }

  #setLabels(name: string, role: ClusterRole | undefined): void {
    this.#labels.delete(name);
    this.#unlabelled.delete(name);
    if (role === undefined) return;
    const labels = role.metadata?.labels ?? {};
    if (Object.keys(labels).length === 0) this.#unlabelled.add(name);
    else this.#labels.set(name, labels);
  }

  #setAggregate(name: string, role: ClusterRole | undefined): void {
    if (role?.aggregationRule === undefined) {
      this.#aggregates.delete(name);
      return;
    }
    const selectors = role.aggregationRule.clusterRoleSelectors ?? [];
    const members = new Set<string>();
    for (const other of [...this.#labels.keys(), ...this.#unlabelled]) {
      if (other !== name && selectsAny(selectors, this.#labelsOf(other))) members.add(other);
    }
    this.#aggregates.set(name, { selectors, members });
  }

  #labelsOf(name: string): Readonly<Record<string, string>> {
    return this.#labels.get(name) ?? {};
  }
}
