import { Writable } from 'node:stream';
import type { PluginHandler, PluginInfo } from '../../../../src/agent/plugins/index.ts';
import type { PluginPeer } from '../../../../src/agent/plugins/peer.ts';
import { SocketRegistry } from '../../../../src/agent/plugins/registry.ts';
import type { FolderEntry } from '../../../../src/base/folder-watch/index.ts';
import { createLogger, createMetrics } from '../../../../src/base/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

/** What a plugin behind a socket, or its handler, does when its turn comes. */
export type Behaviour =
  | 'good'
  /** Does not answer who it is. */
  | 'silent'
  | 'crashing'
  /** The handler does not want it. */
  | 'unwanted'
  /** The handler cannot take it. */
  | 'failing'
  /** The handler needs 30 s to take it. */
  | 'slow'
  /** The handler takes it and does not come to an end before it is told to. */
  | 'endless'
  /** Does not hear that it is registered. */
  | 'deaf';

export const folder = '/plugins_registry';

interface Socket {
  made: number;
  behaviour: Behaviour;
  type: string;
  name: string;
}

/** A node with sockets that are only told about, and a handler that keeps watch over what it is asked. */
export function createFakeNode(handlers: readonly PluginHandler[] = []) {
  const clock = createManualClock();
  const live = new Map<string, Socket>();
  const behaviours = new Map<string, Behaviour>();
  const registered = new Map<string, PluginInfo>();
  const inUse = new Set<string>();
  const told: string[] = [];
  const calls: string[] = [];
  const opened: string[] = [];
  const logged: string[] = [];
  /** Of what the registry promises to handlers: register and deregister take turns. */
  const violations: string[] = [];
  const metrics = createMetrics();
  let asked = 0;
  let mostAsked = 0;
  let made = 0;
  const log = createLogger({
    format: 'json',
    level: 'info',
    output: new Writable({
      write(chunk, _encoding, done) {
        logged.push(String(JSON.parse(String(chunk)).msg));
        done();
      },
    }),
  });

  const behaviourOf = (path: string): Behaviour => behaviours.get(path) ?? 'good';

  /** As a deadline ends it, or the caller. */
  async function silence(ms: number, cancel: AbortSignal): Promise<never> {
    await clock.sleep(ms, cancel);
    throw new Error(cancel.aborted ? 'given up' : 'no answer');
  }

  function open(path: string): PluginPeer {
    opened.push(path);
    return {
      async info(cancel) {
        asked += 1;
        mostAsked = Math.max(mostAsked, asked);
        try {
          if (behaviourOf(path) === 'silent') await silence(1000, cancel);
          const socket = live.get(path);
          if (socket === undefined || behaviourOf(path) === 'crashing') throw new Error('nobody listens');
          return { type: socket.type, name: socket.name, endpoint: '', supportedVersions: ['v1'] };
        } finally {
          asked -= 1;
        }
      },
      async notify(error, cancel) {
        if (behaviourOf(path) === 'deaf') await silence(5000, cancel);
        told.push(`${path}: ${error ?? 'registered'}`);
      },
      [Symbol.dispose]: () => undefined,
    };
  }

  const testHandler: PluginHandler = {
    type: 'TestPlugin',
    validate({ socket }) {
      if (behaviourOf(socket) === 'unwanted') throw new Error('not wanted here');
    },
    async register(plugin, signal) {
      const { socket } = plugin;
      const behaviour = behaviourOf(socket);
      calls.push(`register ${socket} ${plugin.madeMs}`);
      if (inUse.has(socket)) violations.push(`${socket} is registered while it was`);
      inUse.add(socket);
      try {
        if (behaviour === 'slow') await clock.sleep(30_000); // deaf to the signal
        if (behaviour === 'endless') await clock.sleep(24 * 3600_000, signal);
        if (behaviour === 'endless' || behaviour === 'failing') throw new Error('cannot be taken');
      } catch (error) {
        inUse.delete(socket);
        throw error;
      }
      registered.set(socket, plugin);
    },
    async deregister(plugin) {
      calls.push(`deregister ${plugin.socket} ${plugin.madeMs}`);
      if (registered.get(plugin.socket) !== plugin)
        violations.push(`${plugin.socket} is deregistered and was not registered`);
      registered.delete(plugin.socket);
      await clock.sleep(10);
      inUse.delete(plugin.socket);
    },
  };

  const registry = new SocketRegistry({
    folder,
    handlers: handlers.length === 0 ? [testHandler] : handlers,
    metrics,
    log,
    clock,
    random: () => 0,
    open,
  });

  function entries(): ReadonlyMap<string, FolderEntry> {
    return new Map(
      [...live].map(([path, socket]) => {
        const name = path.slice(folder.length + 1);
        return [name, entryOf(name, socket.made)];
      }),
    );
  }

  return {
    clock,
    registry,
    registered,
    told,
    calls,
    opened,
    logged,
    violations,
    metrics,
    get mostAsked() {
      return mostAsked;
    },
    /** The sockets that there are, with what tells one incarnation from the next. */
    live: () => new Map([...live].map(([path, socket]) => [path, socket.made])),
    /** A new socket, in place of one that is there. */
    put(name: string, given: { behaviour?: Behaviour; type?: string; plugin?: string } = {}): string {
      const {
        behaviour = 'good',
        type = 'TestPlugin',
        plugin = `plugin.example/${name.replaceAll('/', '-')}`,
      } = given;
      made += 1;
      const path = `${folder}/${name}`;
      live.set(path, { made, behaviour, type, name: plugin });
      behaviours.set(path, behaviour);
      registry.update(entries());
      return path;
    },
    behave(name: string, behaviour: Behaviour): void {
      behaviours.set(`${folder}/${name}`, behaviour);
    },
    remove(name: string): void {
      live.delete(`${folder}/${name}`);
      registry.update(entries());
    },
    see: () => registry.update(entries()),
    of: (path: string) => registry.sockets().find((socket) => socket.path === path),
  };
}

export function entryOf(path: string, made: number, kind: FolderEntry['kind'] = 'socket'): FolderEntry {
  return { path, kind, identity: `${made}`, size: 0, mtimeMs: made, mode: 0o755, uid: 0 };
}
