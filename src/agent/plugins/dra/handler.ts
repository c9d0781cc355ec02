import { checkName } from '../../../api/index.ts';
import type { Clock, Logger, MetricsRegistry } from '../../../base/index.ts';
import type { PluginDetails, PluginHandler, PluginInfo } from '../index.ts';
import { createDriver } from './driver.ts';
import type { DraInstance } from './instance.ts';
import { inOrder, openInstance } from './instance.ts';
import { draMetrics } from './metrics.ts';
import { chooseService } from './service.ts';
import type { DraDriver, DraDrivers } from './types.ts';

export interface DraHandlerOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics?: MetricsRegistry;
  /** For one call of a driver; default 45 s, as the reference. */
  readonly deadlineMs?: number;
}

const driverNameLimit = 63;

/**
 * Handles plugins of type DRAPlugin (as the reference): a driver may have several sockets, as during an upgrade, and the
 * newest that is connected is asked. Disposing ends all calls and connections.
 */
export function createDraHandler(options: DraHandlerOptions): PluginHandler & DraDrivers & Disposable {
  const { clock, log, deadlineMs = 45_000 } = options;
  const bySocket = new Map<string, DraInstance>();
  const byName = new Map<string, DraDriver>();
  const listeners = new Set<() => void>();
  const metrics = draMetrics(options.metrics);

  const instancesOf = (name: string) => [...bySocket.values()].filter(({ plugin }) => plugin.name === name);

  function changed(): void {
    for (const listener of [...listeners]) listener();
  }

  function refuseTaken({ name, endpoint, socket }: PluginInfo): void {
    const taken = instancesOf(name).find(
      ({ plugin }) => plugin.endpoint === endpoint && plugin.socket !== socket,
    );
    if (taken === undefined) return;
    throw new Error(
      `the endpoint ${endpoint} of DRA driver ${name} is registered already, by ${taken.plugin.socket}`,
    );
  }

  function onLink({ plugin, link }: DraInstance): void {
    const about = { driver: plugin.name, endpoint: plugin.endpoint };
    if (link.isConnected) log.info(about, 'connected to the DRA driver');
    else
      log.warn(
        about,
        'the connection to the DRA driver is lost; it is made anew as soon as the driver answers again',
      );
    changed();
  }

  function validate(plugin: PluginInfo) {
    checkDriverName(plugin.name);
    refuseTaken(plugin);
    return chooseService(plugin.versions);
  }

  function remove(socket: string): void {
    const instance = bySocket.get(socket);
    if (instance === undefined) return;
    bySocket.delete(socket);
    const { name } = instance.plugin;
    if (instancesOf(name).length === 0) byName.delete(name);
    instance[Symbol.dispose]();
    changed();
  }

  const drivers: DraDrivers = {
    driver: (name) => byName.get(name),
    drivers: () => [...byName.values()].sort((one, other) => (one.name < other.name ? -1 : 1)),
    onChange(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
  metrics.watch(drivers);

  return {
    ...drivers,
    type: 'DRAPlugin',
    validate: (plugin) => void validate(plugin),
    async register(plugin, signal) {
      signal.throwIfAborted();
      const chosen = validate(plugin);
      const { name, socket } = plugin;
      remove(socket);
      bySocket.set(socket, openInstance({ plugin, chosen, clock, onLink }));
      const parts = { name, instances: () => instancesOf(name), clock, metrics, deadlineMs };
      if (!byName.has(name)) byName.set(name, createDriver(parts));
      changed();
    },
    deregister: ({ socket }) => remove(socket),
    details({ socket, name }) {
      const instance = bySocket.get(socket);
      return instance && detailsOf(instance, inOrder(instancesOf(name))[0] === instance);
    },
    [Symbol.dispose]() {
      for (const socket of [...bySocket.keys()]) remove(socket);
    },
  };
}

function checkDriverName(name: string): void {
  const wrong =
    name.length > driverNameLimit
      ? `must be no more than ${driverNameLimit} characters`
      : checkName('subdomain', name);
  if (wrong !== undefined)
    throw new Error(`${JSON.stringify(name)} cannot be the name of a DRA driver: ${wrong}`);
}

function detailsOf({ chosen, link }: DraInstance, isAsked: boolean): PluginDetails {
  return {
    service: chosen.name,
    connected: link.isConnected,
    connectionSince: new Date(link.sinceMs).toISOString(),
    asked: isAsked,
  };
}
