import { field, required } from '../../schema/index.ts';
import { requiredValue } from '../cause.ts';
import { ageColumn } from '../columns.ts';
import type { ApiObject, Cause, Column } from '../kind.ts';
import type { RoleRef } from './role-ref.ts';
import { roleRef, roleRefCauses } from './role-ref.ts';
import type { Subject } from './subject.ts';
import { defaultSubjects, subjectCauses, subjects, subjectWarnings } from './subject.ts';

/*
 * What RoleBinding and ClusterRoleBinding have in common. The group of RBAC has a configured suffix, and both
 * defaults and rules need the whole name; they take it from the object's apiVersion, which decoding always fills in.
 */

export const bindingFields = {
  subjects: field(2, subjects, 'To whom the role is given.'),
  roleRef: required(3, roleRef, 'The role; it cannot be changed.'),
};

export interface Binding extends ApiObject {
  subjects?: Subject[];
  roleRef: RoleRef;
}

/** `rbac.authorization.k8s.io`, with the suffix of the object's own group. */
function groupOf({ apiVersion = '' }: ApiObject): string {
  return apiVersion.split('/', 1)[0] ?? '';
}

/** Fills in absent groups: that of RBAC for the role, users and groups. */
export function defaultBinding<B extends Binding>(binding: B): B {
  const group = groupOf(binding);
  const { subjects: given, roleRef: ref } = binding;
  const named = ref === undefined || ref.apiGroup ? {} : { roleRef: { ...ref, apiGroup: group } };
  return { ...binding, ...defaultSubjects(given, group), ...named };
}

/** The causes why a binding that may refer to roles of these kinds is invalid; one that may refer to a Role has a namespace. */
export function bindingCauses(next: Binding, old: Binding | undefined, kinds: readonly string[]): Cause[] {
  const group = groupOf(next);
  if (group === '') return [requiredValue('apiVersion')];
  const around = { group, namespaced: kinds.includes('Role') };
  return [
    ...roleRefCauses(next.roleRef, old?.roleRef, group, kinds),
    ...subjectCauses(next.subjects, around),
  ];
}

export function bindingWarnings({ subjects: given }: Binding): string[] {
  return subjectWarnings(given);
}

export const bindingColumns: readonly Column<Binding>[] = [
  {
    name: 'Role',
    type: 'string',
    description: 'The role that is given.',
    priority: 0,
    value: ({ roleRef: ref }) => (ref === undefined ? '' : `${ref.kind}/${ref.name}`),
  },
  ageColumn,
  subjectColumn('Users', 'User', 'Users to whom the role is given.'),
  subjectColumn('Groups', 'Group', 'Groups to whom the role is given.'),
  subjectColumn('ServiceAccounts', 'ServiceAccount', 'Service accounts to whom the role is given.'),
];

function subjectColumn(name: string, kind: string, description: string): Column<Binding> {
  return {
    name,
    type: 'string',
    description,
    priority: 1,
    value: ({ subjects: given = [] }) =>
      given
        .filter((each) => each.kind === kind)
        .map((each) => (kind === 'ServiceAccount' && each.namespace ? `${each.namespace}/` : '') + each.name)
        .join(', '),
  };
}
