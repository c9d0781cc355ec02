import type { User } from './user.ts';
import { authenticatedGroup } from './user.ts';

/** The group of all service accounts; those of one namespace have another one, with its name behind a colon. */
export const serviceAccountsGroup = 'system:serviceaccounts';

/** The user that a service account is. */
export function serviceAccountUserName(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`;
}

/** Who acts with the credentials of a service account. */
export function serviceAccountUser(
  { namespace, name, uid }: { namespace: string; name: string; uid: string },
  extra: User['extra'],
): User {
  return {
    name: serviceAccountUserName(namespace, name),
    uid,
    groups: [serviceAccountsGroup, `${serviceAccountsGroup}:${namespace}`, authenticatedGroup],
    extra,
  };
}
