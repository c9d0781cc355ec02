import type { Pod } from '../../../api/index.ts';
import { formatTime } from '../../../api/index.ts';
import type { ContainerAt, PodAt } from './pods.ts';
import { attemptsOf, currentPods } from './pods.ts';

export interface PodListOptions {
  nodeName: string;
  /** Of the node. */
  addresses: readonly string[];
  /** Such as containerd; it is the prefix of container ids. */
  runtimeName: string;
}

/**
 * A v1 PodList of the pods that run on this node. The runtime knows less about a pod than the API: of the specification
 * there are only names and images, and what is not known is left out.
 */
export function podList(pods: readonly PodAt[], options: PodListOptions) {
  return listOf(currentPods(pods).map((pod) => podOf(pod, options)));
}

/** The same for running containers only, with nothing but names and images, as in the reference. */
export function runningPodList(pods: readonly PodAt[]) {
  return listOf(
    currentPods(pods)
      .map((pod) => ({ ...pod, containers: pod.containers.filter(({ state }) => state === 'running') }))
      .filter(({ ready, containers }) => ready || containers.length > 0)
      .map((pod) => ({
        metadata: identityOf(pod),
        spec: { containers: attemptsOf(pod).map(([{ name, image }]) => ({ name, image })) },
        status: {},
      })),
  );
}

const listOf = <T extends object>(items: readonly T[]) => ({
  kind: 'PodList',
  apiVersion: 'v1',
  metadata: {},
  items,
});

const identityOf = ({ name, namespace, uid }: PodAt) => ({ name, namespace, uid });

function podOf(pod: PodAt, { nodeName, addresses, runtimeName }: PodListOptions) {
  const containers = attemptsOf(pod);
  const [podIP] = pod.addresses;
  return {
    metadata: {
      ...identityOf(pod),
      ...(Object.keys(pod.labels).length === 0 ? {} : { labels: pod.labels }),
      ...(Object.keys(pod.annotations).length === 0 ? {} : { annotations: pod.annotations }),
      creationTimestamp: formatTime(pod.createdMs),
    },
    spec: { nodeName, containers: containers.map(([{ name, image }]) => ({ name, image })) },
    status: {
      phase: phaseOf(pod),
      conditions: conditionsOf(pod),
      ...(addresses[0] === undefined
        ? {}
        : { hostIP: addresses[0], hostIPs: addresses.map((ip) => ({ ip })) }),
      ...(podIP === undefined ? {} : { podIP, podIPs: pod.addresses.map((ip) => ({ ip })) }),
      startTime: formatTime(pod.createdMs),
      containerStatuses: containers.map((attempts) => statusOf(attempts, runtimeName)),
    },
  };
}

/** Computed like the reference, from what the runtime knows; the restart policy is not known here. */
function phaseOf(pod: PodAt): string {
  const newest = attemptsOf(pod).map(([container]) => container);
  if (newest.some(({ state }) => state === 'running')) return 'Running';
  if (newest.length === 0 || newest.some(({ state }) => state === 'created')) return 'Pending';
  if (pod.ready) return 'Running'; // between two attempts
  return newest.every(({ exitCode }) => exitCode === 0) ? 'Succeeded' : 'Failed';
}

function conditionsOf(pod: PodAt) {
  const newest = attemptsOf(pod).map(([container]) => container);
  const runs = pod.ready && newest.length > 0 && newest.every(({ state }) => state === 'running');
  const condition = (type: string, isTrue: boolean) => ({ type, status: isTrue ? 'True' : 'False' });
  return [
    condition('PodReadyToStartContainers', pod.ready),
    condition('ContainersReady', runs),
    condition('Ready', runs),
  ];
}

function statusOf([newest, earlier]: readonly [ContainerAt, ...ContainerAt[]], runtimeName: string) {
  const running = newest.state === 'running';
  return {
    name: newest.name,
    state: stateOf(newest, runtimeName),
    lastState: earlier?.state === 'exited' ? stateOf(earlier, runtimeName) : {},
    ready: running,
    restartCount: newest.restartCount,
    image: newest.image,
    imageID: newest.imageRef,
    containerID: `${runtimeName}://${newest.id}`,
    started: running,
  };
}

function stateOf(container: ContainerAt, runtimeName: string) {
  const { id, state, startedMs, finishedMs, exitCode, reason, message } = container;
  const startedAt = startedMs === undefined ? {} : { startedAt: formatTime(startedMs) };
  if (state === 'running') return { running: startedAt };
  if (state !== 'exited') return { waiting: { reason: 'ContainerCreating' } };
  return {
    terminated: {
      exitCode: exitCode ?? 0,
      reason: reason || (exitCode === 0 ? 'Completed' : 'Error'),
      ...(message === '' ? {} : { message }),
      ...startedAt,
      ...(finishedMs === undefined ? {} : { finishedAt: formatTime(finishedMs) }),
      containerID: `${runtimeName}://${id}`,
    },
  };
}

type Listed = ReturnType<typeof podList>;

/**
 * Joins the running pods with those meant for the node: a pod that is both has its specification from the source and its
 * status from the runtime. Other running pods come last.
 */
export function mergeKnownPods(running: Listed, known: readonly Pod[]) {
  const byUid = new Map(running.items.map((item) => [item.metadata.uid, item]));
  const items = known.map(({ metadata, spec, status }) => {
    const item = byUid.get(metadata?.uid ?? '');
    byUid.delete(metadata?.uid ?? '');
    return { metadata, spec, status: isFromAgent(status) ? status : (item?.status ?? status) };
  });
  return { ...running, items: [...items, ...byUid.values()] };
}

/** The agent that runs a pod knows more of it than its runtime does. */
function isFromAgent(status: Pod['status']): boolean {
  return status?.startTime !== undefined;
}
