import { basename } from 'node:path';
import type { Pod, QosClass } from '../../api/index.ts';
import { qosClassOf } from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import { errorCode, KeyedMutex } from '../../base/index.ts';
import type { GroupPath } from '../usage/index.ts';
import { GroupFiles } from '../usage/index.ts';
import type { CgroupNaming } from './cgroup-names.ts';
import { kubepodsPath, parentFor, podPath, tierPath } from './cgroup-names.ts';
import type { CgroupTree } from './cgroup-tree.ts';
import {
  foldersOf,
  foldersWithin,
  freezeFolder,
  hasGroup,
  limitGroup,
  makeGroup,
  missingControllers,
  processesIn,
  removeFolder,
  thawFolder,
} from './cgroup-tree.ts';
import { minShares, sharesOf } from './cpu-share.ts';
import type { GroupLimits, PodLimitSettings } from './pod-limits.ts';
import { burstableShares, groupLimitsOf, raisesOf } from './pod-limits.ts';
import type { SliceManager } from './systemd-slices.ts';

const classes: readonly QosClass[] = ['Guaranteed', 'Burstable', 'BestEffort'];
const maxRemovalTries = 5;
const removalSpacingMs = 100;

export interface PodCgroupsOptions {
  readonly tree: CgroupTree;
  readonly naming: CgroupNaming;
  readonly limits: PodLimitSettings;
  readonly clock: Clock;
  /** Needed with the driver systemd. */
  readonly slices?: SliceManager | undefined;
  /** Ends a process at once; default SIGKILL. */
  readonly kill?: (pid: number) => void;
}

/** What all pods together may use. */
export interface AllPodsLimits {
  readonly cpuMillis: number;
  /** Undefined: memory is not limited. */
  readonly memoryBytes?: number | undefined;
  /** Processes and threads; undefined: they are not limited. */
  readonly pids?: number | undefined;
}

/** Of a container, or without an id of the pod as a whole. */
export interface MemoryShortage {
  readonly containerId?: string;
  readonly limitBytes: number;
  readonly usageBytes: number;
}

/**
 * The cgroups of pods: `kubepods` below the root, its tiers and one group for each pod. Nothing outside of `kubepods` is
 * limited, emptied or removed; what is above it is only made to hand its controllers on. Every method may be called again;
 * those for one pod wait for each other.
 */
export class PodCgroups {
  readonly #options: PodCgroupsOptions;
  readonly #files: GroupFiles;
  readonly #locks = new KeyedMutex();
  readonly #tierShares = new Map<QosClass, number>();

  constructor(options: PodCgroupsOptions) {
    if (options.naming.driver === 'systemd' && options.slices === undefined) {
      throw new Error('the cgroup driver systemd needs systemd: its limits would be lost otherwise');
    }
    this.#options = options;
    this.#files = new GroupFiles(options.tree);
  }

  /**
   * Creates `kubepods` and the groups of the classes, and limits what all pods together may use. A class whose pods may
   * run already keeps its part until `refreshTiers`. Resolves to the controllers (cpu, memory, pids) that are missing here:
   * pods run without those limits.
   */
  async prepare({ cpuMillis, memoryBytes, pids }: AllPodsLimits): Promise<string[]> {
    const { tree, naming } = this.#options;
    await this.#apply(kubepodsPath(naming), { cpuShares: sharesOf(cpuMillis), memoryBytes, pids });
    for (const qos of ['Burstable', 'BestEffort'] as const) {
      const path = tierPath(naming, qos);
      await this.#apply(path, hasGroup(tree, path) ? {} : { cpuShares: minShares });
    }
    return missingControllers(tree, kubepodsPath(naming));
  }

  /** Gives the classes their parts of the cpu: Burstable what its pods request, BestEffort next to nothing. */
  async refreshTiers(pods: readonly Pod[]): Promise<void> {
    await this.#shareTier('Burstable', burstableShares(pods));
    await this.#shareTier('BestEffort', minShares);
  }

  /** Systemd keeps what it was given; to ask it costs a process each time. */
  async #shareTier(qos: QosClass, cpuShares: number): Promise<void> {
    if (this.#options.slices !== undefined && this.#tierShares.get(qos) === cpuShares) return;
    await this.#apply(tierPath(this.#options.naming, qos), { cpuShares });
    this.#tierShares.set(qos, cpuShares);
  }

  /** `cgroup_parent` of the sandbox. */
  parentOf(pod: Pod): string {
    return parentFor(this.#options.naming, this.#pathOf(pod));
  }

  /** Whether the group is there in every hierarchy. */
  has(pod: Pod): boolean {
    return hasGroup(this.#options.tree, this.#pathOf(pod));
  }

  /** Creates the group of the pod, or writes its limits again. */
  async make(pod: Pod): Promise<void> {
    const path = this.#pathOf(pod);
    using _ = await this.#locks.acquire(uidOf(pod));
    await this.#apply(path, groupLimitsOf(pod, this.#options.limits));
  }

  /** Gives the group of the pod what it has too little of for what is to run in it; it keeps what it has more. */
  async raise(pod: Pod): Promise<void> {
    const path = this.#pathOf(pod);
    using _ = await this.#locks.acquire(uidOf(pod));
    await this.#apply(path, raisesOf(groupLimitsOf(pod, this.#options.limits), this.#files.limits(path)));
  }

  /**
   * Why the memory of the pod, or of these containers, cannot be limited to what it is to have: it uses more. `limits`: bytes by the id
   * of the container. A limit that does not become lower is not looked at, and neither is what cannot be read.
   */
  memoryShortages(pod: Pod, limits: ReadonlyMap<string, number>): MemoryShortage[] {
    const path = this.#pathOf(pod);
    const { memoryBytes } = groupLimitsOf(pod, this.#options.limits);
    const look = (group: GroupPath | undefined, limitBytes: number | undefined, containerId?: string) => {
      if (group === undefined || limitBytes === undefined) return [];
      const usageBytes = this.#files.memory(group).workingSetBytes;
      const isLower = limitBytes < (this.#files.limits(group).memoryBytes ?? 0);
      if (!isLower || usageBytes === undefined || usageBytes <= limitBytes) return [];
      return [{ limitBytes, usageBytes, ...(containerId === undefined ? {} : { containerId }) }];
    };
    const containers = limits.size === 0 ? undefined : this.#files.containersIn(path);
    return [
      ...look(path, memoryBytes),
      ...[...limits].flatMap(([id, bytes]) => look(containers?.get(id), bytes, id)),
    ];
  }

  /**
   * Kills what is left in the groups of the pod and removes them, whichever class it had. Rejects when processes are still
   * there after five tries: those that wait for a device cannot be killed.
   */
  async remove(uid: string): Promise<void> {
    const { clock } = this.#options;
    using _ = await this.#locks.acquire(uid);
    for (let tries = 1; ; tries += 1) {
      const remaining = await this.#removeAll(this.#topFoldersOf(uid));
      if (remaining.length === 0) return;
      if (tries === maxRemovalTries) throw new Error(describeRemaining(uid, remaining));
      await clock.sleep(removalSpacingMs * tries);
    }
  }

  /** Creates the group where it is missing. */
  async #apply(path: GroupPath, limits: GroupLimits): Promise<void> {
    const { tree, slices } = this.#options;
    await slices?.apply(path.at(-1) ?? '', limits);
    await makeGroup(tree, path);
    await limitGroup(tree, path, limits);
  }

  #pathOf(pod: Pod): GroupPath {
    return podPath(this.#options.naming, qosClassOf(pod), uidOf(pod));
  }

  #topFoldersOf(uid: string): string[] {
    const { tree, naming } = this.#options;
    return classes.flatMap((qos) => foldersOf(tree, podPath(naming, qos, uid)));
  }

  /** Returns the folders that are still there. */
  async #removeAll(tops: readonly string[]): Promise<string[]> {
    const folders = tops.flatMap(foldersWithin);
    await this.#killAll(tops, folders);
    for (const slice of new Set(tops.map((folder) => basename(folder))))
      await this.#options.slices?.stop(slice);
    const remaining: string[] = [];
    for (const folder of folders) if (!(await removeFolder(folder))) remaining.push(folder);
    return remaining;
  }

  /** They are killed while they stand still: then none can make another meanwhile. */
  async #killAll(tops: readonly string[], folders: readonly string[]): Promise<void> {
    const pids = folders.flatMap(processesIn);
    if (pids.includes(process.pid))
      throw new Error(`this process runs in the cgroup ${tops[0]}, so it is kept`);
    if (pids.length > 0) await Promise.all(tops.map(freezeFolder));
    try {
      for (const pid of new Set(folders.flatMap(processesIn))) this.#kill(pid);
    } finally {
      await Promise.all(folders.map(thawFolder));
    }
  }

  #kill(pid: number): void {
    try {
      (this.#options.kill ?? killProcess)(pid);
    } catch (error) {
      if (errorCode(error) !== 'ESRCH') throw error;
    }
  }
}

function killProcess(pid: number): void {
  process.kill(pid, 'SIGKILL');
}

function uidOf({ metadata }: Pod): string {
  return metadata?.uid ?? '';
}

function describeRemaining(uid: string, folders: readonly string[]): string {
  const pids = [...new Set(folders.flatMap(processesIn))].slice(0, 10);
  const inside =
    pids.length === 0 ? 'no process can be seen in it' : `it still has the processes ${pids.join(', ')}`;
  return `cannot remove the cgroup of pod ${uid}, ${folders[0]}: ${inside}`;
}
