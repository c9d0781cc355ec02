import { checkName } from '../../../api/index.ts';
import type { Clock, Logger, MetricsRegistry } from '../../../base/index.ts';
import type { PluginDetails, PluginHandler, PluginInfo } from '../index.ts';
import { createDriver } from './driver.ts';
import type { DraInstance } from './instance.ts';
import { openInstance, sortByPreference } from './instance.ts';
import type { DraMetrics } from './metrics.ts';
import { draMetrics } from './metrics.ts';
import type { ChosenService } from './service.ts';
import { chooseService } from './service.ts';
import type { DraDriver, DraDrivers } from './types.ts';

export interface DraHandlerOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics?: MetricsRegistry;
  /** The deadline of one call to a driver; default 45 s, as the reference. */
  readonly deadlineMs?: number;
}

const driverNameLimit = 63;

/**
 * Handles plugins of type DRAPlugin (as the reference): a driver may have several sockets, as during an upgrade, and calls go
 * to the newest one that is connected. Disposing ends all calls and connections.
 */
export class DraHandler implements PluginHandler, DraDrivers, Disposable {
  readonly type = 'DRAPlugin';
  readonly #options: DraHandlerOptions;
  readonly #metrics: DraMetrics;
  readonly #bySocket = new Map<string, DraInstance>();
  readonly #byName = new Map<string, DraDriver>();
  readonly #listeners = new Set<() => void>();

  constructor(options: DraHandlerOptions) {
    this.#options = options;
    this.#metrics = draMetrics(options.metrics);
    this.#metrics.watch(this);
  }

  driver(name: string): DraDriver | undefined {
    return this.#byName.get(name);
  }

  drivers(): readonly DraDriver[] {
    return [...this.#byName.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  validate(plugin: PluginInfo): void {
    this.#chooseService(plugin);
  }

  async register(plugin: PluginInfo, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { clock, deadlineMs = 45_000 } = this.#options;
    const chosen = this.#chooseService(plugin);
    const { name, socket } = plugin;
    this.#remove(socket);
    const onLink = (instance: DraInstance) => this.#onLink(instance);
    this.#bySocket.set(socket, openInstance({ plugin, chosen, clock, onLink }));
    if (!this.#byName.has(name)) {
      const instances = () => this.#instancesOf(name);
      this.#byName.set(name, createDriver({ name, instances, clock, metrics: this.#metrics, deadlineMs }));
    }
    this.#notify();
  }

  deregister({ socket }: PluginInfo): void {
    this.#remove(socket);
  }

  details({ socket, name }: PluginInfo): PluginDetails | undefined {
    const instance = this.#bySocket.get(socket);
    return instance && toDetails(instance, sortByPreference(this.#instancesOf(name))[0] === instance);
  }

  [Symbol.dispose](): void {
    for (const socket of [...this.#bySocket.keys()]) this.#remove(socket);
  }

  /** Throws an Error when the name, the endpoint, or all of its services stand against the plugin. */
  #chooseService(plugin: PluginInfo): ChosenService {
    checkDriverName(plugin.name);
    this.#refuseTakenEndpoint(plugin);
    return chooseService(plugin.versions);
  }

  #refuseTakenEndpoint({ name, endpoint, socket }: PluginInfo): void {
    const taken = this.#instancesOf(name).find(
      ({ plugin }) => plugin.endpoint === endpoint && plugin.socket !== socket,
    );
    if (taken === undefined) return;
    throw new Error(
      `the endpoint ${endpoint} of DRA driver ${name} is registered already, by ${taken.plugin.socket}`,
    );
  }

  #onLink({ plugin, link }: DraInstance): void {
    const { log } = this.#options;
    const about = { driver: plugin.name, endpoint: plugin.endpoint };
    if (link.isConnected) log.info(about, 'connected to the DRA driver');
    else
      log.warn(
        about,
        'the connection to the DRA driver is lost; the agent connects again as soon as the driver answers',
      );
    this.#notify();
  }

  #instancesOf(name: string): DraInstance[] {
    return [...this.#bySocket.values()].filter(({ plugin }) => plugin.name === name);
  }

  #remove(socket: string): void {
    const instance = this.#bySocket.get(socket);
    if (instance === undefined) return;
    this.#bySocket.delete(socket);
    const { name } = instance.plugin;
    if (this.#instancesOf(name).length === 0) this.#byName.delete(name);
    instance[Symbol.dispose]();
    this.#notify();
  }

  #notify(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

function checkDriverName(name: string): void {
  const wrong =
    name.length > driverNameLimit
      ? `must be no more than ${driverNameLimit} characters`
      : checkName('subdomain', name);
  if (wrong !== undefined)
    throw new Error(`${JSON.stringify(name)} cannot be the name of a DRA driver: ${wrong}`);
}

function toDetails({ chosen, link }: DraInstance, isAsked: boolean): PluginDetails {
  return {
    service: chosen.name,
    connected: link.isConnected,
    connectionSince: new Date(link.sinceMs).toISOString(),
    asked: isAsked,
  };
}
