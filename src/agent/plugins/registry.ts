import { join } from 'node:path';
import type { FolderEntry } from '../../base/folder-watch/index.ts';
import type { Clock, Logger, MetricsRegistry } from '../../base/index.ts';
import { Semaphore } from '../../base/index.ts';
import { pluginMetrics } from './metrics.ts';
import type { PluginPeer } from './peer.ts';
import { openPeer } from './peer.ts';
import type { TrackedParts } from './tracked-socket.ts';
import { TrackedSocket } from './tracked-socket.ts';
import type { FoundSocket, PluginHandler, PluginInfo, PluginRegistry, PluginSocket } from './types.ts';

export interface SocketRegistryOptions {
  /** Absolute; where the sockets are. */
  readonly folder: string;
  /** One for each type of plugin. */
  readonly handlers: readonly PluginHandler[];
  readonly metrics?: MetricsRegistry | undefined;
  readonly log: Logger;
  readonly clock: Clock;
  /** Default Math.random. */
  readonly random?: () => number;
  /** Default a gRPC client of the socket. */
  readonly open?: (socket: string) => PluginPeer;
  /** More sockets than these are not looked at; default 1000. */
  readonly maxSockets?: number;
}

/** Follows what it is told to stand in the folder. */
export interface SocketRegistry extends PluginRegistry {
  /** What there is now, by path below the folder: whatever is not among it has gone. Returns at once. */
  see(entries: ReadonlyMap<string, FolderEntry>): void;
  /** How many sockets are left out because there are too many. */
  readonly leftOut: number;
  /** Gives up what is under way and begins nothing more; what is registered stays so. Resolves when all is quiet. */
  stop(): Promise<void>;
}

const maxSocketsByDefault = 1000;

/**
 * So many are asked at once who they are, few enough to be answered in time on a node that is busy. Each takes a second
 * at most, so even among a thousand sockets that hang everybody has his turn within half a minute.
 */
const askedAtOnce = 32;

export function createSocketRegistry(options: SocketRegistryOptions): SocketRegistry {
  const { folder, handlers, log, clock, random = Math.random, open = openPeer } = options;
  const { maxSockets = maxSocketsByDefault } = options;
  const tracked = new Map<string, TrackedSocket>();
  const byType = new Map(handlers.map((handler) => [handler.type, handler]));
  const detailed = (seen: PluginSocket): PluginSocket => ({
    ...seen,
    details: seen.plugin && byType.get(seen.plugin.type)?.details?.(seen.plugin),
  });
  const sockets = () => [...tracked.values()].map(({ seen }) => detailed(seen)).sort(byPath);
  let leftOut = 0;
  let stopped = false;
  const parts: Omit<TrackedParts, 'onEnd'> = {
    handlers: byType,
    open,
    asking: new Semaphore(() => askedAtOnce),
    clock,
    random,
    metrics: pluginMetrics([...byType.keys()], sockets, options.metrics),
    log,
    onDeregistered: hurryNamesakes,
  };

  /** One of them may have been refused because of the one that left. */
  function hurryNamesakes({ type, name }: PluginInfo): void {
    for (const other of tracked.values()) {
      const { plugin } = other.seen;
      if (plugin?.type === type && plugin.name === name) other.hurry();
    }
  }

  function track(socket: FoundSocket): void {
    const known = tracked.get(socket.path);
    const onEnd = () => void tracked.delete(socket.path);
    if (known !== undefined) known.want(socket);
    else tracked.set(socket.path, new TrackedSocket(socket, { ...parts, onEnd }));
  }

  /** Those that are known already come first. */
  function withinBounds(found: readonly FoundSocket[]): readonly FoundSocket[] {
    const before = leftOut;
    leftOut = Math.max(0, found.length - maxSockets);
    if (leftOut > 0 && before === 0) log.warn(tooManySockets(folder, maxSockets, leftOut));
    if (leftOut === 0) return found;
    const [known, fresh] = [true, false].map((is) => found.filter(({ path }) => tracked.has(path) === is));
    return [...(known ?? []), ...(fresh ?? [])].slice(0, maxSockets);
  }

  return {
    see(entries) {
      if (stopped) return;
      const found = withinBounds(socketsAmong(folder, entries));
      const paths = new Set(found.map(({ path }) => path));
      for (const [path, socket] of tracked) if (!paths.has(path)) socket.want(undefined);
      for (const socket of found) track(socket);
    },
    sockets,
    get leftOut() {
      return leftOut;
    },
    async stop() {
      stopped = true;
      const all = [...tracked.values()];
      for (const socket of all) socket.stop();
      await Promise.all(all.map(({ ended }) => ended));
    },
  };
}

/** Neither what has a dot before its name nor what is in such a folder: plugins make their sockets under such names. */
export function isPluginPath(path: string): boolean {
  return !path.split('/').some((name) => name.startsWith('.'));
}

export function tooManySockets(folder: string, limit: number, leftOut: number): string {
  return `${folder} holds more than ${limit} sockets, ${leftOut} of them are not looked at; remove those that nobody serves`;
}

function socketsAmong(folder: string, entries: ReadonlyMap<string, FolderEntry>): FoundSocket[] {
  return [...entries.values()]
    .filter(({ kind, path }) => kind === 'socket' && isPluginPath(path))
    .map(({ path, identity, mtimeMs }) => ({ path: join(folder, path), identity, madeMs: mtimeMs }));
}

function byPath(a: { path: string }, b: { path: string }): number {
  return a.path < b.path ? -1 : 1;
}
