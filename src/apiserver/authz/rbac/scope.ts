import type { User } from '../../authn/index.ts';
import type { CompactSet } from './compact-set.ts';
import { addItem, itemsOf, removeItem } from './compact-set.ts';
import type { Fault, Grant } from './grant.ts';
import type { GrantVisitor } from './holders.ts';
import { Holders } from './holders.ts';
import type { Question } from './question.ts';
import type { RoleEntry } from './role-entry.ts';
import type { RoleIndexCache } from './role-index.ts';

/** The grants by the bindings of one namespace, or of the cluster. */
export class Scope {
  readonly #users: Holders;
  readonly #groups: Holders;
  /** By the kind and name of the user or group that they concern; undefined while there are none. */
  #faults: Map<string, CompactSet<Fault>> | undefined;

  constructor(roleIndexes: RoleIndexCache) {
    this.#users = new Holders(roleIndexes);
    this.#groups = new Holders(roleIndexes);
  }

  get isEmpty(): boolean {
    return this.#users.isEmpty && this.#groups.isEmpty && this.#faults === undefined;
  }

  add(grant: Grant): void {
    this.#of(grant).add(grant);
  }

  remove(grant: Grant): void {
    this.#of(grant).remove(grant);
  }

  addFault(fault: Fault): void {
    this.#faults ??= new Map();
    const key = faultKey(fault.kind, fault.holder);
    this.#faults.set(key, addItem(this.#faults.get(key), fault));
  }

  removeFault(fault: Fault): void {
    const key = faultKey(fault.kind, fault.holder);
    const rest = removeItem(this.#faults?.get(key), fault);
    if (rest !== undefined) this.#faults?.set(key, rest);
    else this.#faults?.delete(key);
    if (this.#faults?.size === 0) this.#faults = undefined;
  }

  /** Finds a grant to the user or one of its groups that allows the question. */
  find({ name, groups }: User, question: Question): Grant | undefined {
    const own = this.#users.find(name, question);
    if (own !== undefined) return own;
    for (const group of groups) {
      const grant = this.#groups.find(group, question);
      if (grant !== undefined) return grant;
    }
    return undefined;
  }

  /** All grants to the user and its groups. */
  *grants({ name, groups }: User): Generator<Grant> {
    yield* this.#users.grants(name);
    for (const group of groups) yield* this.#groups.grants(group);
  }

  /** Visits all grants, holder by holder. */
  each(visit: GrantVisitor): void {
    this.#users.each(visit);
    this.#groups.each(visit);
  }

  /** The roles of the user and its groups, possibly with duplicates. */
  *roles({ name, groups }: User): Generator<RoleEntry> {
    yield* this.#users.roles(name);
    for (const group of groups) yield* this.#groups.roles(group);
  }

  /** The faults of subjects that may concern the user. */
  *faults({ name, groups }: User): Generator<Fault> {
    if (this.#faults === undefined) return;
    yield* itemsOf(this.#faults.get(faultKey(undefined, '')));
    yield* itemsOf(this.#faults.get(faultKey('User', name)));
    for (const group of groups) yield* itemsOf(this.#faults.get(faultKey('Group', group)));
  }

  #of({ kind }: Grant): Holders {
    return kind === 'Group' ? this.#groups : this.#users;
  }
}

function faultKey(kind: Fault['kind'], holder: string): string {
  return `${kind ?? ''} ${holder}`;
}
