import type { CompactSet } from './compact-set.ts';
import { addItem, getFirst, itemsOf, removeItem } from './compact-set.ts';
import { Grant } from './grant.ts';
import type { Question } from './question.ts';
import type { RoleEntry } from './role-entry.ts';
import type { RoleIndexCache } from './role-index.ts';
import { maxUnindexedRoles } from './role-index.ts';

/** The grants of one user or group: mostly one, else several by the role that they give. */
type Held = Grant | Map<RoleEntry, CompactSet<Grant>>;

/** `isNext`: the grant is for the same user or group as the one before. */
export type GrantVisitor = (grant: Grant, isNext: boolean) => void;

/** Users, or groups, with their grants in one scope. */
export class Holders {
  readonly #held = new Map<string, Held>();
  /** Indexes for holders with many roles. */
  readonly #roleIndexes: RoleIndexCache;

  constructor(roleIndexes: RoleIndexCache) {
    this.#roleIndexes = roleIndexes;
  }

  get isEmpty(): boolean {
    return this.#held.size === 0;
  }

  add(grant: Grant): void {
    const held = this.#held.get(grant.holder);
    if (held === undefined) {
      this.#held.set(grant.holder, grant);
      return;
    }
    const byRole = held instanceof Grant ? new Map<RoleEntry, CompactSet<Grant>>([[held.role, held]]) : held;
    this.#roleIndexes.forget(byRole);
    byRole.set(grant.role, addItem(byRole.get(grant.role), grant));
    if (byRole !== held) this.#held.set(grant.holder, byRole);
  }

  remove(grant: Grant): void {
    const held = this.#held.get(grant.holder);
    if (held === grant) this.#held.delete(grant.holder);
    if (held === undefined || held instanceof Grant) return;
    this.#roleIndexes.forget(held);
    const rest = removeItem(held.get(grant.role), grant);
    if (rest !== undefined) held.set(grant.role, rest);
    else held.delete(grant.role);
    if (held.size === 0) this.#held.delete(grant.holder);
  }

  /** Finds a grant that allows the question. Each role is examined once, however often it is granted. */
  find(holder: string, question: Question): Grant | undefined {
    const held = this.#held.get(holder);
    if (held === undefined) return undefined;
    if (held instanceof Grant) return question.isAllowedBy(held.role.rules) ? held : undefined;
    if (held.size > maxUnindexedRoles) return this.#findAmongMany(held, question);
    for (const [role, grants] of held) if (question.isAllowedBy(role.rules)) return getFirst(grants);
    return undefined;
  }

  #findAmongMany(held: ReadonlyMap<RoleEntry, CompactSet<Grant>>, question: Question): Grant | undefined {
    const role = this.#roleIndexes.of(held).find(question, question.keys());
    const grants = role && held.get(role);
    return grants && getFirst(grants);
  }

  /** All grants of the holder. */
  *grants(holder: string): Generator<Grant> {
    const held = this.#held.get(holder);
    if (held !== undefined) yield* grantsIn(held);
  }

  /** Visits all grants, holder by holder. */
  each(visit: GrantVisitor): void {
    for (const held of this.#held.values()) {
      if (held instanceof Grant) visit(held, false);
      else {
        let isNext = false;
        for (const grant of grantsIn(held)) {
          visit(grant, isNext);
          isNext = true;
        }
      }
    }
  }

  roles(holder: string): Iterable<RoleEntry> {
    const held = this.#held.get(holder);
    if (held === undefined) return [];
    return held instanceof Grant ? [held.role] : held.keys();
  }
}

function* grantsIn(held: Held): Generator<Grant> {
  if (held instanceof Grant) yield held;
  else for (const grants of held.values()) yield* itemsOf(grants);
}
