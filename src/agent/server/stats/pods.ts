/*
 * The runtime's sandboxes and containers as pods. Sandboxes name their pod in their metadata, or, where another program has
 * created them, in the labels that node agents set.
 */

/** A pod on this node, from its sandbox and its containers. */
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
  /** Empty where they were not queried. */
  readonly addresses: readonly string[];
  /** All containers, including those of earlier attempts. */
  readonly containers: readonly ContainerAt[];
}

export type ContainerWas = 'created' | 'running' | 'exited' | 'unknown';

export interface ContainerAt {
  readonly id: string;
  readonly name: string;
  /** It counts the containers of one name in one sandbox. */
  readonly attempt: number;
  /** How often it has been restarted. */
  readonly restartCount: number;
  readonly image: string;
  readonly imageRef: string;
  readonly state: ContainerWas;
  readonly createdMs: number;
  /** Undefined where they were not queried, and before the event. */
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
  annotations?: Readonly<Record<string, string>>;
}

const states: readonly ContainerWas[] = ['created', 'running', 'exited'];

/** Converts the runtime's sandbox and its containers. */
export function podAt(sandbox: Sandbox, ready: boolean, containers: readonly Container[]): PodAt {
  const { id, metadata, labels, annotations, createdAt } = sandbox;
  return {
    id,
    name: metadata?.name || labels['io.kubernetes.pod.name'] || '',
    namespace: metadata?.namespace || labels['io.kubernetes.pod.namespace'] || '',
    uid: metadata?.uid || labels['io.kubernetes.pod.uid'] || '',
    labels: withoutInternalLabels(labels),
    annotations,
    createdMs: toMillis(createdAt),
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
    restartCount: restartCountOf(container),
    image: image?.userSpecifiedImage || image?.image || '',
    imageRef,
    state,
    createdMs: toMillis(container.createdAt),
    startedMs: startedAt === 0n ? undefined : toMillis(startedAt),
    finishedMs: finishedAt === 0n ? undefined : toMillis(finishedAt),
    exitCode: state === 'exited' ? exitCode : undefined,
    reason,
    message,
  };
}

/** As node agents write it; attempts are those of one sandbox. */
function restartCountOf({ metadata, annotations }: Container): number {
  const written = annotations?.['io.kubernetes.container.restartCount'] ?? '';
  return /^\d{1,9}$/.test(written) ? Number(written) : (metadata?.attempt ?? 0);
}

/** Nanoseconds since 1970 as milliseconds. */
const toMillis = (nanoseconds: bigint): number => Number(nanoseconds / 1_000_000n);

/** Drops the labels that node agents and the runtime set for themselves. */
function withoutInternalLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
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
