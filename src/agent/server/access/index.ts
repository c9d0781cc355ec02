/** Authenticates and authorizes callers of the agent. */
export { type AccessOptions, createAccess } from './access.ts';
export { isAnonymous } from './groups.ts';
export type { ReviewApi } from './review.ts';
export type { Access, AccessSettings, Caller } from './types.ts';
