import type { RoleRef, Subject } from '../../../api/index.ts';
import type { User } from '../../authn/index.ts';
import type { Fault } from './grant.ts';
import { faultOf, Grant, holderOf } from './grant.ts';
import type { GrantVisitor } from './holders.ts';
import type { Question } from './question.ts';
import type { RoleId, RoleReader } from './role-entry.ts';
import { RoleEntry } from './role-entry.ts';
import { TopicMemory } from './roles-by-topic.ts';
import { Scope } from './scope.ts';

/*
 * Bindings by whom they give something to, so that a decision looks only at what its user and groups have:
 *
 *     scopes: namespace ('' for the cluster) ──► users, groups: name ──► grants ──► role ──► compiled rules
 *
 * A decision about a namespace looks into two scopes. Only roles that some binding gives are kept, whether they are
 * there or not; a change of a role makes its rules be read again, a change of a binding replaces its grants.
 */

/** What of a binding counts here. */
export interface BindingPolicy {
  readonly roleRef: RoleRef;
  readonly subjects?: readonly Subject[];
}

type Part = Grant | Fault;

/** Which role is given to whom and where, as of the last change that it was told of. */
export class PolicyIndex {
  readonly #reader: RoleReader;
  readonly #scopes = new Map<string, Scope>();
  readonly #roles = new Map<string, RoleEntry>();
  /** What each binding has put into its scope: of most the one grant. */
  readonly #bindings = new Map<string, Part | readonly Part[]>();
  readonly #topics = new TopicMemory();
  /** How many roles are given that are not there, and how many faults subjects have. */
  #dangling = 0;
  #faults = 0;

  constructor(reader: RoleReader) {
    this.#reader = reader;
  }

  /** How many bindings there are that give something to somebody. */
  get size(): number {
    return this.#bindings.size;
  }

  /** Whether any decision can have something to report. */
  get isFaulty(): boolean {
    return this.#dangling + this.#faults > 0;
  }

  /**
   * A binding is like this now, or is gone. `key` is its own and ends in its name; `namespace` is empty for a
   * ClusterRoleBinding.
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

  /** A role was made, changed or deleted. */
  roleChanged(id: RoleId, exists: boolean): void {
    const role = this.#roles.get(roleKey(id));
    if (role === undefined) return;
    this.#topics.clear();
    if (role.exists !== exists) this.#dangling += exists ? -1 : 1;
    role.changed(exists);
  }

  /** A grant by which a user may do what is asked in a namespace, or in the cluster where that is empty. */
  find(user: User, namespace: string, question: Question): Grant | undefined {
    const everywhere = this.#scopes.get('')?.find(user, question);
    if (everywhere !== undefined || namespace === '') return everywhere;
    return this.#scopes.get(namespace)?.find(user, question);
  }

  /** The roles that a user has by the bindings of a namespace alone, or of the cluster; some perhaps twice. */
  rolesIn(namespace: string, user: User): Iterable<RoleEntry> {
    return this.#scopes.get(namespace)?.roles(user) ?? [];
  }

  /** Where anything is granted: namespaces, and the empty text for the cluster. */
  get namespaces(): Iterable<string> {
    return this.#scopes.keys();
  }

  /** What a user has by the bindings of a namespace alone, or of the cluster. */
  grantsIn(namespace: string, user: User): Iterable<Grant> {
    return this.#scopes.get(namespace)?.grants(user) ?? [];
  }

  /**
   * Shows what everybody has by the bindings of a namespace alone, or of the cluster: first users, then groups, all that
   * one holder has in a row. There can be very many: nothing is allocated for them.
   */
  eachIn(namespace: string, visit: GrantVisitor): void {
    this.#scopes.get(namespace)?.each(visit);
  }

  /** What is wrong with subjects that may be the user, in the bindings of a namespace or of the cluster. */
  faultsIn(namespace: string, user: User): Iterable<Fault> {
    return this.#scopes.get(namespace)?.faults(user) ?? [];
  }

  #partsOf(key: string, namespace: string, { roleRef, subjects = [] }: BindingPolicy): Part[] {
    const parts: Part[] = [];
    const scope = this.#scopes.get(namespace) ?? new Scope(this.#topics);
    for (const subject of subjects) {
      const fault = faultOf(subject, key, namespace);
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
