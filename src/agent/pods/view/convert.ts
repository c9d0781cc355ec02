import { stopSignalName } from '../../containers/index.ts';
import type { PodCalls } from '../../runtime/index.ts';
import { CriContainerState, CriSandboxState } from '../../runtime/index.ts';
import type { ContainerLimits, ContainerUser, ContainerView, SandboxView } from './types.ts';

/*
 * What the runtime says, in the words of the view. All of it is pure.
 */

export type ListedSandbox = Awaited<ReturnType<PodCalls['listSandboxes']>>[number];
export type ListedContainer = Awaited<ReturnType<PodCalls['listContainers']>>[number];
export type SandboxAnswer = NonNullable<Awaited<ReturnType<PodCalls['sandboxStatus']>>>;
export type ContainerAnswer = NonNullable<Awaited<ReturnType<PodCalls['containerStatus']>>>;
export type RuntimeEvent = ReturnType<PodCalls['events']> extends AsyncIterable<infer E> ? E : never;

export const uidLabel = 'io.kubernetes.pod.uid';
const nameLabel = 'io.kubernetes.pod.name';
const namespaceLabel = 'io.kubernetes.pod.namespace';
const containerLabel = 'io.kubernetes.container.name';

/** NamespaceMode of the CRI. */
const nodeNetwork = 2;

export interface PodIdentity {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

interface Labelled {
  readonly labels: { [key: string]: string };
  readonly metadata?: { readonly namespace?: string; readonly name: string } | undefined;
}

/** The pod that a sandbox or container belongs to by its labels; undefined for one that is not of a pod of an agent. */
export function podOf({ labels, metadata }: Labelled): PodIdentity | undefined {
  const uid = labels[uidLabel] ?? '';
  if (uid === '') return undefined;
  const isSandbox = metadata?.namespace !== undefined;
  return {
    uid,
    namespace: labels[namespaceLabel] ?? metadata?.namespace ?? '',
    name: labels[nameLabel] ?? (isSandbox ? metadata.name : ''),
  };
}

export function toSandboxView(status: SandboxAnswer): SandboxView {
  const isReady = status.state === CriSandboxState.SANDBOX_READY;
  const onHost = status.linux?.namespaces?.options?.network === nodeNetwork;
  const { ip = '', additionalIps = [] } = status.network ?? {};
  const ips = [ip, ...additionalIps.map((additional) => additional.ip)].filter((each) => each !== '');
  return {
    id: status.id,
    attempt: status.metadata?.attempt ?? 0,
    isReady,
    createdMs: toMs(status.createdAt),
    ips: isReady && !onHost ? [...new Set(ips)] : [],
    network: onHost ? 'host' : 'pod',
    runtimeHandler: status.runtimeHandler,
    labels: status.labels,
    annotations: status.annotations,
  };
}

/** As far as a list tells; the network is not in it. */
export function toListedSandboxView(item: ListedSandbox): SandboxView {
  return {
    id: item.id,
    attempt: item.metadata?.attempt ?? 0,
    isReady: item.state === CriSandboxState.SANDBOX_READY,
    createdMs: toMs(item.createdAt),
    ips: [],
    network: 'pod',
    runtimeHandler: item.runtimeHandler,
    labels: item.labels,
    annotations: item.annotations,
  };
}

/** A status does not name the sandbox; `sandboxId` comes from the list or the event that it belongs to. */
export function toContainerView(status: ContainerAnswer, sandboxId: string): ContainerView {
  return {
    id: status.id,
    sandboxId,
    name: status.metadata?.name ?? status.labels[containerLabel] ?? '',
    attempt: status.metadata?.attempt ?? 0,
    state: toState(status.state),
    createdMs: toMs(status.createdAt),
    startedMs: toMsIfSet(status.startedAt),
    finishedMs: toMsIfSet(status.finishedAt),
    exitCode: status.exitCode,
    reason: status.reason,
    message: status.message,
    ...imagesOf(status),
    logPath: status.logPath,
    annotations: status.annotations,
    user: toUser(status),
    resources: toLimits(status),
    ...stopSignalOf(status),
    mounts: status.mounts.map((mount) => ({
      containerPath: mount.containerPath,
      hostPath: mount.hostPath,
      isReadOnly: mount.readonly,
      isRecursiveReadOnly: mount.recursiveReadOnly,
    })),
  };
}

/**
 * As far as a list tells. How one has ended is not in it, so that one counts as `unknown` until its status is read;
 * `message` says why it was not.
 */
export function toListedContainerView(item: ListedContainer, message: string): ContainerView {
  const state = toState(item.state);
  return {
    id: item.id,
    sandboxId: item.podSandboxId,
    name: item.metadata?.name ?? item.labels[containerLabel] ?? '',
    attempt: item.metadata?.attempt ?? 0,
    ...(state === 'exited' ? { state: 'unknown', isUnread: true } : { state }),
    createdMs: toMs(item.createdAt),
    startedMs: undefined,
    finishedMs: undefined,
    exitCode: 0,
    reason: '',
    message,
    ...imagesOf(item),
    logPath: '',
    annotations: item.annotations,
    user: undefined,
    resources: undefined,
    mounts: [],
  };
}

export function toState(state: CriContainerState): ContainerView['state'] {
  switch (state) {
    case CriContainerState.CONTAINER_CREATED:
      return 'created';
    case CriContainerState.CONTAINER_RUNNING:
      return 'running';
    case CriContainerState.CONTAINER_EXITED:
      return 'exited';
    default:
      return 'unknown';
  }
}

type WithImage = Pick<ListedContainer, 'image' | 'imageRef' | 'imageId'>;

/** Runtimes before CRI 1.29 tell no id; then the reference, or the image as it was asked for, may be one. */
function imagesOf({
  image,
  imageRef,
  imageId,
}: WithImage): Pick<ContainerView, 'image' | 'imageRef' | 'imageId'> {
  const asked = image?.image ?? '';
  const named = image?.userSpecifiedImage ?? '';
  const id = [imageId, imageRef, asked].find((each) => /^(?:sha256:)?[0-9a-f]{64}$/.test(each)) ?? imageId;
  return { image: named || asked, imageRef: imageRef || id || asked, imageId: id };
}

function stopSignalOf({ stopSignal }: ContainerAnswer): Pick<ContainerView, 'stopSignal'> {
  const name = stopSignalName(stopSignal);
  return name === undefined ? {} : { stopSignal: name };
}

function toUser({ user }: ContainerAnswer): ContainerUser | undefined {
  const linux = user?.linux;
  if (linux === undefined) return undefined;
  return {
    uid: Number(linux.uid),
    gid: Number(linux.gid),
    supplementalGroups: linux.supplementalGroups.map(Number),
  };
}

function toLimits({ resources }: ContainerAnswer): ContainerLimits | undefined {
  const linux = resources?.linux;
  if (linux === undefined) return undefined;
  return {
    cpuPeriod: Number(linux.cpuPeriod),
    cpuQuota: Number(linux.cpuQuota),
    cpuShares: Number(linux.cpuShares),
    memoryLimitBytes: Number(linux.memoryLimitInBytes),
  };
}

/** Nanoseconds to milliseconds. */
export const toMs = (nanoseconds: bigint): number => Number(nanoseconds / 1_000_000n);

/** The runtime writes 0, or the zero time of its language, where there was no such moment. */
const toMsIfSet = (nanoseconds: bigint): number | undefined =>
  nanoseconds <= 0n ? undefined : toMs(nanoseconds);
