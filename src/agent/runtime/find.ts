import type { CallOptions, Connection } from './connection.ts';
import type { Container, PodSandbox } from './gen/cri_pb.js';
import { ContainerState as CriState, PodSandboxState, RuntimeService } from './gen/cri_pb.js';
import type { ContainerState, FoundContainer, FoundMember } from './types.ts';

/** The labels with which node agents mark what belongs to which pod. */
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
  const found = await listPodContainers(connection, options, namespace, pod);
  if (found === undefined) return 'noPod';
  const chosen = chooseContainer(found.containers, found.sandbox.id, container);
  return chosen === undefined ? 'noContainer' : toFoundContainer(found.sandbox, chosen);
}

/** See `Runtime.findPod`. */
export async function findPodMembers(
  connection: Connection,
  options: CallOptions,
  namespace: string,
  pod: string,
): Promise<readonly FoundMember[] | 'noPod'> {
  const found = await listPodContainers(connection, options, namespace, pod);
  return found === undefined ? 'noPod' : selectRunning(found.sandbox, found.containers);
}

/** The running containers in the order of their creation; of two with the same name the newer. */
export function selectRunning(sandbox: PodSandbox, containers: readonly Container[]): FoundMember[] {
  const newest = new Map<string, Container>();
  const inOrder = containers
    .filter(({ podSandboxId }) => podSandboxId === sandbox.id)
    .toSorted((a, b) => Number(a.createdAt - b.createdAt) || (a.id < b.id ? -1 : 1));
  for (const container of inOrder) {
    const state = states[container.state] ?? 'unknown';
    if (state !== 'running' && state !== 'unknown') continue;
    const name = container.metadata?.name || container.labels[labels.container] || '';
    newest.delete(name);
    newest.set(name, container);
  }
  return [...newest].map(([name, container]) => ({ ...toFoundContainer(sandbox, container), name }));
}

interface Found {
  readonly sandbox: PodSandbox;
  readonly containers: readonly Container[];
}

async function listPodContainers(
  connection: Connection,
  options: CallOptions,
  namespace: string,
  pod: string,
): Promise<Found | undefined> {
  const { listPodSandbox, listContainers } = RuntimeService.method;
  const { items } = await connection.call(listPodSandbox, {}, options);
  const sandbox = chooseSandbox(items, namespace, pod);
  if (!sandbox) return undefined;
  const filter = { podSandboxId: sandbox.id };
  const { containers } = await connection.call(listContainers, { filter }, options);
  return { sandbox, containers };
}

function toFoundContainer(sandbox: PodSandbox, { id, state }: Container): FoundContainer {
  const podUid = sandbox.metadata?.uid || sandbox.labels[labels.uid] || '';
  return { id, sandboxId: sandbox.id, podUid, state: states[state] ?? 'unknown' };
}

const states: Readonly<Partial<Record<CriState, ContainerState>>> = {
  [CriState.CONTAINER_CREATED]: 'created',
  [CriState.CONTAINER_RUNNING]: 'running',
  [CriState.CONTAINER_EXITED]: 'exited',
  [CriState.CONTAINER_UNKNOWN]: 'unknown',
};

/** Chooses by metadata, or by labels when no metadata match: a ready sandbox before others, then the newest. */
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
  return chooseBest(named.length > 0 ? named : labelled, ready);
}

/** The same for the containers of one sandbox: a running container before others, then the newest. */
export function chooseContainer(
  containers: readonly Container[],
  sandboxId: string,
  name: string,
): Container | undefined {
  const own = containers.filter((container) => container.podSandboxId === sandboxId);
  const named = own.filter(({ metadata }) => metadata?.name === name);
  const labelled = own.filter((container) => container.labels[labels.container] === name);
  const running = ({ state }: Container): boolean => state === CriState.CONTAINER_RUNNING;
  return chooseBest(named.length > 0 ? named : labelled, running);
}

function chooseBest<T extends { createdAt: bigint }>(
  candidates: readonly T[],
  preferred: (candidate: T) => boolean,
): T | undefined {
  const rank = (a: T, b: T): number =>
    Number(preferred(b)) - Number(preferred(a)) || Number(b.createdAt - a.createdAt);
  return candidates.toSorted(rank)[0];
}
