import { BoundedMap } from '../../../base/index.ts';
import type { Question } from './question.ts';
import type { RoleEntry } from './role-entry.ts';

/** Up to so many roles are examined one after the other, which is faster than to index them. */
export const maxUnindexedRoles = 32;

/** A role with more keys is not indexed but examined for every question: rules can name very many objects. */
const maxKeysPerRole = 32;
/** Indexed roles for all holders together: users who may bind roles decide how many holders have how many roles. */
const maxKept = 200_000;

/**
 * An index of the roles of a holder with many of them, so that a decision examines only roles that can allow it. It is made
 * when it is first needed, and invalid once a role has changed.
 */
class RoleIndex {
  readonly #byKey = new Map<string, RoleEntry[]>();
  readonly #unindexed: RoleEntry[] = [];
  /** Its weight in the cache. */
  readonly size: number;

  constructor(roles: Iterable<RoleEntry>) {
    let size = 1;
    for (const role of roles) {
      const keys = keysOf(role);
      size += keys?.size ?? 1;
      if (keys === undefined) this.#unindexed.push(role);
      else for (const key of keys) this.#add(key, role);
    }
    this.size = size;
  }

  /** Finds a role that allows the question; `keys` are those of the question. */
  find(question: Question, keys: readonly string[]): RoleEntry | undefined {
    for (const key of keys) {
      for (const role of this.#byKey.get(key) ?? []) {
        if (question.isAllowedBy(role.rules)) return role;
      }
    }
    return this.#unindexed.find((role) => question.isAllowedBy(role.rules));
  }

  #add(key: string, role: RoleEntry): void {
    const others = this.#byKey.get(key);
    if (others === undefined) this.#byKey.set(key, [role]);
    else others.push(role);
  }
}

/** Undefined when there are too many. */
function keysOf(role: RoleEntry): ReadonlySet<string> | undefined {
  const keys = new Set<string>();
  for (const key of role.rules.keys()) {
    if (keys.add(key).size > maxKeysPerRole) return undefined;
  }
  return keys;
}

/** All roles of one holder; the same object for as long as the holder has several. */
type HeldRoles = ReadonlyMap<RoleEntry, unknown>;

/** Caches the indexes of holders; the least recently used ones are dropped. */
export class RoleIndexCache {
  readonly #known = new BoundedMap<HeldRoles, RoleIndex>({
    maxEntries: maxKept,
    maxWeight: maxKept,
    weigh: ({ size }) => size,
  });

  /** The weight of the cached indexes. */
  get size(): number {
    return this.#known.weight;
  }

  of(held: HeldRoles): RoleIndex {
    const known = this.#known.use(held);
    if (known !== undefined) return known;
    const roles = new RoleIndex(held.keys());
    this.#known.set(held, roles);
    return roles;
  }

  /** Drops the index of a holder whose roles have changed. */
  forget(held: HeldRoles): void {
    this.#known.delete(held);
  }

  /** Drops all indexes, because the rules of a role have changed. */
  clear(): void {
    this.#known.clear();
  }
}
