import type { MetricsRegistry } from '../../base/index.ts';
import { Counter, Histogram } from '../../base/index.ts';
import type { EvictionSignal } from '../node/index.ts';
import type { StorageLimit } from './storage-limits.ts';

export interface EvictionMetrics {
  /** A pod was evicted for a threshold, or a limit of its own. */
  evicted(cause: EvictionSignal | StorageLimit): void;
  /** How old what was measured is when a pod is chosen by it. */
  decided(signal: EvictionSignal, ageSeconds: number): void;
}

export function evictionMetrics(registry: MetricsRegistry): EvictionMetrics {
  const registers = [registry];
  const evictions = new Counter({
    name: 'kubelet_evictions',
    help: 'Pods that were evicted, by the signal whose threshold was met, or the limit of local storage that the pod was above.',
    labelNames: ['eviction_signal'],
    registers,
  });
  const ages = new Histogram({
    name: 'kubelet_eviction_stats_age_seconds',
    help: 'How old the measurement is by which a pod is chosen for eviction, by signal.',
    labelNames: ['eviction_signal'],
    registers,
  });
  return {
    evicted: (cause) => evictions.inc({ eviction_signal: cause }),
    decided: (signal, ageSeconds) => ages.observe({ eviction_signal: signal }, ageSeconds),
  };
}
