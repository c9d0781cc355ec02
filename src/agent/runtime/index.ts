/** The container runtime of this node, spoken to over CRI. */
export { connectRuntime, type RuntimeOptions } from './connect.ts';
export { defaultEndpoints, socketPath } from './endpoint.ts';
export { RuntimeError, type RuntimeFailure } from './errors.ts';
export type { ContainerState, FoundContainer, Runtime, RuntimeStatus, TaskState, Thawed } from './types.ts';
