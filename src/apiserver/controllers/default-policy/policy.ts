import type { ClusterRole, ClusterRoleBinding, PolicyRule, Subject } from '../../../api/index.ts';

/** A default role: its labels beside those that all have, and either its rules or the roles that it aggregates. */
export interface DefaultRole {
  name: string;
  labels?: Readonly<Record<string, string>>;
  rules?: PolicyRule[];
  /** The rules are those of all roles with this label. */
  aggregates?: string;
}

export interface DefaultBinding {
  /** Of the binding and, unless it says another, of its role. */
  name: string;
  role?: string;
  groups: readonly string[];
  users?: readonly string[];
  /** Service accounts in kube-system. */
  accounts?: readonly string[];
}

/** When it is "false", a default role or binding stays as an administrator has changed it. */
export const autoUpdateAnnotation = 'rbac.authorization.kubernetes.io/autoupdate';

const annotations = { [autoUpdateAnnotation]: 'true' };
const bootstrapLabels = { 'kubernetes.io/bootstrapping': 'rbac-defaults' };

export function toRoleObject({ name, labels = {}, rules = [], aggregates }: DefaultRole): ClusterRole {
  const metadata = { name, labels: { ...bootstrapLabels, ...labels }, annotations };
  if (aggregates === undefined) return { metadata, rules };
  return { metadata, aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [aggregates]: 'true' } }] } };
}

export function toBindingObject(
  { name, role = name, groups, users = [], accounts = [] }: DefaultBinding,
  group: string,
): ClusterRoleBinding {
  const subjectsOf = (kind: string, names: readonly string[]): Subject[] =>
    names.map((each) => ({ kind, apiGroup: group, name: each }));
  const subjects: Subject[] = [
    ...subjectsOf('Group', groups),
    ...subjectsOf('User', users),
    ...accounts.map((each) => ({ kind: 'ServiceAccount', namespace: 'kube-system', name: each })),
  ];
  return {
    apiVersion: `${group}/v1`,
    metadata: { name, labels: bootstrapLabels, annotations },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: role },
    ...(subjects.length === 0 ? {} : { subjects }),
  };
}

/** `verbs` on `resources` of one group; both are lists of words separated by spaces. */
export function rule(verbs: string, group: string, resources: string): PolicyRule {
  return { verbs: verbs.split(' '), apiGroups: [group], resources: resources.split(' ') };
}

export function pathRule(...nonResourceURLs: string[]): PolicyRule {
  return { verbs: ['get'], nonResourceURLs };
}

export const read = 'get list watch';
export const write = 'create delete deletecollection patch update';
