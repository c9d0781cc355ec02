/** The pods that run on this node, and their usage of it. */
export { createNodeUsage, type NodeUsage } from './node-usage.ts';
export type { ClaimUse, OwnUsageOptions } from './own-usage.ts';
export { statsRoutes } from './routes.ts';
export { RuntimeSource } from './runtime-source.ts';
