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
  /** Absolute path of the sockets' folder. */
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
  /** Further sockets are ignored; default 1000. */
  readonly maxSockets?: number;
}

const maxSocketsByDefault = 1000;

/**
 * How many plugins are asked for their info at once: few enough for timely answers on a busy node. Each takes a second at
 * most, so even among a thousand sockets that hang each one is asked within half a minute.
 */
const maxInfoCalls = 32;

/** Follows the sockets in the folder, and registers the plugins behind them. */
export class SocketRegistry implements PluginRegistry {
  readonly #options: SocketRegistryOptions;
  readonly #maxSockets: number;
  readonly #tracked = new Map<string, TrackedSocket>();
  readonly #handlers: ReadonlyMap<string, PluginHandler>;
  readonly #parts: Omit<TrackedParts, 'onEnd'>;
  #leftOut = 0;
  #stopped = false;

  constructor(options: SocketRegistryOptions) {
    const { handlers, log, clock, random = Math.random, open = openPeer } = options;
    this.#options = options;
    this.#maxSockets = options.maxSockets ?? maxSocketsByDefault;
    this.#handlers = new Map(handlers.map((handler) => [handler.type, handler]));
    this.#parts = {
      handlers: this.#handlers,
      open,
      infoCalls: new Semaphore(() => maxInfoCalls),
      clock,
      random,
      metrics: pluginMetrics([...this.#handlers.keys()], () => this.sockets(), options.metrics),
      log,
      onDeregistered: (plugin) => this.#hurryNamesakes(plugin),
    };
  }

  /** Sets the present content of the folder, by path below it; a socket that is not among it has gone. Returns at once. */
  update(entries: ReadonlyMap<string, FolderEntry>): void {
    if (this.#stopped) return;
    const found = this.#limit(findSockets(this.#options.folder, entries));
    const paths = new Set(found.map(({ path }) => path));
    for (const [path, socket] of this.#tracked) if (!paths.has(path)) socket.want(undefined);
    for (const socket of found) this.#track(socket);
  }

  /** Sorted by path. */
  sockets(): readonly PluginSocket[] {
    return [...this.#tracked.values()].map(({ status }) => this.#addDetails(status)).sort(byPath);
  }

  /** How many sockets are ignored because there are too many. */
  get leftOut(): number {
    return this.#leftOut;
  }

  /** Cancels registrations under way and starts no more; registered plugins stay so. Resolves when nothing runs any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    const all = [...this.#tracked.values()];
    for (const socket of all) socket.stop();
    await Promise.all(all.map(({ ended }) => ended));
  }

  #addDetails(status: PluginSocket): PluginSocket {
    const { plugin } = status;
    return { ...status, details: plugin && this.#handlers.get(plugin.type)?.details?.(plugin) };
  }

  /** Retries plugins of the same type and name at once: the plugin that left may have been the reason for their refusal. */
  #hurryNamesakes({ type, name }: PluginInfo): void {
    for (const other of this.#tracked.values()) {
      const { plugin } = other.status;
      if (plugin?.type === type && plugin.name === name) other.hurry();
    }
  }

  #track(socket: FoundSocket): void {
    const known = this.#tracked.get(socket.path);
    const onEnd = () => void this.#tracked.delete(socket.path);
    if (known !== undefined) known.want(socket);
    else this.#tracked.set(socket.path, new TrackedSocket(socket, { ...this.#parts, onEnd }));
  }

  /** Limits the sockets to `maxSockets`; those that are tracked already come first. */
  #limit(found: readonly FoundSocket[]): readonly FoundSocket[] {
    const { folder, log } = this.#options;
    const before = this.#leftOut;
    this.#leftOut = Math.max(0, found.length - this.#maxSockets);
    if (this.#leftOut === 0) return found;
    if (before === 0) log.warn(describeTooMany(folder, this.#maxSockets, this.#leftOut));
    const isKnown = ({ path }: FoundSocket) => this.#tracked.has(path);
    return [...found.filter(isKnown), ...found.filter((each) => !isKnown(each))].slice(0, this.#maxSockets);
  }
}

/** False when a part of the path begins with a dot: plugins create their sockets under such names before they rename them. */
export function isPluginPath(path: string): boolean {
  return !path.split('/').some((name) => name.startsWith('.'));
}

export function describeTooMany(folder: string, limit: number, leftOut: number): string {
  return `${folder} holds more than ${limit} sockets, ${leftOut} of them are not looked at; remove those that nobody serves`;
}

function findSockets(folder: string, entries: ReadonlyMap<string, FolderEntry>): FoundSocket[] {
  return [...entries.values()]
    .filter(({ kind, path }) => kind === 'socket' && isPluginPath(path))
    .map(({ path, identity, mtimeMs }) => ({ path: join(folder, path), identity, madeMs: mtimeMs }));
}

function byPath(a: { path: string }, b: { path: string }): number {
  return a.path < b.path ? -1 : 1;
}
