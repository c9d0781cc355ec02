import type { RoleRef, Subject } from '../../../api/index.ts';
import type { User } from '../../authn/index.ts';
import type { Fault } from './grant.ts';
import { findFault, Grant, holderOf } from './grant.ts';
import type { GrantVisitor } from './holders.ts';
import type { Question } from './question.ts';
import type { RoleId, RoleReader } from './role-entry.ts';
import { RoleEntry } from './role-entry.ts';
import { RoleIndexCache } from './role-index.ts';
import { Scope } from './scope.ts';

/*
 * Bindings indexed by their subjects, so that a decision examines only the grants of its user and groups:
 *
 *     scopes: namespace ('' for the cluster) ──► users, groups: name ──► grants ──► role ──► compiled rules
 *
 * A decision about a namespace examines two scopes. Only roles that some binding refers to are kept, whether they exist or
 * not; after a change of a role its rules are read again, and a change of a binding replaces its grants.
 */

/** The relevant part of a binding. */
export interface BindingPolicy {
  readonly roleRef: RoleRef;
  readonly subjects?: readonly Subject[];
}

type Part = Grant | Fault;

/** Which role is granted to whom and in which scope, as of the last change that was passed to it. */
export class PolicyIndex {
  readonly #reader: RoleReader;
  readonly #scopes = new Map<string, Scope>();
  readonly #roles = new Map<string, RoleEntry>();
  /** The grants and faults of each binding: mostly a single grant. */
  readonly #bindings = new Map<string, Part | readonly Part[]>();
  readonly #roleIndexes = new RoleIndexCache();
  /** The number of granted roles that do not exist, and of faults of subjects. */
  #dangling = 0;
  #faults = 0;

  constructor(reader: RoleReader) {
    this.#reader = reader;
  }

  /** The number of bindings with a grant or a fault. */
  get size(): number {
    return this.#bindings.size;
  }

  /** Whether any decision can have an error to report. */
  get isFaulty(): boolean {
    return this.#dangling + this.#faults > 0;
  }

  /**
   * Sets the current state of a binding; undefined after its deletion. `key` is unique and ends with the binding's name;
   * `namespace` is empty for a ClusterRoleBinding.
   */
  setBinding(key: string, namespace: string, binding: BindingPolicy | undefined): void {
    const before = this.#bindings.get(key);
    if (before !== undefined) {
      this.#bindings.delete(key);
      this.#remove(namespace, Array.isArray(before) ? before : [before]);
    }
    if (binding === undefined) return;
    const parts = this.#partsOf(key, namespace, binding);
    const [first] = parts;
    if (first !== undefined) this.#bindings.set(key, parts.length === 1 ? first : parts);
  }

  /** Has to be called when a role was created, changed or deleted. */
  roleChanged(id: RoleId, exists: boolean): void {
    const role = this.#roles.get(roleKey(id));
    if (role === undefined) return;
    this.#roleIndexes.clear();
    if (role.exists !== exists) this.#dangling += exists ? -1 : 1;
    role.changed(exists);
  }

  /** Finds a grant that allows a user the question in a namespace, or in the cluster when `namespace` is empty. */
  find(user: User, namespace: string, question: Question): Grant | undefined {
    const everywhere = this.#scopes.get('')?.find(user, question);
    if (everywhere !== undefined || namespace === '') return everywhere;
    return this.#scopes.get(namespace)?.find(user, question);
  }

  /** The roles of a user by the bindings of a namespace alone, or of the cluster; possibly with duplicates. */
  rolesIn(namespace: string, user: User): Iterable<RoleEntry> {
    return this.#scopes.get(namespace)?.roles(user) ?? [];
  }

  /** The scopes with grants: namespaces, and the empty text for the cluster. */
  get namespaces(): Iterable<string> {
    return this.#scopes.keys();
  }

  /** The grants to a user by the bindings of a namespace alone, or of the cluster. */
  grantsIn(namespace: string, user: User): Iterable<Grant> {
    return this.#scopes.get(namespace)?.grants(user) ?? [];
  }

  /**
   * Visits all grants by the bindings of a namespace alone, or of the cluster: first those of users, then those of groups,
   * the grants of one holder consecutively. There can be very many: nothing is allocated for them.
   */
  eachIn(namespace: string, visit: GrantVisitor): void {
    this.#scopes.get(namespace)?.each(visit);
  }

  /** The faults of subjects that may mean the user, in the bindings of a namespace or of the cluster. */
  faultsIn(namespace: string, user: User): Iterable<Fault> {
    return this.#scopes.get(namespace)?.faults(user) ?? [];
  }

  #partsOf(key: string, namespace: string, { roleRef, subjects = [] }: BindingPolicy): Part[] {
    const parts: Part[] = [];
    const scope = this.#scopes.get(namespace) ?? new Scope(this.#roleIndexes);
    for (const subject of subjects) {
      const fault = findFault(subject, key, namespace);
      if (fault !== undefined) {
        this.#faults++;
        scope.addFault(fault);
        parts.push(fault);
      }
      const holder = holderOf(subject, namespace);
      if (holder === undefined) continue;
      const grant = new Grant(key, namespace, this.#use(roleRef, namespace), holder.kind, holder.holder);
      scope.add(grant);
      parts.push(grant);
    }
    if (parts.length > 0) this.#scopes.set(namespace, scope);
    return parts;
  }

  #remove(namespace: string, parts: readonly Part[]): void {
    const scope = this.#scopes.get(namespace);
    for (const part of parts) {
      if (part instanceof Grant) {
        scope?.remove(part);
        this.#release(part.role);
      } else {
        this.#faults--;
        scope?.removeFault(part);
      }
    }
    if (scope?.isEmpty) this.#scopes.delete(namespace);
  }

  #use({ kind, name }: RoleRef, namespace: string): RoleEntry {
    const id = { kind, namespace: kind === 'ClusterRole' ? '' : namespace, name };
    const key = roleKey(id);
    const known = this.#roles.get(key);
    const role = known ?? new RoleEntry(id, this.#reader);
    role.uses++;
    if (known !== undefined) return known;
    this.#roles.set(key, role);
    if (!role.exists) this.#dangling++;
    return role;
  }

  #release(role: RoleEntry): void {
    role.uses--;
    if (role.uses > 0) return;
    this.#roles.delete(roleKey(role));
    if (!role.exists) this.#dangling--;
  }
}

function roleKey({ kind, namespace, name }: RoleId): string {
  return `${kind}/${namespace}/${name}`;
}
