import { create } from '@bufbuild/protobuf';
import type { ContainerView, PodView, SandboxView } from '../../src/agent/pods/view/types.ts';
import type {
  Container,
  ContainerStatus,
  PodSandbox,
  PodSandboxStatus,
} from '../../src/agent/runtime/gen/cri_pb.js';
import {
  ContainerSchema,
  ContainerState,
  ContainerStatusSchema,
  NamespaceMode,
  PodSandboxSchema,
  PodSandboxState,
  PodSandboxStatusSchema,
} from '../../src/agent/runtime/gen/cri_pb.js';
import type { ContainerConfig, LinuxResources, SandboxConfig } from '../../src/agent/runtime/index.ts';

/* What a simulated runtime has, as the CRI and as the agent's view say it. */

export interface SimulatedSandbox {
  readonly id: string;
  readonly name: string;
  readonly config: SandboxConfig;
  readonly handler: string;
  readonly createdMs: number;
  isReady: boolean;
  /** Freed only by a stop. */
  hasNetwork: boolean;
  ips: readonly string[];
}

type GivenLimits = Pick<LinuxResources, 'cpuPeriod' | 'cpuQuota' | 'cpuShares' | 'memoryLimitInBytes'>;

/** Without what is only for the kernel. */
export function toGiven({ cpuPeriod, cpuQuota, cpuShares, memoryLimitInBytes }: LinuxResources): GivenLimits {
  return {
    ...(cpuPeriod === undefined ? {} : { cpuPeriod }),
    ...(cpuQuota === undefined ? {} : { cpuQuota }),
    ...(cpuShares === undefined ? {} : { cpuShares }),
    ...(memoryLimitInBytes === undefined ? {} : { memoryLimitInBytes }),
  };
}

export interface SimulatedContainer {
  readonly id: string;
  readonly name: string;
  readonly sandboxId: string;
  readonly config: ContainerConfig;
  readonly createdMs: number;
  /** As it was made, or updated since. */
  resources: GivenLimits;
  state: 'created' | 'running' | 'exited' | 'unknown';
  startedMs: number | undefined;
  finishedMs: number | undefined;
  exitCode: number;
  reason: string;
  message: string;
}

const states = {
  created: ContainerState.CONTAINER_CREATED,
  running: ContainerState.CONTAINER_RUNNING,
  exited: ContainerState.CONTAINER_EXITED,
  unknown: ContainerState.CONTAINER_UNKNOWN,
};

const nanoseconds = (ms: number | undefined): bigint => BigInt(Math.round(ms ?? 0)) * 1_000_000n;

export function toListedSandbox({ id, config, handler, createdMs, isReady }: SimulatedSandbox): PodSandbox {
  return create(PodSandboxSchema, {
    ...withMetadata(config.metadata),
    id,
    state: isReady ? PodSandboxState.SANDBOX_READY : PodSandboxState.SANDBOX_NOTREADY,
    createdAt: nanoseconds(createdMs),
    labels: config.labels ?? {},
    annotations: config.annotations ?? {},
    runtimeHandler: handler,
  });
}

export function toSandboxStatus(sandbox: SimulatedSandbox): PodSandboxStatus {
  const { config, ips } = sandbox;
  const { id, state, createdAt, runtimeHandler, labels, annotations } = toListedSandbox(sandbox);
  const [ip = '', ...more] = ips;
  const options = config.linux?.securityContext?.namespaceOptions;
  return create(PodSandboxStatusSchema, {
    ...withMetadata(config.metadata),
    id,
    state,
    createdAt,
    runtimeHandler,
    labels,
    annotations,
    network: { ip, additionalIps: more.map((each) => ({ ip: each })) },
    ...(options === undefined ? {} : { linux: { namespaces: { options } } }),
  });
}

export function toListedContainer(container: SimulatedContainer): Container {
  const { id, sandboxId, config, state, createdMs } = container;
  return create(ContainerSchema, {
    ...withMetadata(config.metadata),
    ...withImage(config),
    id,
    podSandboxId: sandboxId,
    imageRef: config.image?.image ?? '',
    imageId: config.image?.image ?? '',
    state: states[state],
    createdAt: nanoseconds(createdMs),
    labels: config.labels ?? {},
    annotations: config.annotations ?? {},
  });
}

export function toContainerStatus(container: SimulatedContainer): ContainerStatus {
  const { config, startedMs, finishedMs, exitCode, reason, message } = container;
  const { id, state, createdAt, imageRef, imageId, labels, annotations } = toListedContainer(container);
  return create(ContainerStatusSchema, {
    ...withMetadata(config.metadata),
    ...withImage(config),
    id,
    state,
    createdAt,
    imageRef,
    imageId,
    labels,
    annotations,
    startedAt: nanoseconds(startedMs),
    finishedAt: nanoseconds(finishedMs),
    exitCode,
    reason,
    message,
    mounts: config.mounts ?? [],
    logPath: config.logPath ?? '',
  });
}

function withMetadata<T>(metadata: T | undefined): { metadata: T } | object {
  return metadata === undefined ? {} : { metadata };
}

function withImage({ image }: ContainerConfig): object {
  return image === undefined ? {} : { image };
}

export function toPodView(
  sandboxes: readonly SimulatedSandbox[],
  containers: readonly SimulatedContainer[],
): PodView | undefined {
  const metadata = sandboxes[0]?.config.metadata;
  if (metadata === undefined) return undefined;
  const { uid = '', namespace = '', name = '' } = metadata;
  return {
    uid,
    namespace,
    name,
    sandboxes: sandboxes.map(toSandboxView).sort((a, b) => b.attempt - a.attempt),
    containers: containers
      .map(toContainerView)
      .sort((a, b) => (a.name === b.name ? b.attempt - a.attempt : a.name < b.name ? -1 : 1)),
  };
}

function toSandboxView({ id, config, handler, isReady, createdMs, ips }: SimulatedSandbox): SandboxView {
  const mode = config.linux?.securityContext?.namespaceOptions?.network;
  return {
    id,
    attempt: config.metadata?.attempt ?? 0,
    isReady,
    createdMs,
    ips,
    network: mode === NamespaceMode.NODE ? 'host' : 'pod',
    runtimeHandler: handler,
    labels: config.labels ?? {},
    annotations: config.annotations ?? {},
  };
}

function toContainerView(container: SimulatedContainer): ContainerView {
  const { id, sandboxId, config, state, createdMs, startedMs, finishedMs, exitCode, reason, message } =
    container;
  const { resources } = container;
  return {
    id,
    sandboxId,
    name: config.metadata?.name ?? '',
    attempt: config.metadata?.attempt ?? 0,
    state,
    createdMs,
    startedMs,
    finishedMs,
    exitCode,
    reason,
    message,
    image: config.image?.userSpecifiedImage ?? '',
    imageRef: config.image?.image ?? '',
    imageId: config.image?.image ?? '',
    logPath: config.logPath ?? '',
    annotations: config.annotations ?? {},
    user: undefined,
    resources: toLimits(resources),
    mounts: [],
  };
}

function toLimits({ cpuPeriod, cpuQuota, cpuShares, memoryLimitInBytes }: GivenLimits) {
  if (cpuShares === undefined) return undefined;
  return {
    cpuPeriod: Number(cpuPeriod ?? 0n),
    cpuQuota: Number(cpuQuota ?? 0n),
    cpuShares: Number(cpuShares),
    memoryLimitBytes: Number(memoryLimitInBytes ?? 0n),
  };
}
