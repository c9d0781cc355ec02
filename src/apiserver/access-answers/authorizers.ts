import type { Authorizer } from '../authz/index.ts';

/** An authorizer of the chain, as answers name it. */
export interface NamedAuthorizer {
  readonly name: string;
  readonly authorizer: Authorizer;
}

/** The name of the authorizer by roles: what the others decide is not found among bindings. */
export const rbacName = 'RBAC';
