import type { Authorizer } from '../authz/index.ts';

/** An authorizer of the chain, with its name in answers. */
export interface NamedAuthorizer {
  readonly name: string;
  readonly authorizer: Authorizer;
}

/** The name of the authorizer that decides by roles and bindings; decisions of the others do not follow from bindings. */
export const rbacName = 'RBAC';
