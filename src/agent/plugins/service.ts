import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FolderWatch } from '../../base/folder-watch/index.ts';
import { watchFolder } from '../../base/folder-watch/index.ts';
import type { Clock, Logger, MetricsRegistry, Service } from '../../base/index.ts';
import { describeError, errorCode } from '../../base/index.ts';
import type { SocketRegistry } from './registry.ts';
import { createSocketRegistry, isPluginPath, tooManySockets } from './registry.ts';
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
  /** Where plugins put their sockets. */
  readonly folder: string;
  /** How changes in the folder are noticed; undefined before it was looked at. */
  readonly watchedBy: 'events' | 'polling' | undefined;
  /** What keeps plugins from being seen, and what to do. */
  problems(): readonly string[];
  readonly service: Service;
}

/** Of names of all kinds, subfolders included. */
const maxEntries = 4000;
const maxSockets = 1000;
const depth = 5;

/** The folder is made again when somebody has removed it. */
const keepFolderMs = 10_000;

/** What is under way may take so long to see that the agent stops. */
const stopMs = 2000;

/** The registry of the plugins of this node, on the folder `plugins_registry` in the root folder. */
export function createPluginService(options: PluginServiceOptions): PluginService {
  const { rootDir, handlers, dependsOn, metrics, log, clock } = options;
  const folder = join(rootDir, 'plugins_registry');
  const registry = createSocketRegistry({ folder, handlers, metrics, log, clock, maxSockets });
  const watch = watchFolder({ folder, select: isPluginPath, depth, maxEntries, log, clock });
  const keeper = keepFolder(folder, watch, log, clock);
  const run: Service['run'] = async (signal, ready) => {
    using _follow = watch.onChange(({ view }) => registry.see(view.entries));
    await keeper.make();
    if (watch.view !== undefined) registry.see(watch.view.entries);
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
      ...(registry.leftOut > 0 ? [tooManySockets(folder, maxSockets, registry.leftOut)] : []),
    ],
    service: { name: 'plugins', dependsOn, onFailure: 'restart', run },
  };
}

async function stopWithin(registry: SocketRegistry, clock: Clock): Promise<void> {
  const done = new AbortController();
  await Promise.race([registry.stop(), clock.sleep(stopMs, done.signal)]);
  done.abort();
}

/** A folder that cannot be made, on a file system that is full, is no reason not to start: it is tried again. */
function keepFolder(folder: string, watch: FolderWatch, log: Logger, clock: Clock) {
  let problem: string | undefined;

  async function make(): Promise<void> {
    try {
      await mkdir(folder, { mode: 0o700 });
      problem = undefined;
    } catch (error) {
      const isThere = errorCode(error) === 'EEXIST';
      const now = isThere
        ? undefined
        : `${folder} cannot be made, so no plugin registers: ${describeError(error)}`;
      if (now !== undefined && now !== problem) log.warn(now);
      problem = now;
    }
  }

  return {
    get problem() {
      return problem;
    },
    make,
    async run(signal: AbortSignal): Promise<void> {
      let wake = new AbortController();
      using _follow = watch.onChange(({ view }) => view.problem !== undefined && wake.abort());
      signal.addEventListener('abort', () => wake.abort(), { once: true });
      while (!signal.aborted) {
        wake = new AbortController();
        await clock.sleep(keepFolderMs, wake.signal);
        await make();
      }
    },
  };
}
