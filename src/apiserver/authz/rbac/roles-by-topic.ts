import { BoundedMap } from '../../../base/index.ts';
import type { Question } from './question.ts';
import type { RoleEntry } from './role-entry.ts';

/** So few roles are asked one after the other sooner than an index of them is made. */
export const fewRoles = 32;

/** A role that is about more is asked whatever the question is: rules can name very many objects. */
const maxTopics = 32;
/** Roles by topic that are kept for all holders together: who may bind roles decides how many holders have how many. */
const maxKept = 200_000;

/**
 * Many roles of one holder by what they are about, so that a decision asks only those that may have something to say. Made
 * when it is first needed; of no use once a role has changed.
 */
class RolesByTopic {
  readonly #byTopic = new Map<string, RoleEntry[]>();
  readonly #aboutMuch: RoleEntry[] = [];
  /** How much it takes to keep it. */
  readonly size: number;

  constructor(roles: Iterable<RoleEntry>) {
    let size = 1;
    for (const role of roles) {
      const topics = topicsOf(role);
      size += topics?.size ?? 1;
      if (topics === undefined) this.#aboutMuch.push(role);
      else for (const topic of topics) this.#add(topic, role);
    }
    this.size = size;
  }

  /** A role that allows what is asked about these topics. */
  find(question: Question, topics: readonly string[]): RoleEntry | undefined {
    for (const topic of topics) {
      for (const role of this.#byTopic.get(topic) ?? []) {
        if (question.isAllowedBy(role.rules)) return role;
      }
    }
    return this.#aboutMuch.find((role) => question.isAllowedBy(role.rules));
  }

  #add(topic: string, role: RoleEntry): void {
    const others = this.#byTopic.get(topic);
    if (others === undefined) this.#byTopic.set(topic, [role]);
    else others.push(role);
  }
}

/** Undefined when there are too many. */
function topicsOf(role: RoleEntry): ReadonlySet<string> | undefined {
  const topics = new Set<string>();
  for (const topic of role.rules.topics()) {
    if (topics.add(topic).size > maxTopics) return undefined;
  }
  return topics;
}

/** All roles of one holder; the same object for as long as the holder has many. */
type HeldRoles = ReadonlyMap<RoleEntry, unknown>;

/** What was read of the roles of holders who have asked something. Those who did not ask for longest make room. */
export class TopicMemory {
  readonly #known = new BoundedMap<HeldRoles, RolesByTopic>({
    maxEntries: maxKept,
    maxWeight: maxKept,
    weigh: ({ size }) => size,
  });

  /** How much is kept. */
  get size(): number {
    return this.#known.weight;
  }

  of(held: HeldRoles): RolesByTopic {
    const known = this.#known.use(held);
    if (known !== undefined) return known;
    const roles = new RolesByTopic(held.keys());
    this.#known.set(held, roles);
    return roles;
  }

  /** The holder has others now. */
  forget(held: HeldRoles): void {
    this.#known.delete(held);
  }

  /** A role has changed: nothing that was read of roles counts any longer. */
  clear(): void {
    this.#known.clear();
  }
}
