import { checkName } from '../../names/index.ts';
import type { Infer } from '../../schema/index.ts';
import { field, list, required, string, struct } from '../../schema/index.ts';
import { causesOf, invalidUnless, requiredValue, unsupportedValue } from '../cause.ts';
import type { Cause } from '../kind.ts';

const subject = struct(
  'Subject',
  {
    kind: required(1, string, 'User, Group or ServiceAccount.'),
    apiGroup: field(2, string, 'Group of the kind; empty for a ServiceAccount, otherwise that of RBAC.'),
    name: required(3, string, 'Name of the user, group or service account.'),
    namespace: field(4, string, 'Namespace of a ServiceAccount; by default that of the binding.'),
  },
  { atomic: true, home: 'rbac.authorization/v1' },
);

export const subjects = list(subject);

/** A subject that a role is granted to (specification, section 2.3). */
export interface Subject extends Infer<typeof subject> {}

const subjectKinds = ['ServiceAccount', 'User', 'Group'];

/** Fills in absent groups by kind; `group` is the group of RBAC with its suffix. */
export function defaultSubjects(
  given: readonly Subject[] | undefined,
  group: string,
): { subjects?: Subject[] } {
  if (given === undefined) return {};
  return {
    subjects: given.map((each) => (each.apiGroup || !isOfGroup(each) ? each : { ...each, apiGroup: group })),
  };
}

/** A binding, as far as the rules for its subjects depend on it. */
interface Around {
  /** The group of RBAC with its suffix. */
  group: string;
  /** Whether it has a namespace of its own, which a service account without one then belongs to. */
  namespaced: boolean;
}

/** The causes why the subjects of a binding are invalid. */
export function subjectCauses(given: readonly Subject[] = [], { group, namespaced }: Around): Cause[] {
  return causesOf(given, (each, index) => {
    const path = `subjects[${index}]`;
    const causes = each.name === '' ? [requiredValue(`${path}.name`)] : [];
    if (!subjectKinds.includes(each.kind)) {
      return [...causes, unsupportedValue(`${path}.kind`, each.kind, subjectKinds)];
    }
    if (!isOfGroup(each)) return [...causes, ...accountCauses(each, path, namespaced)];
    if (each.apiGroup === group) return causes;
    return [...causes, unsupportedValue(`${path}.apiGroup`, each.apiGroup ?? '', [group])];
  });
}

function accountCauses({ name, namespace, apiGroup }: Subject, path: string, namespaced: boolean): Cause[] {
  return [
    ...(name === '' ? [] : invalidUnless(`${path}.name`, name, checkName('subdomain', name))),
    ...(apiGroup ? [unsupportedValue(`${path}.apiGroup`, apiGroup, [''])] : []),
    ...(namespace || namespaced ? [] : [requiredValue(`${path}.namespace`)]),
  ];
}

/** Users and groups belong to no namespace: a namespace is kept, but has no effect. */
export function subjectWarnings(given: readonly Subject[] = []): string[] {
  return given.flatMap(({ kind, name, namespace }, index) =>
    namespace && (kind === 'User' || kind === 'Group')
      ? [`subjects[${index}].namespace: the ${kind} ${JSON.stringify(name)} belongs to no namespace`]
      : [],
  );
}

/** Whether the kind is one of RBAC's own group. */
function isOfGroup({ kind }: Subject): boolean {
  return kind === 'User' || kind === 'Group';
}
