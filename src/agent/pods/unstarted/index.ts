/** What the agent says of pods that it does not run: to be removed when it runs them. */
export { type RuntimePods, readRuntimePods } from './runtime-pods.ts';
export { runsNoPodsTaint, type UnstartedPodsOptions, unstartedPods } from './service.ts';
