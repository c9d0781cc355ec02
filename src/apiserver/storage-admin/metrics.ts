import { qualifiedResource } from '../../api/index.ts';
import type { MetricsRegistry } from '../../base/index.ts';
import { Gauge } from '../../base/index.ts';
import type { Registry } from '../registry/index.ts';
import type { MaintainedStore } from '../storage/index.ts';

/** Registers the store's metrics; each is read when the metrics are collected. */
export function registerStorageMetrics(store: MaintainedStore, metrics: MetricsRegistry): void {
  gauge(
    metrics,
    'history_window_seconds',
    'How far the kept history reaches back.',
    () => store.history.keptMs / 1000,
  );
  gauge(
    metrics,
    'history_window_wanted_seconds',
    'How far history is to reach back (--history-window).',
    () => store.history.windowMs / 1000,
  );
  gauge(
    metrics,
    'history_cuts',
    'How often history was cut since the start because it took more than --history-bytes.',
    () => store.history.cuts,
  );
  gauge(metrics, 'writable', 'Whether writes find room on the disk: 1 or 0.', () =>
    store.noRoom === undefined ? 1 : 0,
  );
}

/** Registers how many objects cannot be read, by resource, as of when the metrics are collected. */
export function registerUnreadableObjects(registry: Registry, metrics: MetricsRegistry): void {
  new Gauge({
    name: 'nodeward_storage_unreadable_objects',
    help: 'Objects in the store that cannot be read: encrypted, damaged, or in an unknown encoding.',
    labelNames: ['resource'],
    registers: [metrics],
    collect() {
      for (const resource of registry.resources) {
        if (resource.kind.virtual || resource.kind.storedAs !== undefined) continue;
        const name = qualifiedResource(resource.kind, registry.groupSuffix);
        this.set({ resource: name }, resource.storage.unreadable(resource.prefix('')).length);
      }
    },
  });
}

function gauge(metrics: MetricsRegistry, name: string, help: string, value: () => number): void {
  new Gauge({
    name: `nodeward_storage_${name}`,
    help,
    registers: [metrics],
    collect() {
      this.set(value());
    },
  });
}
