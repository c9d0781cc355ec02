import { isDeepStrictEqual } from 'node:util';
import type { ApiObject, ClusterRole, PolicyRule, RoleBinding } from '../../../api/index.ts';

/** Whether an object is a Role or a ClusterRole, by the resource of the write. */
export function isRole(resource: string, _object: ApiObject): _object is ClusterRole {
  return resource === 'roles' || resource === 'clusterroles';
}

/** Whether an object is a RoleBinding or a ClusterRoleBinding, by the resource of the write. */
export function isBinding(resource: string, _object: ApiObject): _object is RoleBinding {
  return resource === 'rolebindings' || resource === 'clusterrolebindings';
}

/** Whether a write changes more than the metadata that the garbage collector and the server itself maintain. */
export function changesPolicy(next: ApiObject, old: ApiObject | undefined): boolean {
  return old === undefined || !isDeepStrictEqual(contentOf(next), contentOf(old));
}

function contentOf({ metadata = {}, ...content }: ApiObject): unknown {
  const {
    ownerReferences: _owners,
    finalizers: _finalizers,
    managedFields: _managed,
    resourceVersion: _version,
    generation: _generation,
    ...kept
  } = metadata;
  return { ...content, metadata: kept };
}

/** A rule as the reference writes it in messages. */
export function formatRule(rule: PolicyRule): string {
  const { apiGroups = [], resources = [], nonResourceURLs = [], resourceNames = [], verbs } = rule;
  const parts = [
    ['APIGroups', apiGroups],
    ['Resources', resources],
    ['NonResourceURLs', nonResourceURLs],
    ['ResourceNames', resourceNames],
    ['Verbs', verbs],
  ] as const;
  const texts = parts
    .filter(([, values]) => values.length > 0)
    .map(([name, values]) => `${name}:${formatList(values)}`);
  return `{${texts.join(', ')}}`;
}

/** `["a" "b"]` */
export function formatList(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(' ')}]`;
}
