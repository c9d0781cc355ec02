import type { FSWatcher } from 'node:fs';
import { watch } from 'node:fs';
import type { Clock } from '../../base/index.ts';
import type { KilledProcess } from './kernel-log.ts';
import { findKilledProcesses, readKernelLog } from './kernel-log.ts';
import type { PodGroups } from './pod-groups.ts';

export interface WatchedContainer {
  readonly podUid: string;
  readonly id: string;
  readonly name: string;
  /** Wall clock, milliseconds. */
  readonly startedMs: number | undefined;
}

/** Processes of a container that the kernel has killed because it was at its limit of memory. */
export interface OomKills {
  readonly container: WatchedContainer;
  readonly count: number;
  /** The last of them; undefined where the kernel's log does not say, or may not be read. */
  readonly process: KilledProcess | undefined;
  /** Of the container, just after. */
  readonly usageBytes: number | undefined;
  readonly limitBytes: number | undefined;
}

export interface OomWatchOptions {
  readonly groups: PodGroups;
  /** Those that run. */
  containers(): Iterable<WatchedContainer>;
  report(kills: OomKills): void;
  readonly clock: Clock;
  /** Default: the kernel's log. */
  readLog?(): Iterable<string>;
}

/** Where the kernel reports nothing by itself: with version 1, and for what was missed. */
const lookMs = 30_000;
const maxContainers = 4096;

interface Counted {
  kills: number;
  total: number;
  watcher: FSWatcher | undefined;
}

/**
 * Notices that the kernel kills processes of containers, also where the container runs on. With version 2 the kernel reports
 * it at once; with version 1 each look compares its counters. A look costs one small file for each container.
 */
export class OomWatch {
  readonly #options: OomWatchOptions;
  readonly #counted = new Map<string, Counted>();
  /** Containers that were started before have a history that is not known here. */
  readonly #sinceMs: number;
  #isDue = false;

  constructor(options: OomWatchOptions) {
    this.#options = options;
    this.#sinceMs = options.clock.now();
  }

  /** Looks each 30 s until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      while (!signal.aborted) {
        this.look();
        await this.#options.clock.sleep(lookMs, signal);
      }
    } finally {
      for (const { watcher } of this.#counted.values()) watcher?.close();
      this.#counted.clear();
    }
  }

  /** Kills in each container that runs, since it was started or since this agent was. */
  totals(): { readonly container: WatchedContainer; readonly total: number }[] {
    return [...this.#options.containers()].map((container) => ({
      container,
      total: this.#counted.get(container.id)?.total ?? 0,
    }));
  }

  /** Compares the counters of all containers that run, and reports those that moved. */
  look(): void {
    const running = new Set<string>();
    const moved: { container: WatchedContainer; count: number }[] = [];
    for (const container of this.#options.containers()) {
      running.add(container.id);
      const count = this.#compare(container);
      if (count > 0) moved.push({ container, count });
    }
    this.#forgetOthers(running);
    if (moved.length === 0) return;
    const killed = findKilledProcesses((this.#options.readLog ?? readKernelLog)());
    for (const { container, count } of moved) this.#report(container, count, killed);
  }

  /** Returns by how much the counter has grown. */
  #compare(container: WatchedContainer): number {
    const { groups } = this.#options;
    const path = groups.containerPathOf(container.podUid, container.id);
    const kills = path && groups.files.oomKills(path);
    if (path === undefined || kills === undefined) return 0;
    const known = this.#counted.get(container.id);
    if (known === undefined) {
      if (this.#counted.size >= maxContainers) return 0;
      const isNew = (container.startedMs ?? 0) >= this.#sinceMs;
      const total = isNew ? kills : 0;
      const folder = groups.files.version === 2 ? groups.files.folder('memory', path) : undefined;
      this.#counted.set(container.id, {
        kills,
        total,
        watcher: folder === undefined ? undefined : this.#watch(`${folder}/memory.events`),
      });
      return total;
    }
    const count = Math.max(0, kills - known.kills);
    known.kills = kills;
    known.total += count;
    return count;
  }

  /** One look for all that the kernel reports in the same moment. */
  #watch(file: string): FSWatcher | undefined {
    try {
      const watcher = watch(file, { persistent: false }, () => {
        if (this.#isDue) return;
        this.#isDue = true;
        setImmediate(() => {
          this.#isDue = false;
          this.look();
        });
      });
      return watcher.on('error', () => watcher.close()); // looks go on
    } catch {
      return undefined;
    }
  }

  #forgetOthers(running: ReadonlySet<string>): void {
    for (const [id, { watcher }] of this.#counted) {
      if (running.has(id)) continue;
      watcher?.close();
      this.#counted.delete(id);
    }
  }

  #report(container: WatchedContainer, count: number, killed: readonly KilledProcess[]): void {
    const { groups, report } = this.#options;
    const path = groups.containerPathOf(container.podUid, container.id) ?? [];
    const { usageBytes, limitBytes } = groups.files.memory(path);
    const process = killed.findLast(({ group }) => group.some((name) => name.includes(container.id)));
    report({ container, count, process, usageBytes, limitBytes });
  }
}
