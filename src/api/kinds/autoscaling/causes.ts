import { checkName } from '../../names/index.ts';
import {
  causesOf,
  forbiddenValue,
  invalidUnless,
  invalidValue,
  requiredValue,
  unsupportedValue,
} from '../cause.ts';
import type { Cause } from '../kind.ts';
import { negativeCauses } from '../workloads/causes.ts';
import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerSpec,
  HPAScalingRules,
  MetricSpec,
} from './v2-description.ts';

/** The causes why an autoscaler is invalid. */
export function autoscalerCauses({ spec, status = {} }: HorizontalPodAutoscaler): Cause[] {
  if (spec === undefined) return [requiredValue('spec.scaleTargetRef')];
  return [
    ...countCauses(spec),
    ...targetCauses(spec.scaleTargetRef),
    ...causesOf(spec.metrics, (metric, index) => metricCauses(metric, `spec.metrics[${index}]`)),
    ...rulesCauses(spec.behavior?.scaleUp, 'spec.behavior.scaleUp'),
    ...rulesCauses(spec.behavior?.scaleDown, 'spec.behavior.scaleDown'),
    ...negativeCauses(status, ['currentReplicas', 'desiredReplicas'], 'status'),
  ];
}

function countCauses({
  minReplicas = 1,
  maxReplicas = 0,
  metrics = [],
}: HorizontalPodAutoscalerSpec): Cause[] {
  const field = 'spec.maxReplicas';
  const fromNothing = metrics.some(({ type }) => type === 'Object' || type === 'External');
  return [
    ...(minReplicas < 1
      ? [invalidValue('spec.minReplicas', minReplicas, 'must be greater than or equal to 1')]
      : []),
    ...(maxReplicas < 1 ? [invalidValue(field, maxReplicas, 'must be greater than 0')] : []),
    ...(maxReplicas < minReplicas
      ? [invalidValue(field, maxReplicas, 'must be greater than or equal to `minReplicas`')]
      : []),
    ...(minReplicas === 0 && !fromNothing
      ? [
          forbiddenValue(
            'spec.metrics',
            'must specify at least one Object or External metric to support scaling to zero replicas',
          ),
        ]
      : []),
  ];
}

function targetCauses(target: HorizontalPodAutoscalerSpec['scaleTargetRef'] | undefined): Cause[] {
  if (target === undefined) return []; // a missing field has a cause of its own
  return (['kind', 'name'] as const).flatMap((name) => {
    const field = `spec.scaleTargetRef.${name}`;
    const value = target[name];
    return value === ''
      ? [requiredValue(field)]
      : invalidUnless(field, value, checkName('pathSegment', value));
  });
}

const sources = {
  ContainerResource: 'containerResource',
  External: 'external',
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
} as const;

function isKnown(type: string): type is keyof typeof sources {
  return Object.hasOwn(sources, type);
}

function metricCauses(metric: MetricSpec, field: string): Cause[] {
  const { type } = metric;
  if (type === '') return [requiredValue(`${field}.type`, 'must specify a metric source type')];
  if (!isKnown(type)) return [unsupportedValue(`${field}.type`, type, Object.keys(sources))];
  const wanted = sources[type];
  const others = Object.values(sources).filter((name) => name !== wanted && metric[name] !== undefined);
  const source = metric[wanted];
  return [
    ...others.map((name) => forbiddenValue(`${field}.${name}`, 'must populate the given metric source only')),
    ...(source === undefined
      ? [requiredValue(`${field}.${wanted}`, 'must populate information for the given metric source')]
      : valueCauses(source.target, `${field}.${wanted}.target`)),
  ];
}

type Target = NonNullable<MetricSpec['resource']>['target'];

function valueCauses(target: Target | undefined, field: string): Cause[] {
  if (target === undefined) return [];
  const { type, averageUtilization: use, value, averageValue } = target;
  const types = ['Utilization', 'Value', 'AverageValue'];
  if (type === '') return [requiredValue(`${field}.type`, 'must specify a metric target type')];
  if (!types.includes(type))
    return [invalidValue(`${field}.type`, type, 'must be either Utilization, Value, or AverageValue')];
  return [
    ...(use !== undefined && use < 1
      ? [invalidValue(`${field}.averageUtilization`, use, 'must be greater than 0')]
      : []),
    ...(use === undefined && value === undefined && averageValue === undefined
      ? [
          requiredValue(
            `${field}.averageUtilization`,
            'must set either a target raw value or a target utilization',
          ),
        ]
      : []),
  ];
}

const maxWindowSeconds = 3600;
const maxPeriodSeconds = 1800;

function rulesCauses(rules: HPAScalingRules | undefined, field: string): Cause[] {
  if (rules === undefined) return [];
  const { stabilizationWindowSeconds: seconds = 0, selectPolicy: chosen, policies = [] } = rules;
  const policiesKnown = ['Disabled', 'Max', 'Min'];
  return [
    ...(seconds < 0
      ? [
          invalidValue(
            `${field}.stabilizationWindowSeconds`,
            seconds,
            'must be greater than or equal to zero',
          ),
        ]
      : []),
    ...(seconds > maxWindowSeconds
      ? [
          invalidValue(
            `${field}.stabilizationWindowSeconds`,
            seconds,
            `must be less than or equal to ${maxWindowSeconds}`,
          ),
        ]
      : []),
    ...(chosen === undefined || policiesKnown.includes(chosen)
      ? []
      : [unsupportedValue(`${field}.selectPolicy`, chosen, policiesKnown)]),
    ...(policies.length === 0
      ? [requiredValue(`${field}.policies`, 'must specify at least one Policy')]
      : []),
    ...causesOf(policies, ({ type, value = 0, periodSeconds = 0 }, index) => {
      const at = `${field}.policies[${index}]`;
      return [
        ...(type === 'Pods' || type === 'Percent'
          ? []
          : [unsupportedValue(`${at}.type`, type, ['Percent', 'Pods'])]),
        ...(value <= 0 ? [invalidValue(`${at}.value`, value, 'must be greater than zero')] : []),
        ...(periodSeconds <= 0
          ? [invalidValue(`${at}.periodSeconds`, periodSeconds, 'must be greater than zero')]
          : []),
        ...(periodSeconds > maxPeriodSeconds
          ? [
              invalidValue(
                `${at}.periodSeconds`,
                periodSeconds,
                `must be less than or equal to ${maxPeriodSeconds}`,
              ),
            ]
          : []),
      ];
    }),
  ];
}
