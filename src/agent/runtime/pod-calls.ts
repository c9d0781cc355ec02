import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Connection } from './connection.ts';
import { RuntimeError } from './errors.ts';
import type {
  Container,
  ContainerConfigSchema,
  ContainerEventResponse,
  ContainerStatus,
  LinuxContainerResourcesSchema,
  PodSandbox,
  PodSandboxConfigSchema,
  PodSandboxStatus,
} from './gen/cri_pb.js';
import { RuntimeService } from './gen/cri_pb.js';

export type SandboxConfig = MessageInitShape<typeof PodSandboxConfigSchema>;
export type ContainerConfig = MessageInitShape<typeof ContainerConfigSchema>;
export type LinuxResources = MessageInitShape<typeof LinuxContainerResourcesSchema>;

/**
 * The calls by which pods run. Each rejects with a RuntimeError; a call that ended by its deadline or by `cancel` may still be
 * carried out, so who made it looks at what there is before another try.
 */
export interface PodCalls {
  /** Resolves to the id. `handler` is empty for the default one. */
  runSandbox(config: SandboxConfig, handler: string, cancel?: AbortSignal): Promise<string>;
  /** Ends its containers and its network; one that is gone is no error. */
  stopSandbox(id: string, cancel?: AbortSignal): Promise<void>;
  removeSandbox(id: string, cancel?: AbortSignal): Promise<void>;
  createContainer(
    sandboxId: string,
    config: ContainerConfig,
    sandbox: SandboxConfig,
    cancel?: AbortSignal,
  ): Promise<string>;
  startContainer(id: string, cancel?: AbortSignal): Promise<void>;
  /** Resolves when it has ended; 0 seconds kill at once. A second call with fewer seconds overrides the first. */
  stopContainer(id: string, graceSeconds: number, cancel?: AbortSignal): Promise<void>;
  /** One that runs is killed; one that is gone is no error. */
  removeContainer(id: string, cancel?: AbortSignal): Promise<void>;
  execSync(
    id: string,
    command: readonly string[],
    timeoutSeconds: number,
    cancel?: AbortSignal,
  ): Promise<{ stdout: Uint8Array; stderr: Uint8Array; exitCode: number }>;
  reopenLog(id: string): Promise<void>;
  updateResources(id: string, resources: LinuxResources): Promise<void>;
  /** All, or those of one pod. */
  listSandboxes(podUid?: string, cancel?: AbortSignal): Promise<readonly PodSandbox[]>;
  listContainers(podUid?: string, cancel?: AbortSignal): Promise<readonly Container[]>;
  /** Undefined: there is none. */
  sandboxStatus(id: string, cancel?: AbortSignal): Promise<PodSandboxStatus | undefined>;
  containerStatus(id: string, cancel?: AbortSignal): Promise<ContainerStatus | undefined>;
  /** Ends with the connection; reason `unimplemented` where the runtime has no events. */
  events(cancel: AbortSignal): AsyncIterable<ContainerEventResponse>;
}

export interface PodCallsOptions {
  /** runtimeRequestTimeout, in milliseconds: for every call but those that wait for a workload or a registry. */
  readonly timeoutMs: number;
}

/** A sandbox with a slow network plugin takes long, as in the reference. */
const sandboxTimeoutMs = 4 * 60_000;

/** The label by which sandboxes and containers name their pod, as the reference writes it. */
const uidLabel = 'io.kubernetes.pod.uid';

export function podCalls(connection: Connection, { timeoutMs }: PodCallsOptions): PodCalls {
  const calls = RuntimeService.method;
  const within = (cancel: AbortSignal | undefined, deadlineMs = timeoutMs) =>
    cancel === undefined ? { deadlineMs } : { deadlineMs, cancel };
  const filterOf = (podUid: string | undefined) =>
    podUid === undefined ? {} : { filter: { labelSelector: { [uidLabel]: podUid } } };
  return {
    async runSandbox(config, runtimeHandler, cancel) {
      const request = { config, runtimeHandler };
      const deadlineMs = Math.max(timeoutMs, sandboxTimeoutMs);
      const made = await connection.call(calls.runPodSandbox, request, within(cancel, deadlineMs));
      return made.podSandboxId;
    },
    async stopSandbox(podSandboxId, cancel) {
      const deadlineMs = Math.max(timeoutMs, sandboxTimeoutMs);
      await unlessGone(connection.call(calls.stopPodSandbox, { podSandboxId }, within(cancel, deadlineMs)));
    },
    async removeSandbox(podSandboxId, cancel) {
      await unlessGone(connection.call(calls.removePodSandbox, { podSandboxId }, within(cancel)));
    },
    async createContainer(podSandboxId, config, sandboxConfig, cancel) {
      const request = { podSandboxId, config, sandboxConfig };
      return (await connection.call(calls.createContainer, request, within(cancel))).containerId;
    },
    async startContainer(containerId, cancel) {
      await connection.call(calls.startContainer, { containerId }, within(cancel));
    },
    async stopContainer(containerId, graceSeconds, cancel) {
      const deadlineMs = timeoutMs + graceSeconds * 1000;
      const request = { containerId, timeout: BigInt(Math.max(0, Math.ceil(graceSeconds))) };
      await unlessGone(connection.call(calls.stopContainer, request, within(cancel, deadlineMs)));
    },
    async removeContainer(containerId, cancel) {
      await unlessGone(connection.call(calls.removeContainer, { containerId }, within(cancel)));
    },
    async execSync(containerId, command, timeoutSeconds, cancel) {
      const request = { containerId, cmd: [...command], timeout: BigInt(timeoutSeconds) };
      // a deadline that is no longer than the runtime's own would hide what it answers
      const deadlineMs = timeoutSeconds === 0 ? null : timeoutMs + timeoutSeconds * 1000;
      const options = cancel === undefined ? { deadlineMs } : { deadlineMs, cancel };
      return await connection.call(calls.execSync, request, options);
    },
    async reopenLog(containerId) {
      await connection.call(calls.reopenContainerLog, { containerId }, within(undefined));
    },
    async updateResources(containerId, linux) {
      await connection.call(calls.updateContainerResources, { containerId, linux }, within(undefined));
    },
    async listSandboxes(podUid, cancel) {
      return (await connection.call(calls.listPodSandbox, filterOf(podUid), within(cancel))).items;
    },
    async listContainers(podUid, cancel) {
      return (await connection.call(calls.listContainers, filterOf(podUid), within(cancel))).containers;
    },
    async sandboxStatus(podSandboxId, cancel) {
      const found = await unlessGone(
        connection.call(calls.podSandboxStatus, { podSandboxId }, within(cancel)),
      );
      return found?.status;
    },
    async containerStatus(containerId, cancel) {
      const found = await unlessGone(connection.call(calls.containerStatus, { containerId }, within(cancel)));
      return found?.status;
    },
    events: (cancel) => connection.stream(calls.getContainerEvents, {}, { deadlineMs: null, cancel }),
  };
}

async function unlessGone<T>(calling: Promise<T>): Promise<T | undefined> {
  try {
    return await calling;
  } catch (error) {
    if (error instanceof RuntimeError && error.reason === 'notFound') return undefined;
    throw error;
  }
}
