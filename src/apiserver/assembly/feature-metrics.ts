import type { FeatureGates } from '../../api/index.ts';
import { featureGates } from '../../api/index.ts';
import type { MetricsRegistry } from '../../base/index.ts';
import { Gauge } from '../../base/index.ts';

/** As the reference calls the stages; what is stable has none. */
const stageLabels = { alpha: 'ALPHA', beta: 'BETA', stable: '' } as const;

/** Tells in the metrics which features are on. */
export function tellFeatures(gates: FeatureGates, metrics: MetricsRegistry): void {
  const gauge = new Gauge({
    name: 'kubernetes_feature_enabled',
    help: 'Whether a feature is on (1) or off (0), with its stage.',
    labelNames: ['name', 'stage'],
    registers: [metrics],
  });
  for (const [name, on] of Object.entries(gates)) {
    const gate = Object.entries(featureGates).find(([known]) => known === name)?.[1];
    if (gate !== undefined) gauge.set({ name, stage: stageLabels[gate.stage] }, on ? 1 : 0);
  }
}
