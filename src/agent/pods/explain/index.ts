/** Why a pod is as it is: for people, by `GET /pods/explain` and `nodeward pods explain`. */
export {
  type ContainerExplanation,
  type ExplainInput,
  explainPod,
  type FullDisk,
  findMainWait,
  type PodExplanation,
} from './explain.ts';
export { findReason, knownReason, type PodReason, podReasons } from './reasons.ts';
export { type Explainer, explainRoutes } from './routes.ts';
export { PodTimeline, type TimelineEntry } from './timeline.ts';
export { WaitTimes } from './wait-times.ts';
