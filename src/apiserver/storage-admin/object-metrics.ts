import { qualifiedResource } from '../../api/index.ts';
import type { MetricsRegistry } from '../../base/index.ts';
import { Gauge } from '../../base/index.ts';
import type { Registry } from '../registry/index.ts';
import type { CachedStore } from '../storage/index.ts';

/** Registers how many objects of each resource there are, as the reference names it, and the newest revision in memory. */
export function registerObjectMetrics(
  registry: Registry,
  storage: CachedStore,
  metrics: MetricsRegistry,
): void {
  const stored = registry.resources.filter(
    ({ kind }) => !kind.virtual && kind.storedAs === undefined && kind.verbs.includes('list'),
  );
  new Gauge({
    name: 'apiserver_storage_objects',
    help: 'Stored objects, by resource.',
    labelNames: ['resource'],
    registers: [metrics],
    collect() {
      for (const resource of stored) {
        const { items, remaining } = storage.list(resource.prefix(''), '', 1);
        const name = qualifiedResource(resource.kind, resource.groupSuffix);
        this.set({ resource: name }, items.length + remaining);
      }
    },
  });
  new Gauge({
    name: 'nodeward_storage_revision',
    help: 'The newest revision of the store that this server has in memory.',
    registers: [metrics],
    collect() {
      this.set(storage.applied);
    },
  });
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
