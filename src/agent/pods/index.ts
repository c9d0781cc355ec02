/** The pods that are meant for this node: those of manifests on it, and those of the API. */
export { ApiPods, type ApiPodsOptions } from './api-pods.ts';
export { type PodMetrics, podMetrics } from './metrics.ts';
export { type MirrorPodsOptions, mirrorPods } from './mirror-pods.ts';
export { formatStaticPods, staticPodRoutes } from './routes.ts';
export { joinSources } from './source.ts';
export { createStaticPods, type StaticPods } from './static-pods.ts';
export type { PodSource } from './types.ts';
