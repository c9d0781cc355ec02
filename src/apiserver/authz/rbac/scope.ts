import type { User } from '../../authn/index.ts';
import type { Few } from './few.ts';
import { allOf, withOne, withoutOne } from './few.ts';
import type { Fault, Grant } from './grant.ts';
import type { GrantVisitor } from './holders.ts';
import { Holders } from './holders.ts';
import type { Question } from './question.ts';
import type { RoleEntry } from './role-entry.ts';
import type { TopicMemory } from './roles-by-topic.ts';

/** What the bindings of one namespace grant, or those of the cluster. */
export class Scope {
  readonly #users: Holders;
  readonly #groups: Holders;
  /** By the user or group that they matter to, with its kind before it; made when there are some. */
  #faults: Map<string, Few<Fault>> | undefined;

  constructor(topics: TopicMemory) {
    this.#users = new Holders(topics);
    this.#groups = new Holders(topics);
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
    this.#faults.set(key, withOne(this.#faults.get(key), fault));
  }

  removeFault(fault: Fault): void {
    const key = faultKey(fault.kind, fault.holder);
    const rest = withoutOne(this.#faults?.get(key), fault);
    if (rest !== undefined) this.#faults?.set(key, rest);
    else this.#faults?.delete(key);
    if (this.#faults?.size === 0) this.#faults = undefined;
  }

  /** A grant by which the user, or one of its groups, may do what is asked. */
  find({ name, groups }: User, question: Question): Grant | undefined {
    const own = this.#users.find(name, question);
    if (own !== undefined) return own;
    for (const group of groups) {
      const grant = this.#groups.find(group, question);
      if (grant !== undefined) return grant;
    }
    return undefined;
  }

  /** Everything that the user, or one of its groups, has. */
  *grants({ name, groups }: User): Generator<Grant> {
    yield* this.#users.grants(name);
    for (const group of groups) yield* this.#groups.grants(group);
  }

  /** Shows what everybody has, holder by holder. */
  each(visit: GrantVisitor): void {
    this.#users.each(visit);
    this.#groups.each(visit);
  }

  /** The roles that the user has, some perhaps twice. */
  *roles({ name, groups }: User): Generator<RoleEntry> {
    yield* this.#users.roles(name);
    for (const group of groups) yield* this.#groups.roles(group);
  }

  /** What is wrong with subjects, as far as it may matter to the user. */
  *faults({ name, groups }: User): Generator<Fault> {
    if (this.#faults === undefined) return;
    yield* allOf(this.#faults.get(faultKey(undefined, '')));
    yield* allOf(this.#faults.get(faultKey('User', name)));
    for (const group of groups) yield* allOf(this.#faults.get(faultKey('Group', group)));
  }

  #of({ kind }: Grant): Holders {
    return kind === 'Group' ? this.#groups : this.#users;
  }
}

function faultKey(kind: Fault['kind'], holder: string): string {
  return `${kind ?? ''} ${holder}`;
}
