import type {
  AccessDiffObject,
  AccessDiffSpec,
  AccessReference,
  ApiObject,
  Cause,
  ClusterRole,
  Kind,
  RoleBinding,
} from '../../../api/index.ts';
import {
  apiVersionOf,
  clusterRoleBindingKind,
  clusterRoleKind,
  forbiddenValue,
  roleBindingKind,
  roleKind,
  unsupportedValue,
  validateMetadata,
} from '../../../api/index.ts';
import type { Registry } from '../../registry/index.ts';
import { aggregateRules } from './aggregated-rules.ts';
import type { ChangedBinding, ChangedRole, PolicyChange } from './policy-change.ts';
import { roleKey } from './policy-change.ts';

/** The change that an AccessDiff asks about; `causes` say why it is invalid. */
export interface PolicyChangeResult {
  change: PolicyChange;
  causes: readonly Cause[];
  /** Remarks for the answer. */
  notes: readonly string[];
}

type Rbac = ClusterRole & Pick<RoleBinding, 'subjects'> & Partial<Pick<RoleBinding, 'roleRef'>>;

const kinds: readonly Kind[] = [roleKind, clusterRoleKind, roleBindingKind, clusterRoleBindingKind];
const kindNames = kinds.map(({ kind }) => kind);

/** Reads the objects and deletions of an AccessDiff in order: each one applies to the result of those before it. */
export async function readPolicyChange(
  registry: Registry,
  spec: AccessDiffSpec,
): Promise<PolicyChangeResult> {
  const policy = new PolicyDraft(registry);
  const causes: Cause[] = [];
  for (const [position, object] of (spec.objects ?? []).entries()) {
    const found = policy.write(object, spec.replace === true);
    causes.push(...found.map((cause) => ({ ...cause, field: `spec.objects[${position}].${cause.field}` })));
  }
  for (const [position, reference] of (spec.deleted ?? []).entries()) {
    const found = policy.remove(reference);
    causes.push(...found.map((cause) => ({ ...cause, field: `spec.deleted[${position}].${cause.field}` })));
  }
  if (causes.length > 0) return { change: nothing, causes, notes: [] };
  return { change: await policy.change(), causes, notes: policy.notes() };
}

const nothing: PolicyChange = { bindings: new Map(), roles: new Map() };

interface Entry {
  kind: Kind;
  namespace: string;
  name: string;
  /** Undefined: it is deleted. */
  next: Rbac | undefined;
}

/** Written roles and bindings, layered over the stored ones. */
class PolicyDraft {
  readonly #registry: Registry;
  readonly #entries = new Map<string, Entry>();
  readonly #notes: string[] = [];

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  write(object: AccessDiffObject, replace: boolean): Cause[] {
    const kind = kinds.find((each) => each.kind === object.kind);
    if (kind === undefined) return [unsupportedValue('kind', object.kind, kindNames)];
    const apiVersion = apiVersionOf(kind, this.#registry.groupSuffix);
    if (object.apiVersion !== apiVersion)
      return [unsupportedValue('apiVersion', object.apiVersion, [apiVersion])];
    const { name = '', labels = {}, annotations } = object.metadata;
    const namespace = kind.namespaced ? (object.metadata.namespace ?? '') : '';
    const key = this.#keyOf(kind, namespace, name);
    const old = this.#findCurrent(kind, key);
    const kept = replace ? {} : (old?.metadata?.labels ?? {});
    const metadata = {
      name,
      ...(namespace === '' ? {} : { namespace }),
      labels: { ...kept, ...labels },
      ...(annotations === undefined ? {} : { annotations }),
    };
    const next = kind.default({ ...object, metadata });
    const causes = [...findForeignFields(kind, object), ...validateMetadata(kind, next, undefined)];
    if (causes.length === 0) causes.push(...kind.validate(next, old));
    if (causes.length === 0) this.#entries.set(key, { kind, namespace, name, next: { ...next } });
    return causes;
  }

  remove({ kind: kindName, namespace = '', name }: AccessReference): Cause[] {
    const kind = kinds.find((each) => each.kind === kindName);
    if (kind === undefined) return [unsupportedValue('kind', kindName, kindNames)];
    const place = kind.namespaced ? namespace : '';
    const key = this.#keyOf(kind, place, name);
    if (this.#findCurrent(kind, key) === undefined) {
      this.#notes.push(`there is no ${kindName} ${JSON.stringify(place === '' ? name : `${place}/${name}`)}`);
    }
    this.#entries.set(key, { kind, namespace: place, name, next: undefined });
    return [];
  }

  async change(): Promise<PolicyChange> {
    const bindings = new Map<string, ChangedBinding>();
    const roles = new Map<string, ChangedRole>();
    for (const [key, { kind, namespace, name, next }] of this.#entries) {
      if (kind === roleKind || kind === clusterRoleKind) {
        const id = { kind: kind.kind, namespace, name };
        roles.set(roleKey(id), { id, rules: next && (next.rules ?? []) });
      } else {
        const before = this.#findStored(kind, key)?.subjects ?? [];
        const { roleRef, subjects = [] } = next ?? {};
        const after = roleRef && { roleRef, subjects };
        bindings.set(key, { namespace, before, after });
      }
    }
    for (const [name, rules] of await this.#aggregateRules()) {
      const id = { kind: 'ClusterRole', namespace: '', name };
      roles.set(roleKey(id), { id, rules });
    }
    return { bindings, roles };
  }

  /** The remarks, including one for each binding to a role that will not exist. */
  notes(): string[] {
    const missing = [...this.#entries.values()].flatMap(({ kind, namespace, name, next }) => {
      const { roleRef } = next ?? {};
      if (roleRef === undefined) return [];
      const role = roleRef.kind === 'ClusterRole' ? clusterRoleKind : roleKind;
      const key = this.#keyOf(role, role.namespaced ? namespace : '', roleRef.name);
      if (this.#findCurrent(role, key) !== undefined) return [];
      const what = `${kind.kind} ${JSON.stringify(name)} gives ${roleRef.kind} ${JSON.stringify(roleRef.name)}`;
      return [`${what}, which does not exist: until it is made, nothing is given`];
    });
    return [...this.#notes, ...missing];
  }

  /** The new rules of aggregating roles, when a ClusterRole is written. */
  async #aggregateRules(): Promise<Map<string, ClusterRole['rules'] & object>> {
    const written = [...this.#entries.values()].filter(({ kind }) => kind === clusterRoleKind);
    if (written.length === 0) return new Map();
    const resource = this.#registry.of(clusterRoleKind);
    const roles = new Map<string, ClusterRole>();
    for (const stored of resource.storage.list(resource.prefix(''), '', 0).items) {
      const role = resource.encoding.read(stored);
      roles.set(role.metadata?.name ?? '', role);
    }
    for (const { name, next } of written) {
      if (next === undefined) roles.delete(name);
      else roles.set(name, next);
    }
    const { rules, isComplete } = await aggregateRules(roles);
    if (!isComplete)
      this.#notes.push('so much is gathered by aggregation rules that not all of it is looked at');
    return rules;
  }

  #findCurrent(kind: Kind, key: string): Rbac | undefined {
    const entry = this.#entries.get(key);
    return entry === undefined ? this.#findStored(kind, key) : entry.next;
  }

  #findStored(kind: Kind, key: string): Rbac | undefined {
    const { storage, encoding } = this.#registry.of(kind);
    const stored = storage.get(key);
    return stored && encoding.read(stored);
  }

  #keyOf(kind: Kind, namespace: string, name: string): string {
    return this.#registry.of(kind).prefix(namespace) + name;
  }
}

/** Finds fields of a binding in a role, and the other way round. */
function findForeignFields(kind: Kind, object: AccessDiffObject & ApiObject): Cause[] {
  const own = new Set(Object.keys(kind.root.fields));
  return Object.keys(object)
    .filter((name) => !own.has(name))
    .map((field) => forbiddenValue(field, `a ${kind.kind} has no such field`));
}
