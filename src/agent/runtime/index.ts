/** The container runtime of this node, spoken to over CRI. */
export { type CallMetrics, callMetrics, measureCalls } from './call-metrics.ts';
export { connectRuntime, type RuntimeOptions } from './connect.ts';
export { type CallOptions, type Connection, type ConnectionOptions, openConnection } from './connection.ts';
export { defaultEndpoints, findExistingEndpoint, parseEndpoint } from './endpoint.ts';
export { RuntimeError, type RuntimeFailure } from './errors.ts';
export {
  CgroupDriver as CriCgroupDriver,
  ContainerState as CriContainerState,
  ImageService,
  PodSandboxState as CriSandboxState,
  RuntimeService,
} from './gen/cri_pb.js';
export {
  type ContainerConfig,
  type LinuxResources,
  type PodCalls,
  type PodCallsOptions,
  podCalls,
  type SandboxConfig,
} from './pod-calls.ts';
export { type StreamCalls, type StreamWishes, streamCalls } from './stream-calls.ts';
export { readTaskState } from './tasks.ts';
export type {
  CheckpointHints,
  ContainerFacts,
  DumpFolder,
  FoundContainer,
  FoundMember,
  Hold,
  Pause,
  Released,
  Runtime,
  RuntimeStatus,
  TaskState,
  Thawed,
} from './types.ts';
