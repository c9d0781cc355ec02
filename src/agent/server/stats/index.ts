/** The pods that run on this node, and their usage of it. */
export { createNodeUsage, type NodeUsage, type NodeUsageOptions } from './node-usage.ts';
export { type StatsRoutesOptions, statsRoutes } from './routes.ts';
export { RuntimeSource, type RuntimeSourceOptions } from './runtime-source.ts';
