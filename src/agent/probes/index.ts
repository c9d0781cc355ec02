/** Whether containers have started, are ready and are alive: the probes of pods, and the requests that hooks share with them. */
export { ProbeCommands } from './commands.ts';
export { askHttp, HttpGetError, type HttpRequest, httpRequestOf } from './http-get.ts';
export { ProbeMetrics } from './metrics.ts';
export {
  type ContainerProbes,
  hasProbes,
  type ProbedPod,
  type ProbeTarget,
  type ProbeWait,
} from './probed-container.ts';
export { type FrozenContainers, type PodProbes, Prober, type ProberOptions } from './prober.ts';
export { joinHostPort, type ProbePlace } from './types.ts';
