/** Who calls the agent, and what they may. */
export { type AccessOptions, createAccess } from './access.ts';
export type { ReviewApi } from './review.ts';
export type { Access, AccessSettings, Caller, Identified, Shown, Unknown, Verdict, Wanted } from './types.ts';
