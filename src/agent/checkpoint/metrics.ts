import type { MetricsRegistry } from '../../base/index.ts';
import { Counter, createMetrics, Gauge, Histogram } from '../../base/index.ts';
import type { CheckpointFailure } from './errors.ts';
import type { CheckpointRecord } from './record.ts';

/** The metrics of checkpoints. */
export interface CheckpointMetrics {
  /** The checkpoints that one request has made: several for a whole pod. */
  made(records: readonly CheckpointRecord[]): void;
  failed(reason: CheckpointFailure): void;
  /** A container was found frozen and has been resumed. */
  recovered(): void;
  /** Requests that are being served or wait. */
  underWay(change: 1 | -1): void;
}

const seconds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/** Registers the metrics; without a registry nothing exports them. */
export function createCheckpointMetrics(registry: MetricsRegistry = createMetrics()): CheckpointMetrics {
  const registers = [registry];
  const requests = new Counter({
    name: 'nodeward_checkpoint_requests_total',
    help: 'Requests for checkpoints, by what came of it: made, or the reason of the failure.',
    labelNames: ['result'],
    registers,
  });
  const took = new Histogram({
    name: 'nodeward_checkpoint_seconds',
    help: 'How long the checkpoints took that were made, from the begin of the dump to the complete archive.',
    buckets: seconds,
    registers,
  });
  const paused = new Histogram({
    name: 'nodeward_checkpoint_paused_seconds',
    help: 'How long the workload stood still, of checkpoints that were made.',
    buckets: seconds,
    registers,
  });
  const bytes = new Counter({
    name: 'nodeward_checkpoint_bytes_total',
    help: 'Bytes of the archives that were made.',
    registers,
  });
  const recoveries = new Counter({
    name: 'nodeward_checkpoint_frozen_recoveries_total',
    help: 'Containers that were found frozen by a checkpoint and have been resumed.',
    registers,
  });
  const underWay = new Gauge({
    name: 'nodeward_checkpoint_requests_under_way',
    help: 'Requests for checkpoints that are served or wait.',
    registers,
  });
  requests.inc({ result: 'made' }, 0);
  return {
    made(records) {
      requests.inc({ result: 'made' });
      for (const record of records) {
        took.observe(record.durationMs / 1000);
        if (record.pausedMeasuredBy !== 'none') paused.observe(record.pausedMs / 1000);
        bytes.inc(record.sizeBytes);
      }
    },
    failed: (reason) => requests.inc({ result: reason }),
    recovered: () => recoveries.inc(),
    underWay: (change) => underWay.inc(change),
  };
}
