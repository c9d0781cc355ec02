import type { Clock, Logger } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';
import { hasSameDevices, toUnhealthy } from './device-list.ts';
import { limits } from './limits.ts';
import { findResourceNameFault } from './resource-name.ts';
import type { Device, DeviceInventory, DeviceOptions, DevicePluginCalls, DeviceResource } from './types.ts';

export interface InventoryOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** How long the devices of a plugin that has left are kept. */
  readonly graceMs: () => number;
}

const noOptions: DeviceOptions = { preStartRequired: false, preferredAllocation: false };

/**
 * The resources that plugins offer now. The states of a resource:
 *
 *     attached ─► listed ─► away ──── grace ───► gone
 *         ▲          ▲        │
 *         └──────────┴────────┘ attached again
 */
export class Inventory implements DeviceInventory, Disposable {
  readonly #options: InventoryOptions;
  readonly #entries = new Map<string, DeviceResource>();
  readonly #graces = new Map<string, AbortController>();
  readonly #gone = new Set<string>();
  readonly #changed: Listeners<void>;
  readonly #expired: Listeners<string>;
  /** A copy of the entries for readers; undefined after a change. */
  #snapshot: ReadonlyMap<string, DeviceResource> | undefined;

  constructor(options: InventoryOptions) {
    this.#options = options;
    this.#changed = new Listeners(options.log);
    this.#expired = new Listeners(options.log);
  }

  resources(): ReadonlyMap<string, DeviceResource> {
    this.#snapshot ??= new Map(this.#entries);
    return this.#snapshot;
  }

  onChange(listener: () => void): Disposable {
    return this.#changed.add(listener);
  }

  /** Calls `listener` when the grace of a resource is over. */
  onGone(listener: (name: string) => void): Disposable {
    return this.#expired.add(listener);
  }

  /** The resources whose grace is over, the latest 256: the node has none of them any more. */
  gone(): ReadonlySet<string> {
    return this.#gone;
  }

  /** A plugin serves the resource from now on. Known devices stay as they are until it sends its own list. */
  attached(name: string, options: DeviceOptions, plugin: DevicePluginCalls): void {
    this.#endGrace(name);
    this.#gone.delete(name);
    this.#change(name, { ...this.#entry(name), options, plugin });
  }

  listed(name: string, devices: ReadonlyMap<string, Device>): void {
    const before = this.#entries.get(name);
    if (before !== undefined && !hasSameDevices(before.devices, devices))
      this.#change(name, { ...before, devices });
  }

  /** The plugin has sent no list in time: the known devices count as unhealthy. */
  doubted(name: string): void {
    this.listed(name, toUnhealthy(this.#entry(name).devices));
  }

  /** The plugin has left; the grace begins, unless it has already. */
  away(name: string): void {
    this.#leave(name, toUnhealthy(this.#entry(name).devices));
  }

  /** Adds a resource that was known before the agent's start; its plugin may come back. */
  remembered(name: string, ids: readonly string[]): void {
    if (this.#entries.has(name)) return;
    this.#leave(name, new Map(ids.map((id) => [id, { id, healthy: false, numaNodes: [] }])));
  }

  [Symbol.dispose](): void {
    for (const name of [...this.#graces.keys()]) this.#endGrace(name);
  }

  #entry(name: string): DeviceResource {
    return this.#entries.get(name) ?? { name, devices: new Map(), options: noOptions, plugin: undefined };
  }

  #change(name: string, next: DeviceResource | undefined): void {
    if (next === undefined) this.#entries.delete(name);
    else this.#entries.set(name, next);
    this.#snapshot = undefined;
    this.#changed.notify();
  }

  #leave(name: string, devices: ReadonlyMap<string, Device>): void {
    this.#change(name, { ...this.#entry(name), devices, plugin: undefined });
    void this.#beginGrace(name);
  }

  async #beginGrace(name: string): Promise<void> {
    if (this.#graces.has(name)) return;
    const { clock, log, graceMs } = this.#options;
    const end = new AbortController();
    this.#graces.set(name, end);
    await clock.sleep(graceMs(), end.signal);
    if (end.signal.aborted) return;
    this.#graces.delete(name);
    this.#gone.add(name);
    if (this.#gone.size > limits.resources) this.#gone.delete([...this.#gone][0] ?? name);
    log.warn(
      { resource: name },
      'no plugin has come back for the resource; the node has none of it any more',
    );
    this.#change(name, undefined);
    this.#expired.notify(name);
  }

  #endGrace(name: string): void {
    this.#graces.get(name)?.abort();
    this.#graces.delete(name);
  }
}

/**
 * Adds the devices that the agent knew before its restart, as unhealthy, until their plugin is back or the grace is over.
 * Entries that no plugin could have registered are ignored.
 */
export function rememberDevices(
  inventory: Pick<Inventory, 'remembered'>,
  before: Readonly<Record<string, readonly string[]>>,
): void {
  const usable = Object.entries(before).filter(
    ([name, ids]) => findResourceNameFault(name) === undefined && ids.length <= limits.devices,
  );
  for (const [name, ids] of usable.slice(0, limits.resources)) inventory.remembered(name, ids);
}

/** An error of a listener is logged, and affects neither the other listeners nor the plugin. */
class Listeners<T> {
  readonly #log: Logger;
  readonly #all = new Set<{ listener: (value: T) => void }>();

  constructor(log: Logger) {
    this.#log = log;
  }

  add(listener: (value: T) => void): Disposable {
    const entry = { listener };
    this.#all.add(entry);
    return { [Symbol.dispose]: () => void this.#all.delete(entry) };
  }

  notify(value: T): void {
    for (const { listener } of [...this.#all]) {
      try {
        listener(value);
      } catch (error) {
        this.#log.error({ err: error }, `a listener for changes of devices failed: ${describeError(error)}`);
      }
    }
  }
}
