import type { Clock } from '../../../base/index.ts';
import { mapConcurrently } from '../../../base/index.ts';
import type { CallOptions, Connection } from '../../runtime/index.ts';
import { CriSandboxState, ImageService, RuntimeError, RuntimeService } from '../../runtime/index.ts';
import type { DiskUsage } from '../../usage/index.ts';
import { toDiskUsage } from '../../usage/index.ts';
import type { ContainerAt, PodAt } from './pods.ts';
import { containerAt, podAt } from './pods.ts';
import type { ContainerUsage, PodUsage } from './usage.ts';
import { containerUsage, podUsage } from './usage.ts';

export interface RuntimeSourceOptions {
  /** To the runtime, for this alone, so that a list of hundreds of containers does not delay a checkpoint. */
  connection: Connection;
  /** To the image service, which may be another one. */
  images: Connection;
  clock: Clock;
  /** For each list; default 10 s. */
  timeoutMs?: number;
}

const defaultTimeoutMs = 10_000;
/** A node has some hundred containers, each with a query of its own. */
const concurrency = 8;

/** Queries the runtime for what it runs. All methods reject with a RuntimeError. */
export class RuntimeSource {
  readonly #connection: Connection;
  readonly #images: Connection;
  readonly #timeoutMs: number;

  constructor(options: RuntimeSourceOptions) {
    this.#connection = options.connection;
    this.#images = options.images;
    this.#timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
  }

  /** Every pod with its containers, including ended ones; with `details` their addresses, times and exit codes. */
  async pods(details: boolean, cancel: AbortSignal): Promise<readonly PodAt[]> {
    const listed = await this.#list(cancel);
    return details ? await this.#withDetails(listed, cancel) : listed;
  }

  /** The usage of each pod; undefined where the runtime does not support that. */
  usage(cancel: AbortSignal): Promise<readonly PodUsage[] | undefined> {
    return ifImplemented(async () => {
      const { listPodSandboxStats } = RuntimeService.method;
      const { stats } = await this.#connection.call(listPodSandboxStats, {}, this.#within(cancel));
      return stats.map(podUsage);
    });
  }

  /** The usage of each container, for a runtime that does not report that of pods. */
  async containerUsage(cancel: AbortSignal): Promise<readonly ContainerUsage[]> {
    const { listContainerStats } = RuntimeService.method;
    const { stats } = await this.#connection.call(listContainerStats, {}, this.#within(cancel));
    return stats.map(containerUsage);
  }

  /** The disk usage of images and, if elsewhere, of the containers' writable layers; undefined where not supported. */
  async imageDisks(cancel: AbortSignal): Promise<{ images?: DiskUsage; containers?: DiskUsage }> {
    const { imageFsInfo } = ImageService.method;
    const filesystems = await ifImplemented(() => this.#images.call(imageFsInfo, {}, this.#within(cancel)));
    const [image, container] = [filesystems?.imageFilesystems[0], filesystems?.containerFilesystems[0]];
    return {
      ...(image === undefined ? {} : { images: toDiskUsage(image) }),
      ...(container === undefined ? {} : { containers: toDiskUsage(container) }),
    };
  }

  async #list(cancel: AbortSignal): Promise<PodAt[]> {
    const { listPodSandbox, listContainers } = RuntimeService.method;
    const [sandboxes, containers] = await Promise.all([
      this.#connection.call(listPodSandbox, {}, this.#within(cancel)),
      this.#connection.call(listContainers, {}, this.#within(cancel)),
    ]);
    return sandboxes.items.map((sandbox) => {
      const own = containers.containers.filter(({ podSandboxId }) => podSandboxId === sandbox.id);
      return podAt(sandbox, sandbox.state === CriSandboxState.SANDBOX_READY, own);
    });
  }

  async #withDetails(pods: readonly PodAt[], cancel: AbortSignal): Promise<PodAt[]> {
    const all = pods.flatMap(({ containers }) => containers);
    const times = await mapConcurrently(all, concurrency, (each) => this.#withTimes(each, cancel));
    const byId = new Map(times.map((container) => [container.id, container]));
    const whole = await mapConcurrently(pods, concurrency, (pod) => this.#withAddresses(pod, cancel));
    return whole.map((pod) => ({
      ...pod,
      containers: pod.containers.map((container) => byId.get(container.id) ?? container),
    }));
  }

  async #withAddresses(pod: PodAt, cancel: AbortSignal): Promise<PodAt> {
    if (!pod.ready) return pod;
    return await unlessGone(pod, async () => {
      const { podSandboxStatus } = RuntimeService.method;
      const request = { podSandboxId: pod.id };
      const { status } = await this.#connection.call(podSandboxStatus, request, this.#within(cancel));
      const { ip = '', additionalIps = [] } = status?.network ?? {};
      return {
        ...pod,
        addresses: [ip, ...additionalIps.map((each) => each.ip)].filter((each) => each !== ''),
      };
    });
  }

  async #withTimes(container: ContainerAt, cancel: AbortSignal): Promise<ContainerAt> {
    return await unlessGone(container, async () => {
      const { containerStatus } = RuntimeService.method;
      const request = { containerId: container.id };
      const { status } = await this.#connection.call(containerStatus, request, this.#within(cancel));
      return status === undefined ? container : containerAt({ ...status, imageRef: status.imageRef });
    });
  }

  #within(cancel: AbortSignal): CallOptions {
    return { deadlineMs: this.#timeoutMs, cancel };
  }
}

/** Returns `known` for what has gone since it was listed. */
async function unlessGone<T>(known: T, query: () => Promise<T>): Promise<T> {
  try {
    return await query();
  } catch (error) {
    if (error instanceof RuntimeError && error.reason === 'notFound') return known;
    throw error;
  }
}

async function ifImplemented<T>(query: () => Promise<T>): Promise<T | undefined> {
  try {
    return await query();
  } catch (error) {
    if (error instanceof RuntimeError && error.reason === 'unimplemented') return undefined;
    throw error;
  }
}
