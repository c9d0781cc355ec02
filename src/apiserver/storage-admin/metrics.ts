import { stat } from 'node:fs/promises';
import type { MetricsRegistry } from '../../base/index.ts';
import { Gauge } from '../../base/index.ts';
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
  new Gauge({
    name: 'apiserver_storage_size_bytes',
    help: 'The size of the database with its log.',
    labelNames: ['storage_cluster_id'],
    registers: [metrics],
    async collect() {
      const sizes = await Promise.all([sizeOf(store.file), sizeOf(`${store.file}-wal`)]);
      this.set({ storage_cluster_id: 'sqlite-0' }, sizes[0] + sizes[1]);
    },
  });
  gauge(metrics, 'writable', 'Whether writes find room on the disk: 1 or 0.', () =>
    store.noRoom === undefined ? 1 : 0,
  );
}

/** 0 for a file that cannot be examined now. */
async function sizeOf(path: string): Promise<number> {
  return await stat(path).then(
    ({ size }) => size,
    () => 0,
  );
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
