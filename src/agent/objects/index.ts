/** What the API has for the pods of this node: the ConfigMaps, Secrets and trust bundles that they name, and the Services. */

export { withApiService } from './api-service.ts';
export { NodeObjects, type NodeObjectsOptions } from './node-objects.ts';
export { type KnownServices, NodeServices, servicesWithoutApi } from './services.ts';
export type { BundleChoice, TrustAnchors } from './trust-anchors.ts';
export type { Known, ObjectName, PodObjects } from './types.ts';
export { untilKnown } from './until-known.ts';
export { objectsWithoutApi } from './without-api.ts';
