import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type {
  PluginHandler,
  PluginInfo,
  PluginService,
  PluginSocket,
} from '../../../src/agent/plugins/index.ts';
import { createPluginService } from '../../../src/agent/plugins/index.ts';
import { createMetrics, silentLogger, systemClock } from '../../../src/base/index.ts';
import { waitFor } from '../../support/index.ts';

/** A registry of plugins on a real folder, with a handler that writes down what it is asked. */
export interface RegisteringNode extends AsyncDisposable {
  readonly plugins: PluginService;
  readonly folder: string;
  /** The registered ones by registration socket. */
  readonly registered: ReadonlyMap<string, PluginInfo>;
  /** `register NAME` and `deregister NAME`, the earliest first. */
  readonly calls: readonly string[];
  of(path: string): PluginSocket | undefined;
  /** Resolves when the socket has come to that state. */
  state(path: string, state: PluginSocket['state']): Promise<PluginSocket>;
  /** Answers how long the stop took, in milliseconds. */
  stop(): Promise<number>;
}

export interface NodeOptions {
  readonly rootDir: string;
  /** One plugin of a name is taken at a time. */
  readonly oneOfAName?: boolean;
  /** Registering never ends, whatever the handler is told. */
  readonly endless?: boolean;
}

/** Resolves when the registry is ready. */
export async function startNode({
  rootDir,
  oneOfAName = false,
  endless = false,
}: NodeOptions): Promise<RegisteringNode> {
  const registered = new Map<string, PluginInfo>();
  const calls: string[] = [];
  const handler: PluginHandler = {
    type: 'TestPlugin',
    validate({ name, socket }) {
      const other = [...registered.values()].find((each) => each.name === name && each.socket !== socket);
      if (oneOfAName && other !== undefined) throw new Error(`${name} is registered already`);
    },
    async register(plugin) {
      calls.push(`register ${plugin.name}`);
      if (endless) await new Promise(() => undefined);
      registered.set(plugin.socket, plugin);
    },
    deregister({ name, socket }) {
      calls.push(`deregister ${name}`);
      registered.delete(socket);
    },
  };
  await mkdir(rootDir, { recursive: true });
  const plugins = createPluginService({
    rootDir,
    handlers: [handler],
    dependsOn: [],
    metrics: createMetrics(),
    log: silentLogger(),
    clock: systemClock,
  });
  const end = new AbortController();
  const ready = Promise.withResolvers<void>();
  const running = plugins.service.run(end.signal, ready.resolve);
  await Promise.race([ready.promise, running]);
  const of = (path: string) => plugins.sockets().find((socket) => socket.path === path);

  async function stop(): Promise<number> {
    const startedMs = performance.now();
    end.abort();
    await running;
    return performance.now() - startedMs;
  }

  return {
    plugins,
    folder: join(rootDir, 'plugins_registry'),
    registered,
    calls,
    of,
    state: (path, state) =>
      waitFor(
        `${path} to be ${state}`,
        () => {
          const seen = of(path);
          return seen?.state === state && seen;
        },
        { timeoutMs: 20_000 },
      ),
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
}
