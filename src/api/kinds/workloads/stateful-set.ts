import { causesOf, forbiddenValue, invalidValue, requiredValue } from '../cause.ts';
import { ageColumn, textColumn } from '../columns.ts';
import { defineKind } from '../define.ts';
import type { Cause } from '../kind.ts';
import { hasSameMeaning } from '../pod-validation/difference.ts';
import { labelName, oneOfIfSet } from '../pod-validation/formats.ts';
import { defaultPodSpec } from '../pods/defaults.ts';
import { claimSpecCauses } from '../storage/claim-causes.ts';
import { persistentVolumeClaimKind } from '../storage/persistent-volume-claim.ts';
import type { StatefulSet, StatefulSetSpec } from './apps-description.ts';
import { statefulSetRoot, statefulSetSpec } from './apps-description.ts';
import {
  collisionCauses,
  isNone,
  isSameTemplate,
  lastingPodsCauses,
  negativeCauses,
  partCauses,
  partOfAllCauses,
  selectorCauses,
  templateCauses,
} from './causes.ts';
import { podColumns, statusPart } from './display.ts';
import { scalePart } from './scale.ts';
import type { PodTemplateSpec } from './template.ts';

function withDefaults(set: StatefulSet): StatefulSet {
  const { spec } = set;
  if (spec === undefined) return set;
  if (spec.template?.spec !== undefined) defaultPodSpec(spec.template.spec);
  const { whenDeleted, whenScaled } = spec.persistentVolumeClaimRetentionPolicy ?? {};
  return {
    ...set,
    spec: {
      ...spec,
      replicas: spec.replicas ?? 1,
      podManagementPolicy: spec.podManagementPolicy || 'OrderedReady',
      updateStrategy: withStrategy(spec.updateStrategy),
      revisionHistoryLimit: spec.revisionHistoryLimit ?? 10,
      persistentVolumeClaimRetentionPolicy: {
        whenDeleted: whenDeleted || 'Retain',
        whenScaled: whenScaled || 'Retain',
      },
      ...(spec.volumeClaimTemplates === undefined
        ? {}
        : { volumeClaimTemplates: spec.volumeClaimTemplates.map(withClaimDefaults) }),
    },
  };
}

type Claim = NonNullable<StatefulSetSpec['volumeClaimTemplates']>[number];

/** Claims in a template say their kind, as if each were an object of its own. */
function withClaimDefaults(claim: Claim): Claim {
  return { ...persistentVolumeClaimKind.default(claim), kind: 'PersistentVolumeClaim', apiVersion: 'v1' };
}

function withStrategy(
  given: StatefulSetSpec['updateStrategy'],
): NonNullable<StatefulSetSpec['updateStrategy']> {
  const strategy = { ...given, type: given?.type || 'RollingUpdate' };
  if (strategy.type !== 'RollingUpdate') return strategy;
  const { rollingUpdate } = strategy;
  return { ...strategy, rollingUpdate: { ...rollingUpdate, partition: rollingUpdate?.partition ?? 0 } };
}

function validate({ spec, status = {} }: StatefulSet, old: StatefulSet | undefined): Cause[] {
  if (spec === undefined) return [requiredValue('spec.selector'), requiredValue('spec.template')];
  const { selector, template } = spec;
  const counts = ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'] as const;
  return [
    ...policyCauses(spec),
    ...negativeCauses(spec, ['replicas', 'minReadySeconds', 'revisionHistoryLimit'], 'spec'),
    ...negativeCauses(spec.ordinals ?? {}, ['start'], 'spec.ordinals'),
    ...selectorCauses(selector, 'spec.selector', 'statefulset'),
    ...lastingPodsCauses({ selector, template }, 'spec', 'StatefulSet'),
    ...(template === undefined || isSameTemplate(template, old?.spec?.template)
      ? []
      : templateCauses(asPodsHaveIt(template, spec), 'spec.template')),
    ...(old === undefined ? createCauses(spec) : changeCauses(spec, old.spec)),
    ...negativeCauses(status, [...counts, 'replicas', 'observedGeneration', 'collisionCount'], 'status'),
    ...partCauses({ ...status }, counts, 'replicas'),
    ...partCauses({ ...status }, ['availableReplicas'], 'readyReplicas'),
    ...collisionCauses(status, old?.status),
  ];
}

/** The causes for what cannot be changed later: what is stored stays, also when it is invalid by now. */
function createCauses({ serviceName, volumeClaimTemplates }: StatefulSetSpec): Cause[] {
  return [
    ...(serviceName ? labelName('spec.serviceName', serviceName) : []),
    ...causesOf(volumeClaimTemplates, (claim, index) =>
      claimSpecCauses(claim.spec ?? {}, `spec.volumeClaimTemplates[${index}].spec`),
    ),
  ];
}

/** A template with what its pods get from the set: the volumes of their claims, a host name and a subdomain of their own. */
function asPodsHaveIt(
  template: PodTemplateSpec,
  { volumeClaimTemplates = [] }: StatefulSetSpec,
): PodTemplateSpec {
  if (template.spec === undefined) return template;
  const { hostname: _hostname, subdomain: _subdomain, ...spec } = template.spec;
  const claimed = new Set(volumeClaimTemplates.map(({ metadata }) => metadata?.name ?? ''));
  const volumes = [
    ...[...claimed].map((name) => ({ name, persistentVolumeClaim: { claimName: name } })),
    ...(spec.volumes ?? []).filter(({ name }) => !claimed.has(name)),
  ];
  return { ...template, spec: { ...spec, volumes } };
}

function policyCauses(spec: StatefulSetSpec): Cause[] {
  const { podManagementPolicy: order, updateStrategy: { type, rollingUpdate } = {} } = spec;
  const retention = spec.persistentVolumeClaimRetentionPolicy;
  const path = 'spec.persistentVolumeClaimRetentionPolicy';
  const policies = ['Retain', 'Delete'];
  const limit = rollingUpdate?.maxUnavailable;
  const limitPath = 'spec.updateStrategy.rollingUpdate.maxUnavailable';
  return [
    ...(order === 'OrderedReady' || order === 'Parallel'
      ? []
      : [invalidValue('spec.podManagementPolicy', order, "must be 'OrderedReady' or 'Parallel'")]),
    ...(type === 'OnDelete' || type === 'RollingUpdate'
      ? []
      : [invalidValue('spec.updateStrategy', spec.updateStrategy, "must be 'RollingUpdate' or 'OnDelete'")]),
    ...(type === 'OnDelete' && rollingUpdate !== undefined
      ? [
          invalidValue(
            'spec.updateStrategy.rollingUpdate',
            rollingUpdate,
            "only allowed for updateStrategy 'RollingUpdate'",
          ),
        ]
      : []),
    ...negativeCauses(rollingUpdate ?? {}, ['partition'], 'spec.updateStrategy.rollingUpdate'),
    ...partOfAllCauses(limit, limitPath),
    ...(limit !== undefined && isNone(limit) ? [invalidValue(limitPath, limit, 'cannot be 0')] : []),
    ...oneOfIfSet(`${path}.whenDeleted`, retention?.whenDeleted, policies),
    ...oneOfIfSet(`${path}.whenScaled`, retention?.whenScaled, policies),
  ];
}

const changeable = [
  ...(['replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit'] as const),
  ...(['persistentVolumeClaimRetentionPolicy', 'minReadySeconds'] as const),
];
const fixedText =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

/** Everything is fixed but what leaves the pods that there are their names and volumes. */
function changeCauses(next: StatefulSetSpec, old: StatefulSetSpec | undefined): Cause[] {
  if (old === undefined) return [];
  const allowed = Object.fromEntries(changeable.map((name) => [name, next[name]]));
  return hasSameMeaning(statefulSetSpec, next, { ...old, ...allowed })
    ? []
    : [forbiddenValue('spec', fixedText)];
}

/** Pods with a number and volumes of their own, one after the other. */
export const statefulSetKind = defineKind<StatefulSet>({
  group: 'apps',
  version: 'v1',
  kind: 'StatefulSet',
  doc: 'Pods that keep their names and volumes, made one after the other.',
  resource: 'statefulsets',
  singular: 'statefulset',
  shortNames: ['sts'],
  categories: ['all'],
  namespaced: true,
  nameRule: 'label',
  root: statefulSetRoot,
  subresources: [statusPart, scalePart<StatefulSet>({ selector: ({ spec }) => spec?.selector })],
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
    ageColumn,
    ...podColumns<StatefulSet>(
      ({ spec }) => spec?.template,
      ({ spec }) => spec?.selector,
    ).slice(0, 2),
  ],
});
