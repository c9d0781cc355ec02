/** What runs on this node, and what is used of it. */
export { createNodeUsage, type NodeUsage, type NodeUsageOptions } from './node-usage.ts';
export { type StatsRoutesOptions, statsRoutes } from './routes.ts';
export { type RuntimeSource, type RuntimeSourceOptions, runtimeSource } from './runtime-source.ts';
