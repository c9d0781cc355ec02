import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FolderWatch } from '../../base/folder-watch/index.ts';
import { watchFolder } from '../../base/folder-watch/index.ts';
import type { Clock, Logger, MetricsRegistry, Service } from '../../base/index.ts';
import { describeError, errorCode } from '../../base/index.ts';

import { describeTooMany, isPluginPath, SocketRegistry } from './registry.ts';
import type { PluginHandler, PluginRegistry } from './types.ts';

export interface PluginServiceOptions {
  readonly rootDir: string;
  readonly handlers: readonly PluginHandler[];
  readonly dependsOn: readonly string[];
  readonly metrics?: MetricsRegistry | undefined;
  readonly log: Logger;
  readonly clock: Clock;
}

export interface PluginService extends PluginRegistry {
  /** The folder in which plugins create their sockets. */
  readonly folder: string;
  /** How changes in the folder are noticed; undefined before its first scan. */
  readonly watchedBy: 'events' | 'polling' | undefined;
  /** The reasons why plugins may not be found, with advice for the operator. */
  problems(): readonly string[];
  readonly service: Service;
}

/** The limit of entries of all kinds, including those of subfolders. */
const maxEntries = 4000;
const maxSockets = 1000;
const depth = 5;

/** How often a missing folder is created again. */
const keepFolderMs = 10_000;

/** How long registrations under way may take to end when the agent stops. */
const stopMs = 2000;

/** Creates the registry of this node's plugins, with their sockets in the folder `plugins_registry` of the root folder. */
export function createPluginService(options: PluginServiceOptions): PluginService {
  const { rootDir, handlers, dependsOn, metrics, log, clock } = options;
  const folder = join(rootDir, 'plugins_registry');
  const registry = new SocketRegistry({ folder, handlers, metrics, log, clock, maxSockets });
  const watch = watchFolder({ folder, select: isPluginPath, depth, maxEntries, log, clock });
  const keeper = new FolderKeeper(folder, watch, log, clock);
  const run: Service['run'] = async (signal, ready) => {
    using _follow = watch.onChange(({ view }) => registry.update(view.entries));
    await keeper.create();
    if (watch.view !== undefined) registry.update(watch.view.entries);
    const ended = new AbortController();
    const keeping = keeper.run(AbortSignal.any([signal, ended.signal]));
    try {
      await watch.run(signal, ready);
    } finally {
      ended.abort();
      await keeping;
      if (signal.aborted) await stopWithin(registry, clock);
    }
  };
  return {
    folder,
    get watchedBy() {
      return watch.view?.by;
    },
    sockets: () => registry.sockets(),
    problems: () => [
      ...[keeper.problem ?? watch.view?.problem ?? []].flat(),
      ...(registry.leftOut > 0 ? [describeTooMany(folder, maxSockets, registry.leftOut)] : []),
    ],
    service: { name: 'plugins', dependsOn, onFailure: 'restart', run },
  };
}

async function stopWithin(registry: SocketRegistry, clock: Clock): Promise<void> {
  const done = new AbortController();
  await Promise.race([registry.stop(), clock.sleep(stopMs, done.signal)]);
  done.abort();
}

/**
 * Keeps the folder in being. When it cannot be created, as on a full file system, the agent starts all the same and tries
 * again.
 */
class FolderKeeper {
  readonly #folder: string;
  readonly #watch: FolderWatch;
  readonly #log: Logger;
  readonly #clock: Clock;
  #problem: string | undefined;

  constructor(folder: string, watch: FolderWatch, log: Logger, clock: Clock) {
    this.#folder = folder;
    this.#watch = watch;
    this.#log = log;
    this.#clock = clock;
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  async create(): Promise<void> {
    try {
      await mkdir(this.#folder, { mode: 0o700 });
      this.#problem = undefined;
    } catch (error) {
      const isThere = errorCode(error) === 'EEXIST';
      const now = isThere
        ? undefined
        : `${this.#folder} cannot be made, so no plugin registers: ${describeError(error)}`;
      if (now !== undefined && now !== this.#problem) this.#log.warn(now);
      this.#problem = now;
    }
  }

  async run(signal: AbortSignal): Promise<void> {
    let wake = new AbortController();
    using _follow = this.#watch.onChange(({ view }) => view.problem !== undefined && wake.abort());
    signal.addEventListener('abort', () => wake.abort(), { once: true });
    while (!signal.aborted) {
      wake = new AbortController();
      await this.#clock.sleep(keepFolderMs, wake.signal);
      await this.create();
    }
  }
}
