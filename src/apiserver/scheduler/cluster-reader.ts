import type { Node, Pod } from '../../api/index.ts';
import { nodeKind, podKind } from '../../api/index.ts';
import type { Logger } from '../../base/index.ts';
import { describeError, EventLoopYielder } from '../../base/index.ts';
import type { Registry, Resource } from '../registry/index.ts';
import type { Stored } from '../storage/index.ts';
import type { PodFacts } from './cluster/pod-facts.ts';
import type { Scheduler } from './scheduler.ts';

/** Tells a scheduler of the nodes and pods that there are. */
export class ClusterReader {
  readonly #pods: Resource<Pod>;
  readonly #nodes: Resource<Node>;
  readonly #scheduler: Scheduler;
  readonly #log: Logger;

  constructor(registry: Registry, scheduler: Scheduler, log: Logger) {
    this.#pods = registry.of(podKind);
    this.#nodes = registry.of(nodeKind);
    this.#scheduler = scheduler;
    this.#log = log;
  }

  tellPod(stored: Stored): void {
    const pod = this.#readOrWarn(this.#pods, stored);
    if (pod !== undefined) this.#scheduler.podChanged(pod);
  }

  tellNode(stored: Stored): void {
    const node = this.#readOrWarn(this.#nodes, stored);
    if (node !== undefined) this.#scheduler.nodeChanged(node);
  }

  /** Nodes first: a pod without a node to try would be reported so. */
  async readAll(signal?: AbortSignal): Promise<void> {
    const yielder = new EventLoopYielder();
    const readEach = async (
      resource: Pick<Resource, 'storage' | 'prefix'>,
      read: (stored: Stored) => void,
    ) => {
      const { storage } = resource;
      for (const { key } of storage.list(resource.prefix(''), '', 0).items) {
        if (signal?.aborted) return;
        const stored = storage.get(key); // it may have changed, or be gone, since the list
        if (stored !== undefined) read(stored);
        if (yielder.isDue) await yielder.yield();
      }
    };
    await readEach(this.#nodes, (stored) => this.tellNode(stored));
    await readEach(this.#pods, (stored) => this.tellPod(stored));
  }

  /** The pod as it is now, if it is still the same one. */
  readPod({ namespace, name, uid }: PodFacts): Pod | undefined {
    const stored = this.#pods.storage.get(this.#pods.prefix(namespace) + name);
    const pod = stored && this.#readOrWarn(this.#pods, stored);
    return pod?.metadata?.uid === uid ? pod : undefined;
  }

  /** One that cannot be read stays as it was last known: followers must not throw. */
  #readOrWarn<T extends Pod | Node>({ encoding }: Resource<T>, stored: Stored): T | undefined {
    try {
      return encoding.read(stored);
    } catch (error) {
      const { key } = stored;
      this.#log.warn({ key }, `the scheduler cannot read an object: ${describeError(error)}`);
      return undefined;
    }
  }
}

/** The scheduler that runs in this process; none where another server leads, or none is wanted. */
export class RunningScheduler {
  current: Scheduler | undefined;
}
