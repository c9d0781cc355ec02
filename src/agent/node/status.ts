import { isDeepStrictEqual } from 'node:util';
import type { NodeAddress, NodeCondition, NodeStatus, NodeSystemInfo } from '../../api/index.ts';
import { formatTime, version } from '../../api/index.ts';
import type { Finding } from './conditions.ts';
import { isForeignNetworkCondition } from './conditions.ts';
import type { NodeResources } from './resources.ts';
import { mergeStored } from './resources.ts';
import type { RuntimeCondition } from './runtime-view.ts';
import type { SystemFacts } from './system-facts.ts';

type ContainerImage = NonNullable<NodeStatus['images']>[number];

/** All that the agent knows of its node at one moment. */
export interface NodeState {
  readonly facts: SystemFacts;
  readonly resources: NodeResources;
  readonly findings: readonly Finding[];
  readonly addresses: readonly NodeAddress[];
  /** Of the agent's HTTPS server. */
  readonly port: number;
  readonly runtime: Pick<RuntimeCondition, 'name' | 'version' | 'handlers' | 'supplementalGroupsPolicy'>;
  /** For the status; undefined where they are not known. */
  readonly images?: readonly ContainerImage[] | undefined;
  /** Bytes; 0 where there is none. */
  readonly swapBytes?: number;
  /** From what the status has of them; default that. */
  readonly volumesInUse?: (previous: readonly string[]) => readonly string[];
  /** Wall clock, milliseconds since 1970. */
  readonly nowMs: number;
}

/**
 * Composes the status to publish: the agent's own parts from `state`, and from `previous` what others have written (their
 * conditions, addresses, resources, volumes …). A condition's lastTransitionTime changes only with its status.
 */
export function composeStatus(previous: NodeStatus | undefined, state: NodeState): NodeStatus {
  const { facts, runtime } = state;
  const runtimeVersion = runtime.name === '' ? '' : `${runtime.name}://${runtime.version}`;
  return {
    ...previous,
    ...mergeStored(state.resources, previous),
    conditions: mergeConditions(previous?.conditions ?? [], state.findings, formatTime(state.nowMs)),
    addresses: mergeAddresses(previous?.addresses ?? [], state.addresses),
    daemonEndpoints: { ...previous?.daemonEndpoints, kubeletEndpoint: { Port: state.port } },
    nodeInfo: {
      ...withoutSwap(previous?.nodeInfo),
      ...facts,
      containerRuntimeVersion: runtimeVersion || previous?.nodeInfo?.containerRuntimeVersion || 'Unknown',
      kubeletVersion: version.gitVersion,
      kubeProxyVersion: version.gitVersion,
      ...swapOf(state),
    },
    ...(state.images === undefined ? {} : { images: [...state.images] }),
    ...toRuntimeFeatures(runtime),
    declaredFeatures: [...declaredFeatures],
    ...toVolumes(state, previous?.volumesInUse ?? []),
  };
}

/**
 * Features of the reference's agent, by their gates, that a control plane uses only where the Node declares them, and that
 * this agent has. Those that another agent of this node declared go: one of them would have a kube-apiserver send streams as
 * only the reference's agent takes them.
 */
const declaredFeatures = ['RestartAllContainersOnContainerExits'];

function toVolumes(
  { volumesInUse }: NodeState,
  previous: readonly string[],
): Pick<NodeStatus, 'volumesInUse'> {
  const volumes = volumesInUse?.(previous) ?? previous;
  return volumes.length > 0 || previous.length > 0 ? { volumesInUse: [...volumes] } : {};
}

function withoutSwap(info: NodeStatus['nodeInfo']) {
  const { swap: _, ...rest } = info ?? {};
  return rest;
}

function swapOf({ swapBytes = 0 }: NodeState): Pick<NodeSystemInfo, 'swap'> {
  return swapBytes > 0 ? { swap: { capacity: swapBytes } } : {};
}

/** The runtime's features as it has reported them; what it has not reported stays unchanged. */
function toRuntimeFeatures(runtime: NodeState['runtime']): Pick<NodeStatus, 'runtimeHandlers' | 'features'> {
  const { handlers, supplementalGroupsPolicy } = runtime;
  return {
    ...(handlers === undefined
      ? {}
      : { runtimeHandlers: handlers.map(({ name, ...features }) => ({ name, features })) }),
    ...(supplementalGroupsPolicy === undefined ? {} : { features: { supplementalGroupsPolicy } }),
  };
}

/**
 * Whether a stored status needs no report of the next one: they are equal except for the times of heartbeats. Declared
 * features that are not stored are no reason for a report either: a control plane before 1.36 keeps none.
 */
export function isSameStatus(stored: NodeStatus | undefined, next: NodeStatus): boolean {
  const { declaredFeatures: _, ...kept } = next;
  const wanted = stored?.declaredFeatures === undefined ? kept : next;
  return isDeepStrictEqual(withoutHeartbeats(stored), withoutHeartbeats(wanted));
}

function withoutHeartbeats(status: NodeStatus | undefined) {
  const conditions = status?.conditions?.map(({ lastHeartbeatTime: _, ...rest }) => rest);
  return { ...status, conditions };
}

function mergeConditions(
  previous: readonly NodeCondition[],
  findings: readonly Finding[],
  now: string,
): NodeCondition[] {
  const merged = previous.map((condition) => {
    const finding = findings.find(({ type }) => type === condition.type);
    if (finding === undefined || isLeftToOthers(condition, finding)) return condition;
    return toCondition(finding, condition, now);
  });
  const known = new Set(previous.map(({ type }) => type));
  const added = findings.filter(({ type }) => !known.has(type));
  return [...merged, ...added.map((finding) => toCondition(finding, undefined, now))];
}

/** A network plugin knows more about its network than the runtime, unless the runtime has no network at all. */
function isLeftToOthers(condition: NodeCondition, finding: Finding): boolean {
  return finding.status !== 'True' && isForeignNetworkCondition(condition);
}

function toCondition(finding: Finding, previous: NodeCondition | undefined, now: string): NodeCondition {
  const stays = previous !== undefined && previous.status === finding.status;
  return {
    type: finding.type,
    status: finding.status,
    lastHeartbeatTime: now,
    lastTransitionTime: (stays && previous.lastTransitionTime) || now,
    reason: finding.reason,
    message: finding.message,
  };
}

function mergeAddresses(previous: readonly NodeAddress[], ours: readonly NodeAddress[]): NodeAddress[] {
  const kept = new Set(['InternalIP', 'Hostname', ...ours.map(({ type }) => type)]);
  return [...ours, ...previous.filter(({ type }) => !kept.has(type))];
}
