import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerBehavior,
  HorizontalPodAutoscalerSpec,
  HPAScalingRules,
} from './v2-description.ts';

/** Without a metric, the use of CPU is kept at this, in percent of what is requested. */
const usualUse = 80;

/** An autoscaler with what its writer has left out. */
export function withDefaults(autoscaler: HorizontalPodAutoscaler): HorizontalPodAutoscaler {
  const { spec } = autoscaler;
  if (spec === undefined) return autoscaler;
  return {
    ...autoscaler,
    spec: {
      ...spec,
      minReplicas: spec.minReplicas ?? 1,
      metrics: metricsOf(spec),
      ...(spec.behavior === undefined ? {} : { behavior: withBehavior(spec.behavior) }),
    },
  };
}

function metricsOf({
  metrics = [],
}: HorizontalPodAutoscalerSpec): NonNullable<HorizontalPodAutoscalerSpec['metrics']> {
  if (metrics.length > 0) return metrics;
  const target = { type: 'Utilization', averageUtilization: usualUse };
  return [{ type: 'Resource', resource: { name: 'cpu', target } }];
}

function withBehavior({
  scaleUp,
  scaleDown,
}: HorizontalPodAutoscalerBehavior): HorizontalPodAutoscalerBehavior {
  return { scaleUp: withRules(scaleUp, upwards), scaleDown: withRules(scaleDown, downwards) };
}

const upwards: HPAScalingRules = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
};
const downwards: HPAScalingRules = {
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
};

function withRules(given: HPAScalingRules = {}, usual: HPAScalingRules): HPAScalingRules {
  return { ...usual, ...given };
}
