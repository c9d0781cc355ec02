import type { Subject } from '../../../api/index.ts';
import { serviceAccountUserName } from '../../authn/index.ts';
import type { RoleEntry } from './role-entry.ts';

export type SubjectKind = 'User' | 'Group' | 'ServiceAccount';

/** One subject of one binding. There can be many: it holds only what is not found elsewhere. */
export class Grant {
  /** The binding's key; its last part is the binding's name. */
  readonly binding: string;
  /** Empty for a ClusterRoleBinding. */
  readonly namespace: string;
  readonly role: RoleEntry;
  readonly kind: SubjectKind;
  /** The user or group that has it; for a service account the user that it is. */
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
    const subject = kind === 'ServiceAccount' ? accountIn(this.holder) : this.holder;
    const given = `${role.kind} ${quoted(role.name)} to ${kind} ${quoted(subject)}`;
    return `RBAC: allowed by ${bindingText(this.binding, this.namespace)} of ${given}`;
  }
}

/** A subject of a binding that is not as it should be. */
export interface Fault {
  /** To whom it may matter; undefined for everybody. */
  readonly kind: 'User' | 'Group' | undefined;
  readonly holder: string;
  readonly text: string;
}

/** The user or group that a subject is; undefined for a kind that RBAC does not know, or an account of no namespace. */
export function holderOf(
  { kind, name, namespace }: Subject,
  bindingNamespace: string,
): { kind: SubjectKind; holder: string } | undefined {
  if (kind === 'User' || kind === 'Group') return { kind, holder: name };
  const home = namespace || bindingNamespace;
  if (kind !== 'ServiceAccount' || home === '') return undefined;
  return { kind, holder: serviceAccountUserName(home, name) };
}

/** What an authorizer has to report of a subject (specification, section 2.3). */
export function faultOf(subject: Subject, binding: string, bindingNamespace: string): Fault | undefined {
  const { kind, name, namespace } = subject;
  const where = `${bindingText(binding, bindingNamespace)}: subject ${kind} ${quoted(name)}`;
  if (kind === 'User' || kind === 'Group') {
    if (!namespace) return undefined;
    return { kind, holder: name, text: `${where} belongs to no namespace, but has ${quoted(namespace)}` };
  }
  if (kind !== 'ServiceAccount') {
    return { kind: undefined, holder: '', text: `${where} is of a kind that is not known` };
  }
  if (namespace || bindingNamespace) return undefined;
  return { kind: undefined, holder: '', text: `${where} has no namespace` };
}

function bindingText(key: string, namespace: string): string {
  const name = key.slice(key.lastIndexOf('/') + 1);
  return namespace === ''
    ? `ClusterRoleBinding ${quoted(name)}`
    : `RoleBinding ${quoted(`${name}/${namespace}`)}`;
}

/** `name/namespace` of the service account that a user is. */
function accountIn(userName: string): string {
  const [, , namespace = '', name = ''] = userName.split(':');
  return `${name}/${namespace}`;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
