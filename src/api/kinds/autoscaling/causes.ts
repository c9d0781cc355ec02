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
import { billionths } from '../quantity.ts';
import { negativeCauses } from '../workloads/causes.ts';
import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerSpec,
  HPAScalingRules,
  MetricSpec,
} from './v2-description.ts';

/** The causes why an autoscaler is invalid. */
export function autoscalerCauses(
  { spec, status = {} }: HorizontalPodAutoscaler,
  old?: HorizontalPodAutoscaler,
): Cause[] {
  if (spec === undefined) return [requiredValue('spec.scaleTargetRef')];
  return [
    ...countCauses(spec),
    ...targetCauses(spec.scaleTargetRef, old?.spec?.scaleTargetRef),
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
    ...(maxReplicas === 0 ? [requiredValue(field, 'must be set and greater than 0')] : []),
    ...(maxReplicas < 0 ? [invalidValue(field, maxReplicas, 'must be greater than or equal to 1')] : []),
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

type Reference = HorizontalPodAutoscalerSpec['scaleTargetRef'];

function targetCauses(target: Reference | undefined, old: Reference | undefined): Cause[] {
  if (target === undefined) return []; // a missing field has a cause of its own
  const isSame = old !== undefined && old.kind === target.kind && old.apiVersion === target.apiVersion;
  const path = 'spec.scaleTargetRef';
  return [
    ...referenceCauses(target, path),
    ...(isSame ? [] : versionCauses(target, path, target.kind === 'ReplicationController')),
  ];
}

function referenceCauses(reference: Reference, path: string): Cause[] {
  return (['kind', 'name'] as const).flatMap((name) =>
    reference[name] === ''
      ? [requiredValue(`${path}.${name}`)]
      : invalidUnless(`${path}.${name}`, reference[name], checkName('pathSegment', reference[name])),
  );
}

/** What is scaled is of a group, but for the one kind that is older than groups. */
function versionCauses({ apiVersion = '' }: Reference, path: string, mayLackGroup: boolean): Cause[] {
  const parts = apiVersion.split('/');
  const field = `${path}.apiVersion`;
  if (parts.length > 2)
    return [invalidValue(field, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)];
  return mayLackGroup || (parts.length === 2 && parts[0] !== '')
    ? []
    : [invalidValue(field, apiVersion, 'apiVersion must specify API group')];
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
  return [
    ...(metric[wanted] === undefined
      ? [requiredValue(`${field}.${wanted}`, 'must populate information for the given metric source')]
      : sourceCauses(metric, `${field}.${wanted}`)),
    ...others.map((name) => forbiddenValue(`${field}.${name}`, 'must populate the given metric source only')),
  ];
}

/** Of the one source that the type of a metric names. */
function sourceCauses(
  { type, object, external, pods, resource, containerResource }: MetricSpec,
  path: string,
): Cause[] {
  const target = `${path}.target`;
  const either = {
    first: 'averageUtilization',
    message: 'must set either a target raw value or a target utilization',
  };
  switch (type) {
    case 'Object':
      return [
        ...(object?.describedObject === undefined
          ? []
          : [
              ...referenceCauses(object.describedObject, `${path}.describedObject`),
              ...versionCauses(object.describedObject, `${path}.describedObject`, true),
            ]),
        ...identifierCauses(object?.metric, path),
        ...valueCauses(object?.target, target, ['value', 'averageValue'], {
          first: 'averageValue',
          message: 'must set either a target value or averageValue',
        }),
      ];
    case 'External':
      return [
        ...identifierCauses(external?.metric, path),
        ...valueCauses(external?.target, target, ['value', 'averageValue'], {
          first: 'averageValue',
          message: 'must set either a target value for metric or a per-pod target',
        }),
        ...(external?.target?.value === undefined || external.target.averageValue === undefined
          ? []
          : [
              forbiddenValue(
                `${target}.value`,
                'may not set both a target value for metric and a per-pod target',
              ),
            ]),
      ];
    case 'Pods':
      return [
        ...identifierCauses(pods?.metric, path),
        ...valueCauses(pods?.target, target, ['averageValue'], {
          first: 'averageValue',
          message: 'must specify a positive target averageValue',
        }),
      ];
    case 'Resource':
      return [
        ...nameCauses(resource?.name, `${path}.name`, 'must specify a resource name'),
        ...valueCauses(resource?.target, target, ['averageUtilization', 'averageValue'], either),
        ...onlyOneCauses(resource?.target, target),
      ];
    default:
      return [
        ...nameCauses(containerResource?.name, `${path}.name`, 'must specify a resource name'),
        ...(containerResource?.container
          ? invalidUnless(
              `${path}.container`,
              containerResource.container,
              checkName('label', containerResource.container),
            )
          : nameCauses(containerResource?.container, `${path}.container`, 'must specify a container')),
        ...valueCauses(containerResource?.target, target, ['averageUtilization', 'averageValue'], either),
        ...onlyOneCauses(containerResource?.target, target),
      ];
  }
}

function nameCauses(name: string | undefined, field: string, message: string): Cause[] {
  return name === '' ? [requiredValue(field, message)] : []; // a missing field has a cause of its own
}

function identifierCauses(metric: { name: string } | undefined, path: string): Cause[] {
  if (metric?.name === undefined) return [];
  const field = `${path}.metric.name`;
  return metric.name === ''
    ? [requiredValue(field, 'must specify a metric name')]
    : invalidUnless(field, metric.name, checkName('pathSegment', metric.name));
}

type Target = NonNullable<MetricSpec['resource']>['target'];

/** `wanted`: one of these fields is needed; `missing` says which field is reported otherwise, and how. */
function valueCauses(
  target: Target | undefined,
  field: string,
  wanted: readonly ('value' | 'averageValue' | 'averageUtilization')[],
  missing: { first: string; message: string },
): Cause[] {
  if (target === undefined) return [];
  const { type, averageUtilization: use } = target;
  const isKnownType = ['Utilization', 'Value', 'AverageValue'].includes(type);
  return [
    ...(type === '' ? [requiredValue(`${field}.type`, 'must specify a metric target type')] : []),
    ...(isKnownType
      ? []
      : [invalidValue(`${field}.type`, type, 'must be either Utilization, Value, or AverageValue')]),
    ...(['value', 'averageValue'] as const).flatMap((name) => {
      const quantity = target[name];
      return quantity === undefined || billionths(quantity) > 0n
        ? []
        : [invalidValue(`${field}.${name}`, quantity, 'must be positive')];
    }),
    ...(use !== undefined && use < 1
      ? [invalidValue(`${field}.averageUtilization`, use, 'must be greater than 0')]
      : []),
    ...(wanted.some((name) => target[name] !== undefined)
      ? []
      : [requiredValue(`${field}.${missing.first}`, missing.message)]),
  ];
}

function onlyOneCauses(target: Target | undefined, field: string): Cause[] {
  if (target?.averageUtilization === undefined || target.averageValue === undefined) return [];
  return [
    forbiddenValue(`${field}.averageValue`, 'may not set both a target raw value and a target utilization'),
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
