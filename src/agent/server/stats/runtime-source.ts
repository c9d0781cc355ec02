import type { Clock } from '../../../base/index.ts';
import { mapConcurrently } from '../../../base/index.ts';
import type { Connection } from '../../runtime/index.ts';
import { CriSandboxState, ImageService, RuntimeError, RuntimeService } from '../../runtime/index.ts';
import type { ContainerAt, PodAt } from './pods.ts';
import { containerAt, podAt } from './pods.ts';
import type { ContainerUsage, DiskUsage, PodUsage } from './usage.ts';
import { containerUsage, diskUsage, podUsage } from './usage.ts';

export interface RuntimeSourceOptions {
  /** To the runtime, for this alone, so that a list of hundreds of containers does not delay a checkpoint. */
  connection: Connection;
  /** To the image service, which may be another one. */
  images: Connection;
  clock: Clock;
  /** For each list; default 10 s. */
  timeoutMs?: number;
}

/** Queries the runtime for what it runs. All methods reject with a RuntimeError. */
export interface RuntimeSource {
  /** Every pod with its containers, including ended ones; with `details` their addresses, times and exit codes. */
  pods(details: boolean, cancel: AbortSignal): Promise<readonly PodAt[]>;
  /** The usage of each pod; undefined where the runtime does not support that. */
  usage(cancel: AbortSignal): Promise<readonly PodUsage[] | undefined>;
  /** The usage of each container, for a runtime that does not report that of pods. */
  containerUsage(cancel: AbortSignal): Promise<readonly ContainerUsage[]>;
  /** The disk usage of images and, if elsewhere, of the containers' writable layers; undefined where not supported. */
  imageDisks(cancel: AbortSignal): Promise<{ images?: DiskUsage; containers?: DiskUsage }>;
}

const defaultTimeoutMs = 10_000;
/** A node has some hundred containers, each with a query of its own. */
const concurrency = 8;

export function runtimeSource(options: RuntimeSourceOptions): RuntimeSource {
  const { connection, images, timeoutMs = defaultTimeoutMs } = options;
  const { listPodSandbox, podSandboxStatus, listContainers, containerStatus } = RuntimeService.method;
  const within = (cancel: AbortSignal) => ({ deadlineMs: timeoutMs, cancel });

  async function list(cancel: AbortSignal): Promise<PodAt[]> {
    const [sandboxes, containers] = await Promise.all([
      connection.call(listPodSandbox, {}, within(cancel)),
      connection.call(listContainers, {}, within(cancel)),
    ]);
    return sandboxes.items.map((sandbox) => {
      const own = containers.containers.filter(({ podSandboxId }) => podSandboxId === sandbox.id);
      return podAt(sandbox, sandbox.state === CriSandboxState.SANDBOX_READY, own);
    });
  }

  /** Returns `known` for what has gone since it was listed. */
  async function unlessGone<T>(known: T, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof RuntimeError && error.reason === 'notFound') return known;
      throw error;
    }
  }

  async function withAddresses(pod: PodAt, cancel: AbortSignal): Promise<PodAt> {
    if (!pod.ready) return pod;
    return await unlessGone(pod, async () => {
      const { status } = await connection.call(podSandboxStatus, { podSandboxId: pod.id }, within(cancel));
      const { ip = '', additionalIps = [] } = status?.network ?? {};
      return {
        ...pod,
        addresses: [ip, ...additionalIps.map((each) => each.ip)].filter((each) => each !== ''),
      };
    });
  }

  async function withTimes(container: ContainerAt, cancel: AbortSignal): Promise<ContainerAt> {
    return await unlessGone(container, async () => {
      const request = { containerId: container.id };
      const { status } = await connection.call(containerStatus, request, within(cancel));
      return status === undefined ? container : containerAt({ ...status, imageRef: status.imageRef });
    });
  }

  async function detailed(pods: readonly PodAt[], cancel: AbortSignal): Promise<PodAt[]> {
    const all = pods.flatMap(({ containers }) => containers);
    const times = await mapConcurrently(all, concurrency, (container) => withTimes(container, cancel));
    const byId = new Map(times.map((container) => [container.id, container]));
    const whole = await mapConcurrently(pods, concurrency, (pod) => withAddresses(pod, cancel));
    return whole.map((pod) => ({
      ...pod,
      containers: pod.containers.map((container) => byId.get(container.id) ?? container),
    }));
  }

  async function ifImplemented<T>(ask: () => Promise<T>): Promise<T | undefined> {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof RuntimeError && error.reason === 'unimplemented') return undefined;
      throw error;
    }
  }

  return {
    async pods(details, cancel) {
      const listed = await list(cancel);
      return details ? await detailed(listed, cancel) : listed;
    },
    usage: (cancel) =>
      ifImplemented(async () => {
        const { listPodSandboxStats } = RuntimeService.method;
        const { stats } = await connection.call(listPodSandboxStats, {}, within(cancel));
        return stats.map(podUsage);
      }),
    async containerUsage(cancel) {
      const { listContainerStats } = RuntimeService.method;
      const { stats } = await connection.call(listContainerStats, {}, within(cancel));
      return stats.map(containerUsage);
    },
    async imageDisks(cancel) {
      const filesystems = await ifImplemented(() =>
        images.call(ImageService.method.imageFsInfo, {}, within(cancel)),
      );
      const [image, container] = [filesystems?.imageFilesystems[0], filesystems?.containerFilesystems[0]];
      return {
        ...(image === undefined ? {} : { images: diskUsage(image) }),
        ...(container === undefined ? {} : { containers: diskUsage(container) }),
      };
    },
  };
}
