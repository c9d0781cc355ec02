import type { User } from './user.ts';
import { authenticatedGroup } from './user.ts';

/** The group of all service accounts; those of one namespace have another one, with its name behind a colon. */
export const serviceAccountsGroup = 'system:serviceaccounts';

/** The user that a service account is. */
export function serviceAccountUserName(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`;
}

const userName = /^system:serviceaccount:([^:]+):([^:]+)$/;

/** The service account that a user is; undefined for everybody else. */
export function serviceAccountOf(user: string): { namespace: string; name: string } | undefined {
  const [, namespace, name] = userName.exec(user) ?? [];
  return namespace === undefined || name === undefined ? undefined : { namespace, name };
}

/** The groups that every service account of a namespace is in. */
export function serviceAccountGroups(namespace: string): string[] {
  return [serviceAccountsGroup, `${serviceAccountsGroup}:${namespace}`];
}

/** Who acts with the credentials of a service account. */
export function serviceAccountUser(
  { namespace, name, uid }: { namespace: string; name: string; uid: string },
  extra: User['extra'],
): User {
  return {
    name: serviceAccountUserName(namespace, name),
    uid,
    groups: [...serviceAccountGroups(namespace), authenticatedGroup],
    extra,
  };
}
