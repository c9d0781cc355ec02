import type { MetricsRegistry } from '../../base/index.ts';
import { Counter, Gauge, Histogram } from '../../base/index.ts';

/** Pods without a node, by why they are not tried right now; named as in the reference. */
export interface PendingCounts {
  /** To be tried. */
  readonly active: number;
  /** Could not be bound, and wait a while. */
  readonly backoff: number;
  /** Fitted nowhere when they were tried; tried again after a change. */
  readonly unschedulable: number;
  /** Held back by scheduling gates. */
  readonly gated: number;
}

export const noPods: PendingCounts = { active: 0, backoff: 0, unschedulable: 0, gated: 0 };

/** `error`: a node was found, but the pod could not be bound to it. */
export type AttemptResult = 'scheduled' | 'unschedulable' | 'error';

export interface SchedulerMetrics {
  /** `tookMs`: deciding and binding. */
  attempted(result: AttemptResult, tookMs: number): void;
  /** Other pods are ended for one. */
  preempted(): void;
  /** Who knows what is pending, from now on; undefined: the scheduler does not run. */
  countPending(counts: (() => PendingCounts) | undefined): void;
}

/** Registers the metrics of a scheduler under the reference's names; `profile`: its name. Once for each registry. */
export function createSchedulerMetrics(metrics: MetricsRegistry, profile: string): SchedulerMetrics {
  let pending: (() => PendingCounts) | undefined;
  new Gauge({
    name: 'scheduler_pending_pods',
    help: 'Pods without a node that this scheduler is to place: to be tried (active), waiting after a failed binding (backoff), fitting nowhere (unschedulable), held back (gated).',
    labelNames: ['queue'],
    registers: [metrics],
    collect() {
      for (const [queue, count] of Object.entries(pending?.() ?? noPods)) this.set({ queue }, count);
    },
  });
  const attempts = new Counter({
    name: 'scheduler_schedule_attempts_total',
    help: 'Tries to give a pod a node: scheduled, unschedulable (it fits nowhere), error (it could not be bound).',
    labelNames: ['result', 'profile'],
    registers: [metrics],
  });
  const durations = new Histogram({
    name: 'scheduler_scheduling_attempt_duration_seconds',
    help: 'How long the tries took, with the binding.',
    labelNames: ['result', 'profile'],
    buckets: Array.from({ length: 15 }, (_, power) => 0.001 * 2 ** power),
    registers: [metrics],
  });
  const preemptions = new Counter({
    name: 'scheduler_preemption_attempts_total',
    help: 'How often pods were chosen to end for a more important one.',
    registers: [metrics],
  });
  return {
    attempted(result, tookMs) {
      attempts.inc({ result, profile });
      durations.observe({ result, profile }, tookMs / 1000);
    },
    preempted: () => preemptions.inc(),
    countPending(counts) {
      pending = counts;
    },
  };
}
