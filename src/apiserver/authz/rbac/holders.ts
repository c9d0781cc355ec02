import type { Few } from './few.ts';
import { allOf, firstOf, withOne, withoutOne } from './few.ts';
import { Grant } from './grant.ts';
import type { Question } from './question.ts';
import type { RoleEntry } from './role-entry.ts';
import type { TopicMemory } from './roles-by-topic.ts';
import { fewRoles } from './roles-by-topic.ts';

/** What one user or group has: mostly one grant, else its grants by the role that they give. */
type Held = Grant | Map<RoleEntry, Few<Grant>>;

/** `isNext`: it is for the same user or group as the grant before. */
export type GrantVisitor = (grant: Grant, isNext: boolean) => void;

/** Users, or groups, with what is granted to them in one scope. */
export class Holders {
  readonly #held = new Map<string, Held>();
  /** Of holders with many roles that have been asked about. */
  readonly #topics: TopicMemory;

  constructor(topics: TopicMemory) {
    this.#topics = topics;
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
    const byRole = held instanceof Grant ? new Map<RoleEntry, Few<Grant>>([[held.role, held]]) : held;
    this.#topics.forget(byRole);
    byRole.set(grant.role, withOne(byRole.get(grant.role), grant));
    if (byRole !== held) this.#held.set(grant.holder, byRole);
  }

  remove(grant: Grant): void {
    const held = this.#held.get(grant.holder);
    if (held === grant) this.#held.delete(grant.holder);
    if (held === undefined || held instanceof Grant) return;
    this.#topics.forget(held);
    const rest = withoutOne(held.get(grant.role), grant);
    if (rest !== undefined) held.set(grant.role, rest);
    else held.delete(grant.role);
    if (held.size === 0) this.#held.delete(grant.holder);
  }

  /** A grant by which the holder may do what is asked. Each role is asked once, however often it is given. */
  find(holder: string, question: Question): Grant | undefined {
    const held = this.#held.get(holder);
    if (held === undefined) return undefined;
    if (held instanceof Grant) return question.isAllowedBy(held.role.rules) ? held : undefined;
    if (held.size > fewRoles) return this.#findAmongMany(held, question);
    for (const [role, grants] of held) if (question.isAllowedBy(role.rules)) return firstOf(grants);
    return undefined;
  }

  #findAmongMany(held: ReadonlyMap<RoleEntry, Few<Grant>>, question: Question): Grant | undefined {
    const role = this.#topics.of(held).find(question, question.topics());
    const grants = role && held.get(role);
    return grants && firstOf(grants);
  }

  /** Everything that the holder has. */
  *grants(holder: string): Generator<Grant> {
    const held = this.#held.get(holder);
    if (held !== undefined) yield* grantsIn(held);
  }

  /** Shows what everybody has, holder by holder. */
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
  else for (const grants of held.values()) yield* allOf(grants);
}
