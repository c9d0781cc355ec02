import { join } from 'node:path';
import type { Pod } from '../../api/index.ts';
import type { Clock, Logger } from '../../base/index.ts';
import { describeError, withDeadline } from '../../base/index.ts';
import type { DiskUse, PodUse, ReadUse, UseKind } from '../eviction/index.ts';
import type { Memory } from '../node/index.ts';
import type { PodRuntimeView } from '../pods/index.ts';
import type { GroupPath, PodDiskUsage, PodGroupUsage } from '../usage/index.ts';
import type { openUsage } from './usage.ts';

export type PodUsage = NonNullable<ReturnType<typeof openUsage>>;

export interface PodUseOptions {
  readonly view: Pick<PodRuntimeView, 'pod'>;
  /** Undefined on a machine without control groups. */
  readonly usage: PodUsage | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Folders that hang, or a runtime that does not answer, hold nothing up for longer. */
const diskTimeoutMs = 15_000;

/** What pods use, as those are chosen by it that end when the node is short of something. */
export class PodUseReader {
  readonly #options: PodUseOptions;
  #logged = '';

  constructor(options: PodUseOptions) {
    this.#options = options;
  }

  readonly read: ReadUse = async (pods, kinds, signal) => {
    const groups = kinds.some(isOfGroups) ? await this.#readGroups(pods) : undefined;
    const disks = kinds.includes('disk') ? await this.#readDisks(pods, signal) : undefined;
    if (groups === undefined && disks === undefined) return undefined;
    const uses = new Map<string, PodUse>();
    for (const pod of pods) {
      const uid = pod.metadata?.uid ?? '';
      const [group, disk] = [groups?.get(uid), disks?.get(uid)];
      if (group !== undefined || disk !== undefined) uses.set(uid, this.#useOf(pod, kinds, group, disk));
    }
    return uses;
  };

  /** What all pods together may use, and have left of that. */
  readonly allPodsMemory = (): Memory | undefined => {
    const path = this.#allPods();
    const { limitBytes, availableBytes } = (path && this.#files?.memory(path)) ?? {};
    if (limitBytes === undefined || availableBytes === undefined) return undefined;
    return { capacityBytes: limitBytes, availableBytes };
  };

  readonly memoryEvents = (): string | undefined => {
    const path = this.#allPods();
    return path && this.#files && memoryEventsOf(this.#files, path);
  };

  get #files(): PodUsage['groups']['files'] | undefined {
    return this.#options.usage?.groups.files;
  }

  #allPods(): GroupPath | undefined {
    return this.#options.usage?.systemGroups().find(({ name }) => name === 'pods')?.path;
  }

  async #readGroups(pods: readonly Pod[]): Promise<ReadonlyMap<string, PodGroupUsage> | undefined> {
    return await this.#options.usage?.groups.read(
      pods.map(({ metadata: { uid = '' } = {} }) => ({
        uid,
        containers: [...this.#containersOf(uid).values()],
      })),
    );
  }

  async #readDisks(
    pods: readonly Pod[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, PodDiskUsage> | undefined> {
    const { clock, log, usage } = this.#options;
    if (usage === undefined) return undefined;
    const asked = pods.map((pod) => ({ pod, containerIds: this.#containersOf(pod.metadata?.uid ?? '') }));
    const limits = { clock, signal, timeoutMs: diskTimeoutMs };
    try {
      return await withDeadline(limits, 'what pods have on the disk', () => usage.disks.read(asked));
    } catch (error) {
      const why = describeError(error);
      if (!signal.aborted && why !== this.#logged)
        log.warn(`cannot measure what pods have on the disk: ${why}`);
      this.#logged = why;
      return undefined;
    }
  }

  /** The newest of each name, by name. */
  #containersOf(uid: string): ReadonlyMap<string, string> {
    const containers = this.#options.view.pod(uid)?.containers ?? [];
    return new Map(containers.toReversed().map(({ name, id }) => [name, id]));
  }

  #useOf(
    { metadata: { uid = '' } = {}, spec }: Pod,
    kinds: readonly UseKind[],
    group: PodGroupUsage | undefined,
    disk: PodDiskUsage | undefined,
  ): PodUse {
    const ids = this.#containersOf(uid);
    const names = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].map(({ name }) => name);
    return {
      memoryBytes: group?.pod.memory.workingSetBytes,
      processes: kinds.includes('processes') ? this.#tasksOf(uid) : undefined,
      containers: names.map((name) => ({
        name,
        memoryBytes: group?.containers.get(ids.get(name) ?? '')?.memory.workingSetBytes,
        layer: toDiskUse(disk?.writableLayers.get(name)),
        logs: toDiskUse(disk?.logs.get(name)),
      })),
      volumes: [...(disk?.emptyDirs ?? [])].map(([name, { usedBytes: bytes, inodes }]) => ({
        ...{ name, bytes, inodes },
      })),
    };
  }

  #tasksOf(uid: string): number | undefined {
    const groups = this.#options.usage?.groups;
    const path = groups?.pathOf(uid);
    return path === undefined ? undefined : groups?.details(path).tasks;
  }
}

/**
 * Where the kernel says that a group has reached its own limit, not one below it; version 2 alone has it, from Linux 5.2 on.
 */
export function memoryEventsOf(
  files: Pick<PodUsage['groups']['files'], 'version' | 'folder'>,
  path: GroupPath,
): string | undefined {
  const folder = files.version === 2 ? files.folder('memory', path) : undefined;
  return folder === undefined ? undefined : join(folder, 'memory.events.local');
}

const isOfGroups = (kind: UseKind): boolean => kind !== 'disk';

function toDiskUse(
  use: { readonly usedBytes: number | undefined; readonly inodes: number | undefined } | undefined,
): DiskUse | undefined {
  return use && { bytes: use.usedBytes ?? 0, inodes: use.inodes ?? 0 };
}
