import type { Clock } from '../../base/index.ts';
import { BoundedMap, EventLoopYielder } from '../../base/index.ts';
import { CpuRates, minSpanMs } from './cpu-rates.ts';
import type { GroupDetails, GroupUsage } from './figures.ts';
import type { GroupPath, Hierarchies } from './group-files.ts';
import { GroupFiles } from './group-files.ts';

export interface PodGroupsOptions {
  readonly hierarchies: Hierarchies;
  /** Where the group of a pod may be; throws, or returns none, for a uid that can have none. */
  podPaths(uid: string): readonly GroupPath[];
  readonly clock: Clock;
}

export interface PodAsked {
  readonly uid: string;
  /** The ids of those that run. */
  readonly containers: readonly string[];
}

export interface PodGroupUsage {
  /** With the sandbox and the pod's overhead in it. */
  readonly pod: GroupUsage;
  /** By id; without those that have no group. */
  readonly containers: ReadonlyMap<string, GroupUsage>;
}

export interface ReadOptions {
  /** Waits 200 ms for a second sample where no rate can be computed yet; default false: such rates are undefined. */
  readonly awaitRates?: boolean;
}

interface Found {
  readonly path: GroupPath;
  /** As last listed. */
  containers: ReadonlyMap<string, GroupPath>;
}

const maxPods = 2048;

/**
 * What the groups of pods use, read when it is asked for and never between. Finds the groups by the uids of pods and the
 * ids of containers.
 */
export class PodGroups {
  readonly files: GroupFiles;
  readonly #options: PodGroupsOptions;
  readonly #rates = new CpuRates();
  readonly #found = new BoundedMap<string, Found>({ maxEntries: maxPods });

  constructor(options: PodGroupsOptions) {
    this.#options = options;
    this.files = new GroupFiles(options.hierarchies);
  }

  /** By uid; a pod without a group is missing. Reads in pieces, so that the event loop serves others in between. */
  async read(
    asked: readonly PodAsked[],
    { awaitRates = false }: ReadOptions = {},
  ): Promise<ReadonlyMap<string, PodGroupUsage>> {
    if (awaitRates && (await this.#sampleNew(asked))) await this.#options.clock.sleep(minSpanMs);
    const yielder = new EventLoopYielder();
    const usages = new Map<string, PodGroupUsage>();
    for (const pod of asked) {
      const usage = this.#readPod(pod);
      if (usage !== undefined) usages.set(pod.uid, usage);
      if (yielder.isDue) await yielder.yield();
    }
    this.#rates.forgetOld(this.#options.clock.monotonicMs());
    return usages;
  }

  /** One group, such as that of all pods; a figure that cannot be read is undefined. */
  group(path: GroupPath): GroupUsage {
    const { clock } = this.#options;
    const cpu = this.files.cpu(path);
    const { usageCoreNanoSeconds } = cpu;
    const key = path.join('/');
    const usageNanoCores =
      usageCoreNanoSeconds === undefined
        ? undefined
        : this.#rates.sample(key, usageCoreNanoSeconds, clock.monotonicMs());
    const rateSpanMs = this.#rates.spanMs(key);
    return {
      atMs: clock.now(),
      cpu: { ...cpu, usageNanoCores, rateSpanMs },
      memory: this.files.memory(path),
    };
  }

  details(path: GroupPath): GroupDetails {
    return this.files.details(path);
  }

  /** Undefined: the pod has no group. */
  pathOf(uid: string): GroupPath | undefined {
    return this.#find(uid)?.path;
  }

  /** Undefined: the container has no group. */
  containerPathOf(uid: string, containerId: string): GroupPath | undefined {
    const found = this.#find(uid);
    return found && this.#containerPath(found, containerId);
  }

  #readPod({ uid, containers }: PodAsked): PodGroupUsage | undefined {
    const found = this.#find(uid);
    if (found === undefined) return undefined;
    const pod = this.group(found.path);
    const usages = new Map<string, GroupUsage>();
    for (const id of containers) {
      const path = this.#containerPath(found, id);
      if (path !== undefined) usages.set(id, this.group(path));
    }
    return { pod, containers: usages };
  }

  /** Returns whether a group was sampled that had no sample yet. */
  async #sampleNew(asked: readonly PodAsked[]): Promise<boolean> {
    const yielder = new EventLoopYielder();
    let isNew = false;
    for (const { uid, containers } of asked) {
      const found = this.#find(uid);
      if (found === undefined) continue;
      const inner = containers.map((id) => this.#containerPath(found, id));
      for (const path of [found.path, ...inner])
        if (path !== undefined) isNew = this.#sampleIfNew(path) || isNew;
      if (yielder.isDue) await yielder.yield();
    }
    return isNew;
  }

  #sampleIfNew(path: GroupPath): boolean {
    const key = path.join('/');
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#rates.hasBase(key, nowMs)) return false;
    const nanoSeconds = this.files.cpuTime(path);
    if (nanoSeconds === undefined) return false;
    this.#rates.sample(key, nanoSeconds, nowMs);
    return true;
  }

  #find(uid: string): Found | undefined {
    const known = this.#found.use(uid);
    if (known !== undefined && this.files.has(known.path)) return known;
    this.#found.delete(uid);
    const path = this.#candidates(uid).find((each) => this.files.has(each));
    if (path === undefined) return undefined;
    const found: Found = { path, containers: new Map() };
    this.#found.set(uid, found);
    return found;
  }

  #candidates(uid: string): readonly GroupPath[] {
    try {
      return this.#options.podPaths(uid);
    } catch {
      return []; // no agent can have made a group for such a uid
    }
  }

  #containerPath(found: Found, id: string): GroupPath | undefined {
    if (!found.containers.has(id)) found.containers = this.files.containersIn(found.path);
    return found.containers.get(id);
  }
}
