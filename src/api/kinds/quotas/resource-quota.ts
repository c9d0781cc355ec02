import { isDeepStrictEqual } from 'node:util';
import { checkQualifiedName } from '../../names/index.ts';
import { causesOf, duplicateValue, invalidValue, requiredValue, unsupportedValue } from '../cause.ts';
import { ageColumn, textColumn } from '../columns.ts';
import { defineKind } from '../define.ts';
import type { Cause } from '../kind.ts';
import { billionths, isWhole } from '../quantity.ts';
import { statusPart } from '../workloads/display.ts';
import type { ResourceQuota, ResourceQuotaSpec } from './description.ts';
import { resourceQuotaRoot } from './description.ts';

type Quantities = Readonly<Record<string, string>>;

const scopes = [
  ...['BestEffort', 'CrossNamespacePodAffinity', 'NotBestEffort', 'NotTerminating', 'PriorityClass'],
  ...['Terminating', 'VolumeAttributesClass'],
];
/** Resources of pods, which every scope but BestEffort can count. */
const computeResources = [
  ...['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory', 'pods'],
];
const plainResources = [
  ...computeResources,
  ...['ephemeral-storage', 'requests.ephemeral-storage', 'limits.ephemeral-storage', 'requests.storage'],
  ...[
    'resourcequotas',
    'services',
    'replicationcontrollers',
    'secrets',
    'configmaps',
    'persistentvolumeclaims',
  ],
  ...['services.nodeports', 'services.loadbalancers'],
];

/** What comes in pieces. */
function isCounted(name: string): boolean {
  const counted = plainResources.slice(plainResources.indexOf('requests.storage') + 1);
  return name === 'pods' || counted.includes(name) || name.startsWith('count/');
}

function validate({ spec = {}, status = {} }: ResourceQuota, old: ResourceQuota | undefined): Cause[] {
  return [
    ...quantitiesCauses(spec.hard, 'spec.hard'),
    ...scopeCauses(spec),
    ...selectorCauses(spec),
    ...quantitiesCauses(status.hard, 'status.hard'),
    ...quantitiesCauses(status.used, 'status.used'),
    ...(old === undefined || isDeepStrictEqual(new Set(spec.scopes), new Set(old.spec?.scopes))
      ? []
      : [invalidValue('spec.scopes', spec.scopes ?? null, 'field is immutable')]),
  ];
}

function quantitiesCauses(quantities: Quantities = {}, path: string): Cause[] {
  return causesOf(Object.entries(quantities), ([name, quantity]) => {
    const field = `${path}[${name}]`;
    return [
      ...nameCauses(field, name),
      ...(billionths(quantity) < 0n
        ? [invalidValue(field, quantity, 'must be greater than or equal to 0')]
        : []),
      ...(isCounted(name) && !isWhole(quantity) ? [invalidValue(field, quantity, 'must be an integer')] : []),
    ];
  });
}

/** A known resource, or one with a prefix such as `requests.nvidia.com/gpu` or `count/jobs.batch`. */
function nameCauses(field: string, name: string): Cause[] {
  const wrong = checkQualifiedName(name);
  if (wrong !== undefined) return [invalidValue(field, name, wrong)];
  const isKnown =
    name.includes('/') || plainResources.includes(name) || /^(?:requests\.)?hugepages-/.test(name);
  return isKnown
    ? []
    : [
        invalidValue(field, name, 'must be a standard resource type or fully qualified'),
        invalidValue(field, name, 'must be a standard resource for quota'),
      ];
}

function scopeCauses({ scopes: given = [], hard = {} }: ResourceQuotaSpec): Cause[] {
  const field = 'spec.scopes';
  const contrary = [
    ['BestEffort', 'NotBestEffort'],
    ['Terminating', 'NotTerminating'],
  ].some((pair) => pair.every((scope) => given.includes(scope)));
  return [
    ...causesOf(given, (scope, index) => [
      ...(scopes.includes(scope) ? [] : [invalidValue(field, scope, 'unsupported scope')]),
      ...(given.indexOf(scope) < index ? [duplicateValue(field, scope)] : []),
      ...causesOf(Object.keys(hard), (name) =>
        isCountedIn(scope, name) ? [] : [invalidValue(field, given, 'unsupported scope applied to resource')],
      ),
    ]),
    ...(contrary ? [invalidValue(field, given, 'conflicting scopes')] : []),
  ];
}

function isCountedIn(scope: string, name: string): boolean {
  if (name.includes('/')) return true; // only of what every server knows
  if (scope === 'BestEffort') return name === 'pods';
  if (scope === 'VolumeAttributesClass')
    return name === 'persistentvolumeclaims' || name === 'requests.storage';
  if (!scopes.includes(scope)) return true; // has a cause already
  return (
    computeResources.includes(name) ||
    /^(?:requests|limits)\./.test(name) ||
    name.endsWith('ephemeral-storage')
  );
}

const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist'];

function selectorCauses({ scopeSelector }: ResourceQuotaSpec): Cause[] {
  const path = 'spec.scopeSelector.matchExpressions';
  return causesOf(scopeSelector?.matchExpressions, ({ scopeName, operator, values = [] }, index) => {
    const field = `${path}[${index}]`;
    const fixed = [
      'BestEffort',
      'NotBestEffort',
      'Terminating',
      'NotTerminating',
      'CrossNamespacePodAffinity',
    ];
    const needsValues = operator === 'In' || operator === 'NotIn';
    return [
      ...(scopes.includes(scopeName)
        ? []
        : [invalidValue(`${field}.scopeName`, scopeName, 'unsupported scope')]),
      ...(operators.includes(operator) ? [] : [unsupportedValue(`${field}.operator`, operator, operators)]),
      ...(fixed.includes(scopeName) && operator !== 'Exists'
        ? [
            invalidValue(
              `${field}.operator`,
              operator,
              "must be 'Exist' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity",
            ),
          ]
        : []),
      ...(needsValues && values.length === 0
        ? [
            requiredValue(
              `${field}.values`,
              "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
            ),
          ]
        : []),
      ...(!needsValues && values.length > 0
        ? [
            invalidValue(
              `${field}.values`,
              values,
              "must be no value when `operator` is 'Exists' or 'DoesNotExist' for scope selector",
            ),
          ]
        : []),
    ];
  });
}

/** `cpu: 1/2, pods: 3/10`, of the resources that begin so or do not. */
function usageText({ spec, status }: ResourceQuota, includes: (name: string) => boolean): string {
  const hard = status?.hard ?? spec?.hard ?? {};
  const names = Object.keys(hard).filter(includes).sort();
  return names.map((name) => `${name}: ${status?.used?.[name] ?? '0'}/${hard[name]}`).join(', ');
}

const isLimit = (name: string) => name.startsWith('limits');

/** The most that the objects of a namespace may take together. */
export const resourceQuotaKind = defineKind<ResourceQuota>({
  group: '',
  version: 'v1',
  kind: 'ResourceQuota',
  doc: 'The most that the objects of a namespace may take together.',
  resource: 'resourcequotas',
  singular: 'resourcequota',
  shortNames: ['quota'],
  namespaced: true,
  root: resourceQuotaRoot,
  subresources: [statusPart],
  prepare: (next, old) => (old === undefined ? { ...next, status: {} } : next),
  validate,
  columns: [
    textColumn('Request', 0, 'What is requested, of the most that may be.', (quota) =>
      usageText(quota, (name) => !isLimit(name)),
    ),
    textColumn('Limit', 0, 'Sum of the limits, of the most that may be.', (quota) =>
      usageText(quota, isLimit),
    ),
    ageColumn,
  ],
});
