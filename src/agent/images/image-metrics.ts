import type { MetricsRegistry } from '../../base/index.ts';
import { Counter, Histogram } from '../../base/index.ts';

export interface ImageMetrics {
  /** A pull has ended; several pods may have waited for it. */
  ended(result: 'done' | 'failed'): void;
  /** A pod has its image, that much later than it asked for it. */
  pulled(seconds: number, sizeBytes: number): void;
}

/** The bounds and labels of the reference. */
const buckets = [1, 5, 10, 20, 30, 60, 180, 300, 600, 900, 1200, 1800, 2700, 3600];
const mebibytes = 1024 * 1024;
const sizes: readonly (readonly [fromMebibytes: number, label: string])[] = [
  [102_400, 'GT100GB'],
  [61_440, '60GB-100GB'],
  [40_960, '40GB-60GB'],
  [30_720, '30GB-40GB'],
  [20_480, '20GB-30GB'],
  [10_240, '10GB-20GB'],
  [5120, '5GB-10GB'],
  [1024, '1GB-5GB'],
  [500, '500MB-1GB'],
  [100, '100MB-500MB'],
  [10, '10MB-100MB'],
  [0, '0-10MB'],
];

export function imageMetrics(registry: MetricsRegistry): ImageMetrics {
  const pulls = new Counter({
    name: 'nodeward_image_pulls_total',
    help: 'Pulls of images that have ended, by result; one that several pods waited for is one.',
    labelNames: ['result'],
    registers: [registry],
  });
  for (const result of ['done', 'failed']) pulls.inc({ result }, 0);
  const durations = new Histogram({
    name: 'kubelet_image_pull_duration_seconds',
    help: 'How long pods waited for an image that was pulled, in the line and for the pull, by its size.',
    labelNames: ['image_size_in_bytes'],
    ...{ buckets, registers: [registry] },
  });
  return {
    ended: (result) => pulls.inc({ result }),
    pulled: (seconds, sizeBytes) =>
      durations.observe({ image_size_in_bytes: sizeLabel(sizeBytes) }, Math.max(0, seconds)),
  };
}

export function sizeLabel(bytes: number): string {
  return sizes.find(([from]) => bytes >= from * mebibytes)?.[1] ?? 'N/A';
}
