import { forbiddenValue, invalidValue, requiredValue, unsupportedValue } from '../cause.ts';
import { ageColumn, countColumn, textColumn } from '../columns.ts';
import { defineKind } from '../define.ts';
import type { Cause } from '../kind.ts';
import { defaultPodSpec } from '../pods/defaults.ts';
import type { Deployment, DeploymentSpec } from './apps-description.ts';
import { deploymentRoot } from './apps-description.ts';
import {
  collisionCauses,
  countOrPercentCauses,
  isNone,
  isSameTemplate,
  lastingPodsCauses,
  negativeCauses,
  partCauses,
  partOfAllCauses,
  selectorCauses,
  selectorChangeCauses,
  templateCauses,
} from './causes.ts';
import { podColumns, statusPart } from './display.ts';
import { scalePart } from './scale.ts';

const quarter = '25%';

function withDefaults(deployment: Deployment): Deployment {
  const { spec } = deployment;
  if (spec === undefined) return deployment;
  if (spec.template?.spec !== undefined) defaultPodSpec(spec.template.spec);
  return {
    ...deployment,
    spec: {
      ...spec,
      replicas: spec.replicas ?? 1,
      strategy: withStrategy(spec.strategy),
      revisionHistoryLimit: spec.revisionHistoryLimit ?? 10,
      progressDeadlineSeconds: spec.progressDeadlineSeconds ?? 600,
    },
  };
}

function withStrategy(given: DeploymentSpec['strategy']): NonNullable<DeploymentSpec['strategy']> {
  const strategy = { ...given, type: given?.type || 'RollingUpdate' };
  if (strategy.type !== 'RollingUpdate') return strategy;
  const { maxUnavailable = quarter, maxSurge = quarter } = strategy.rollingUpdate ?? {};
  return { ...strategy, rollingUpdate: { maxUnavailable, maxSurge } };
}

function validate({ spec, status }: Deployment, old: Deployment | undefined): Cause[] {
  if (spec === undefined) return [requiredValue('spec.selector'), requiredValue('spec.template')];
  const { selector, template } = spec;
  const numbers = ['replicas', 'minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds'] as const;
  return [
    ...negativeCauses(spec, numbers, 'spec'),
    ...selectorCauses(selector, 'spec.selector', 'deployment'),
    ...lastingPodsCauses({ selector, template }, 'spec', 'ReplicaSet'),
    ...(template === undefined || isSameTemplate(template, old?.spec?.template)
      ? []
      : templateCauses(template, 'spec.template')),
    ...strategyCauses(spec.strategy ?? {}),
    ...deadlineCauses(spec),
    ...(old === undefined ? [] : selectorChangeCauses(selector, old.spec?.selector, 'spec.selector')),
    ...statusCauses(status ?? {}),
    ...collisionCauses(status, old?.status),
  ];
}

function deadlineCauses({ progressDeadlineSeconds: deadline, minReadySeconds = 0 }: DeploymentSpec): Cause[] {
  if (deadline === undefined || deadline > minReadySeconds) return [];
  return [invalidValue('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds')];
}

function strategyCauses({ type, rollingUpdate }: NonNullable<DeploymentSpec['strategy']>): Cause[] {
  const field = 'spec.strategy';
  switch (type) {
    case 'Recreate':
      return rollingUpdate === undefined
        ? []
        : [
            forbiddenValue(
              `${field}.rollingUpdate`,
              "may not be specified when strategy `type` is 'Recreate'",
            ),
          ];
    case 'RollingUpdate': {
      const { maxUnavailable, maxSurge } = rollingUpdate ?? {};
      const stuck = isNone(maxUnavailable) && isNone(maxSurge);
      const path = `${field}.rollingUpdate.maxUnavailable`;
      return [
        ...partOfAllCauses(maxUnavailable, path),
        ...countOrPercentCauses(maxSurge, `${field}.rollingUpdate.maxSurge`),
        ...(stuck ? [invalidValue(path, maxUnavailable, 'may not be 0 when `maxSurge` is 0')] : []),
      ];
    }
    default:
      return [unsupportedValue(field, { type, rollingUpdate }, ['Recreate', 'RollingUpdate'])];
  }
}

function statusCauses(status: NonNullable<Deployment['status']>): Cause[] {
  const parts = ['updatedReplicas', 'readyReplicas', 'availableReplicas'] as const;
  const counts = [
    ...(['observedGeneration', 'replicas', 'unavailableReplicas', 'terminatingReplicas'] as const),
    ...(['collisionCount'] as const),
  ];
  return [
    ...negativeCauses(status, [...counts, ...parts], 'status'),
    ...partCauses({ ...status }, parts, 'replicas'),
    ...partCauses({ ...status }, ['availableReplicas'], 'readyReplicas'),
  ];
}

/** A number of equal pods that are replaced by newer ones when their template changes. */
export const deploymentKind = defineKind<Deployment>({
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  doc: 'A number of equal pods that are replaced step by step when their template changes.',
  resource: 'deployments',
  singular: 'deployment',
  shortNames: ['deploy'],
  categories: ['all'],
  namespaced: true,
  root: deploymentRoot,
  subresources: [statusPart, scalePart<Deployment>({ selector: ({ spec }) => spec?.selector })],
  prepare: (next, old) => (old === undefined ? { ...next, status: {} } : next),
  default: withDefaults,
  validate,
  columns: [
    textColumn(
      'Ready',
      0,
      'How many of the wanted pods are ready.',
      ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
    ),
    countColumn(
      'Up-to-date',
      'How many pods are of the newest template.',
      ({ status }) => status?.updatedReplicas,
    ),
    countColumn(
      'Available',
      'How many pods have been ready for long enough.',
      ({ status }) => status?.availableReplicas,
    ),
    ageColumn,
    ...podColumns<Deployment>(
      ({ spec }) => spec?.template,
      ({ spec }) => spec?.selector,
    ),
  ],
});
