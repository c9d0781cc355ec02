import type { Subject } from '../../../api/index.ts';
import { serviceAccountUserName } from '../../authn/index.ts';
import type { RoleEntry } from './role-entry.ts';

export type SubjectKind = 'User' | 'Group' | 'ServiceAccount';

/** One subject of one binding. There can be very many: it holds nothing that can be found elsewhere. */
export class Grant {
  /** The binding's key; its last part is the binding's name. */
  readonly binding: string;
  /** Empty for a ClusterRoleBinding. */
  readonly namespace: string;
  readonly role: RoleEntry;
  readonly kind: SubjectKind;
  /** The name of the user or group; for a service account its user name. */
  readonly holder: string;

  constructor(binding: string, namespace: string, role: RoleEntry, kind: SubjectKind, holder: string) {
    this.binding = binding;
    this.namespace = namespace;
    this.role = role;
    this.kind = kind;
    this.holder = holder;
  }

  /** Why something is allowed, in the words of the reference. */
  get reason(): string {
    const { role, kind } = this;
    const subject = kind === 'ServiceAccount' ? formatAccount(this.holder) : this.holder;
    const given = `${role.kind} ${quote(role.name)} to ${kind} ${quote(subject)}`;
    return `RBAC: allowed by ${formatBinding(this.binding, this.namespace)} of ${given}`;
  }
}

/** An invalid subject of a binding. */
export interface Fault {
  /** Whom it may concern; undefined for all users. */
  readonly kind: 'User' | 'Group' | undefined;
  readonly holder: string;
  readonly text: string;
}

/** The user or group of a subject; undefined for an unknown kind, or for a service account without a namespace. */
export function holderOf(
  { kind, name, namespace }: Subject,
  bindingNamespace: string,
): { kind: SubjectKind; holder: string } | undefined {
  if (kind === 'User' || kind === 'Group') return { kind, holder: name };
  const home = namespace || bindingNamespace;
  if (kind !== 'ServiceAccount' || home === '') return undefined;
  return { kind, holder: serviceAccountUserName(home, name) };
}

/** Returns the fault of a subject that authorizers report (specification, section 2.3). */
export function findFault(subject: Subject, binding: string, bindingNamespace: string): Fault | undefined {
  const { kind, name, namespace } = subject;
  const where = `${formatBinding(binding, bindingNamespace)}: subject ${kind} ${quote(name)}`;
  if (kind === 'User' || kind === 'Group') {
    if (!namespace) return undefined;
    return { kind, holder: name, text: `${where} belongs to no namespace, but has ${quote(namespace)}` };
  }
  if (kind !== 'ServiceAccount') {
    return { kind: undefined, holder: '', text: `${where} is of a kind that is not known` };
  }
  if (namespace || bindingNamespace) return undefined;
  return { kind: undefined, holder: '', text: `${where} has no namespace` };
}

function formatBinding(key: string, namespace: string): string {
  const name = key.slice(key.lastIndexOf('/') + 1);
  return namespace === ''
    ? `ClusterRoleBinding ${quote(name)}`
    : `RoleBinding ${quote(`${name}/${namespace}`)}`;
}

/** `name/namespace` of the service account with this user name. */
function formatAccount(userName: string): string {
  const [, , namespace = '', name = ''] = userName.split(':');
  return `${name}/${namespace}`;
}

function quote(text: string): string {
  return JSON.stringify(text);
}
