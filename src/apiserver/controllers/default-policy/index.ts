export { ensureDefaultPolicy } from './ensure.ts';
export { authenticationConfigName, roleNamespace } from './namespaced-roles.ts';
