/** The pods that are meant for this node: those of manifests on it, and those of the API. */

export { type PodMetrics, podMetrics } from './metrics.ts';
export { type MirrorPodsOptions, mirrorPods } from './mirror/mirror-pods.ts';
export {
  agentAnnotation,
  agentMark,
  annotationOf,
  fullName,
  mirrorAnnotation,
  originOf,
  sourceAnnotation,
} from './names.ts';
export { ApiPods, type ApiPodsOptions } from './sources/api-pods.ts';
export { formatStaticPods, staticPodRoutes } from './sources/routes.ts';
export { joinSources } from './sources/source.ts';
export { createStaticPods, type StaticPods } from './sources/static-pods.ts';
export { UrlPods } from './sources/url-pods.ts';
export { listRefused, type RefusedManifest } from './sources/verdicts.ts';
export type { PodSource } from './types.ts';
export { PodRuntimeView } from './view/runtime-view.ts';
