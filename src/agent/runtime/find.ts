import type { CallOptions, Connection } from './connection.ts';
import type { Container, PodSandbox } from './gen/cri_pb.js';
import { ContainerState as CriState, PodSandboxState, RuntimeService } from './gen/cri_pb.js';
import type { ContainerState, FoundContainer } from './types.ts';

/** The labels by which agents tell runtimes what belongs to which pod. */
const labels = {
  namespace: 'io.kubernetes.pod.namespace',
  pod: 'io.kubernetes.pod.name',
  uid: 'io.kubernetes.pod.uid',
  container: 'io.kubernetes.container.name',
} as const;

/** See `Runtime.find`. */
export async function findContainer(
  connection: Connection,
  options: CallOptions,
  namespace: string,
  pod: string,
  container: string,
): Promise<FoundContainer | 'noPod' | 'noContainer'> {
  const { listPodSandbox, listContainers } = RuntimeService.method;
  const { items } = await connection.call(listPodSandbox, {}, options);
  const sandbox = chooseSandbox(items, namespace, pod);
  if (!sandbox) return 'noPod';
  const filter = { podSandboxId: sandbox.id };
  const { containers } = await connection.call(listContainers, { filter }, options);
  const chosen = chooseContainer(containers, sandbox.id, container);
  if (!chosen) return 'noContainer';
  const podUid = sandbox.metadata?.uid || sandbox.labels[labels.uid] || '';
  return { id: chosen.id, sandboxId: sandbox.id, podUid, state: states[chosen.state] ?? 'unknown' };
}

const states: Readonly<Partial<Record<CriState, ContainerState>>> = {
  [CriState.CONTAINER_CREATED]: 'created',
  [CriState.CONTAINER_RUNNING]: 'running',
  [CriState.CONTAINER_EXITED]: 'exited',
  [CriState.CONTAINER_UNKNOWN]: 'unknown',
};

/** By metadata, by labels when no metadata match; a ready one before others, then the newest. */
export function chooseSandbox(
  sandboxes: readonly PodSandbox[],
  namespace: string,
  pod: string,
): PodSandbox | undefined {
  const named = sandboxes.filter(
    ({ metadata }) => metadata?.namespace === namespace && metadata.name === pod,
  );
  const labelled = sandboxes.filter(
    (sandbox) => sandbox.labels[labels.namespace] === namespace && sandbox.labels[labels.pod] === pod,
  );
  const ready = ({ state }: PodSandbox): boolean => state === PodSandboxState.SANDBOX_READY;
  return best(named.length > 0 ? named : labelled, ready);
}

/** The same for the containers of one sandbox: a running one before others, then the newest. */
export function chooseContainer(
  containers: readonly Container[],
  sandboxId: string,
  name: string,
): Container | undefined {
  const own = containers.filter((container) => container.podSandboxId === sandboxId);
  const named = own.filter(({ metadata }) => metadata?.name === name);
  const labelled = own.filter((container) => container.labels[labels.container] === name);
  const running = ({ state }: Container): boolean => state === CriState.CONTAINER_RUNNING;
  return best(named.length > 0 ? named : labelled, running);
}

function best<T extends { createdAt: bigint }>(
  candidates: readonly T[],
  preferred: (candidate: T) => boolean,
): T | undefined {
  const rank = (a: T, b: T): number =>
    Number(preferred(b)) - Number(preferred(a)) || Number(b.createdAt - a.createdAt);
  return candidates.toSorted(rank)[0];
}
