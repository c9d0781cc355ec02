/** The ResourceClaims of the pods of this node, prepared and unprepared by their drivers. */
export { PodClaims, type PodClaimsOptions } from './pod-claims.ts';
export { type ResourceClaim, resourceClaim } from './resource-claim.ts';
