/*
 * What the runtime runs, in the terms of pods. It calls them sandboxes; what they belong to is told by their metadata,
 * or, of those that somebody else has made, by the labels that agents set.
 */

/** A pod on this node, as its sandbox and its containers say. */
export interface PodAt {
  /** Of its sandbox. */
  readonly id: string;
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly createdMs: number;
  readonly ready: boolean;
  /** None while they are not asked for. */
  readonly addresses: readonly string[];
  /** All that there are, those of earlier attempts too. */
  readonly containers: readonly ContainerAt[];
}

export type ContainerWas = 'created' | 'running' | 'exited' | 'unknown';

export interface ContainerAt {
  readonly id: string;
  readonly name: string;
  /** How often it has been started again. */
  readonly attempt: number;
  readonly image: string;
  readonly imageRef: string;
  readonly state: ContainerWas;
  readonly createdMs: number;
  /** Undefined while they are not asked for, and where nothing of the kind has happened. */
  readonly startedMs: number | undefined;
  readonly finishedMs: number | undefined;
  readonly exitCode: number | undefined;
  readonly reason: string;
  readonly message: string;
}

interface Sandbox {
  id: string;
  metadata?: { name: string; uid: string; namespace: string } | undefined;
  createdAt: bigint;
  labels: Readonly<Record<string, string>>;
  annotations: Readonly<Record<string, string>>;
}

interface Container {
  id: string;
  metadata?: { name: string; attempt: number } | undefined;
  image?: { image: string; userSpecifiedImage?: string } | undefined;
  imageRef: string;
  /** As the interface numbers them: created, running, exited. */
  state: number;
  createdAt: bigint;
  startedAt?: bigint;
  finishedAt?: bigint;
  exitCode?: number;
  reason?: string;
  message?: string;
  labels: Readonly<Record<string, string>>;
}

const states: readonly ContainerWas[] = ['created', 'running', 'exited'];

/** What the runtime tells of a sandbox and its containers. */
export function podAt(sandbox: Sandbox, ready: boolean, containers: readonly Container[]): PodAt {
  const { id, metadata, labels, annotations, createdAt } = sandbox;
  return {
    id,
    name: metadata?.name || labels['io.kubernetes.pod.name'] || '',
    namespace: metadata?.namespace || labels['io.kubernetes.pod.namespace'] || '',
    uid: metadata?.uid || labels['io.kubernetes.pod.uid'] || '',
    labels: withoutAgents(labels),
    annotations,
    createdMs: millis(createdAt),
    ready,
    addresses: [],
    containers: containers.map(containerAt),
  };
}

export function containerAt(container: Container): ContainerAt {
  const { id, metadata, image, imageRef, labels, exitCode, reason = '', message = '' } = container;
  const { startedAt = 0n, finishedAt = 0n } = container;
  const state = states[container.state] ?? 'unknown';
  return {
    id,
    name: metadata?.name || labels['io.kubernetes.container.name'] || '',
    attempt: metadata?.attempt ?? 0,
    image: image?.userSpecifiedImage || image?.image || '',
    imageRef,
    state,
    createdMs: millis(container.createdAt),
    startedMs: startedAt === 0n ? undefined : millis(startedAt),
    finishedMs: finishedAt === 0n ? undefined : millis(finishedAt),
    exitCode: state === 'exited' ? exitCode : undefined,
    reason,
    message,
  };
}

/** Nanoseconds since 1970 as milliseconds. */
const millis = (nanoseconds: bigint): number => Number(nanoseconds / 1_000_000n);

/** What agents note for themselves is no label of the pod. */
function withoutAgents(labels: Readonly<Record<string, string>>): Record<string, string> {
  const own = /^io\.(?:kubernetes\.(?:pod|container)|cri-containerd)\./;
  return Object.fromEntries(
    Object.entries(labels).filter(([key]) => !own.test(key) && key !== 'io.cri-containerd.kind'),
  );
}

/** The newest sandbox of each pod, a ready one before others: earlier ones are kept until they are cleaned up. */
export function currentPods(pods: readonly PodAt[]): PodAt[] {
  const byPod = new Map<string, PodAt>();
  const newestLast = pods.toSorted((a, b) => Number(a.ready) - Number(b.ready) || a.createdMs - b.createdMs);
  for (const pod of newestLast) byPod.set(`${pod.namespace}/${pod.name}/${pod.uid}`, pod);
  return [...byPod].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, pod]) => pod);
}

/** The containers of a pod by name, each with its attempts, the newest first. */
export function attemptsOf({ containers }: PodAt): (readonly [ContainerAt, ...ContainerAt[]])[] {
  const byName = Map.groupBy(containers, ({ name }) => name);
  return [...byName.values()].flatMap((attempts) => {
    const [newest, ...earlier] = attempts.toSorted(
      (a, b) => b.attempt - a.attempt || b.createdMs - a.createdMs,
    );
    return newest === undefined ? [] : [[newest, ...earlier] as const];
  });
}
