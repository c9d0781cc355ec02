import type { Clock, Logger } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';
import { sameDevices, unhealthy } from './device-list.ts';
import { limits } from './limits.ts';
import type { Device, DeviceInventory, DeviceOptions, DevicePluginCalls, DeviceResource } from './types.ts';

export interface InventoryOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** How long the devices of a plugin that has left stay. */
  readonly graceMs: () => number;
}

/**
 * What is offered now. Each resource goes this way:
 *
 *     attached ─► listed ─► away ──── grace ───► gone
 *         ▲          ▲        │
 *         └──────────┴────────┘ attached again
 */
export interface Inventory extends DeviceInventory, Disposable {
  /** A plugin answers for it from now on. Devices that are known stay as they are until it lists its own. */
  attached(name: string, options: DeviceOptions, plugin: DevicePluginCalls): void;
  listed(name: string, devices: ReadonlyMap<string, Device>): void;
  /** Its plugin has sent no list in time: nobody vouches for what is known. */
  doubted(name: string): void;
  /** Its plugin has left; the grace begins, unless it has already. */
  away(name: string): void;
  /** Of a plugin before this agent's start, which may come back. */
  remembered(name: string, ids: readonly string[]): void;
  /** Resources that have been here and are gone, the latest 256: the node has none of them. */
  gone(): ReadonlySet<string>;
  /** Calls `listener` when a grace is over. */
  onGone(listener: (name: string) => void): Disposable;
}

const noOptions: DeviceOptions = { preStartRequired: false, preferredAllocation: false };

export function createInventory({ clock, log, graceMs }: InventoryOptions): Inventory {
  const entries = new Map<string, DeviceResource>();
  const graces = new Map<string, AbortController>();
  const gone = new Set<string>();
  const changed = createListeners<void>(log);
  const expired = createListeners<string>(log);
  let shown: ReadonlyMap<string, DeviceResource> | undefined;

  function change(name: string, next: DeviceResource | undefined): void {
    if (next === undefined) entries.delete(name);
    else entries.set(name, next);
    shown = undefined;
    changed.tell();
  }

  const known = (name: string): DeviceResource =>
    entries.get(name) ?? { name, devices: new Map(), options: noOptions, plugin: undefined };

  function replaceDevices(name: string, devices: ReadonlyMap<string, Device>): void {
    const before = entries.get(name);
    if (before !== undefined && !sameDevices(before.devices, devices)) change(name, { ...before, devices });
  }

  function endGrace(name: string): void {
    graces.get(name)?.abort();
    graces.delete(name);
  }

  async function beginGrace(name: string): Promise<void> {
    if (graces.has(name)) return;
    const end = new AbortController();
    graces.set(name, end);
    await clock.sleep(graceMs(), end.signal);
    if (end.signal.aborted) return;
    graces.delete(name);
    gone.add(name);
    if (gone.size > limits.resources) gone.delete([...gone][0] ?? name);
    log.warn(
      { resource: name },
      'no plugin has come back for the resource; the node has none of it any more',
    );
    change(name, undefined);
    expired.tell(name);
  }

  function leave(name: string, devices: ReadonlyMap<string, Device>): void {
    change(name, { ...known(name), devices, plugin: undefined });
    void beginGrace(name);
  }

  return {
    resources() {
      shown ??= new Map(entries);
      return shown;
    },
    onChange: (listener) => changed.add(listener),
    onGone: (listener) => expired.add(listener),
    gone: () => gone,
    attached(name, options, plugin) {
      endGrace(name);
      gone.delete(name);
      change(name, { ...known(name), options, plugin });
    },
    listed: replaceDevices,
    doubted: (name) => replaceDevices(name, unhealthy(known(name).devices)),
    away: (name) => leave(name, unhealthy(known(name).devices)),
    remembered(name, ids) {
      if (entries.has(name)) return;
      leave(name, new Map(ids.map((id) => [id, { id, healthy: false, numaNodes: [] }])));
    },
    [Symbol.dispose]() {
      for (const name of [...graces.keys()]) endGrace(name);
    },
  };
}

interface Listeners<T> {
  add(listener: (value: T) => void): Disposable;
  tell(value: T): void;
}

/** What one of them throws is logged, and reaches neither the others nor the plugin. */
function createListeners<T>(log: Logger): Listeners<T> {
  const all = new Set<{ listener: (value: T) => void }>();
  return {
    add(listener) {
      const entry = { listener };
      all.add(entry);
      return { [Symbol.dispose]: () => void all.delete(entry) };
    },
    tell(value) {
      for (const { listener } of [...all]) {
        try {
          listener(value);
        } catch (error) {
          log.error({ err: error }, `a listener for changes of devices failed: ${describeError(error)}`);
        }
      }
    },
  };
}
