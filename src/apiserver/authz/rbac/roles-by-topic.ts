import type { Question } from './question.ts';
import type { RoleEntry } from './role-entry.ts';

/** So few roles are asked one after the other sooner than an index of them is made. */
export const fewRoles = 32;

/** How often any role has changed: what was read of roles before counts no longer. */
export interface RoleChanges {
  count: number;
}

/**
 * Many roles of one holder by what they are about, so that a decision asks only those that may have something to say. Made
 * when it is first needed; of no use once a role has changed.
 */
export class RolesByTopic {
  readonly #byTopic = new Map<string, RoleEntry[]>();
  readonly #changes: RoleChanges;
  readonly #madeAt: number;

  constructor(roles: Iterable<RoleEntry>, changes: RoleChanges) {
    this.#changes = changes;
    this.#madeAt = changes.count;
    for (const role of roles) {
      for (const topic of role.rules.topics()) {
        const others = this.#byTopic.get(topic);
        if (others === undefined) this.#byTopic.set(topic, [role]);
        else others.push(role);
      }
    }
  }

  get isCurrent(): boolean {
    return this.#changes.count === this.#madeAt;
  }

  /** A role that allows what is asked about these topics. */
  find(question: Question, topics: readonly string[]): RoleEntry | undefined {
    for (const topic of topics) {
      for (const role of this.#byTopic.get(topic) ?? []) {
        if (question.isAllowedBy(role.rules)) return role;
      }
    }
    return undefined;
  }
}
