import type { Infer } from '../../schema/index.ts';
import { field, list, map, quantity, required, string, struct } from '../../schema/index.ts';
import { objectStruct } from '../define.ts';

const scopedResourceSelectorRequirement = struct('ScopedResourceSelectorRequirement', {
  scopeName: required(1, string, 'Name of the scope.'),
  operator: required(2, string, 'In, NotIn, Exists or DoesNotExist.'),
  values: field(3, list(string), 'Values for In and NotIn.'),
});

const scopeSelector = struct(
  'ScopeSelector',
  {
    matchExpressions: field(1, list(scopedResourceSelectorRequirement), 'Requirements that must all hold.'),
  },
  { atomic: true },
);

const resourceQuotaSpec = struct('ResourceQuotaSpec', {
  hard: field(1, map(quantity), 'The most of each resource.'),
  scopes: field(2, list(string), 'Which objects count; all of these must fit.'),
  scopeSelector: field(3, scopeSelector, 'Which objects count, by values of scopes.'),
});

export interface ResourceQuotaSpec extends Infer<typeof resourceQuotaSpec> {}

const resourceQuotaStatus = struct('ResourceQuotaStatus', {
  hard: field(1, map(quantity), 'The most of each resource, as it is enforced.'),
  used: field(2, map(quantity), 'How much of each resource is used.'),
});

export const resourceQuotaRoot = objectStruct('ResourceQuota', {
  spec: field(2, resourceQuotaSpec, 'Desired state.', { default: {} }),
  status: field(3, resourceQuotaStatus, 'Observed state.', { default: {} }),
});

export interface ResourceQuota extends Infer<typeof resourceQuotaRoot> {}

const limitRangeItem = struct('LimitRangeItem', {
  type: required(1, string, 'Pod, Container or PersistentVolumeClaim.'),
  max: field(2, map(quantity), 'The most of each resource.'),
  min: field(3, map(quantity), 'The least of each resource.'),
  default: field(4, map(quantity), 'Limits of a container that says none.'),
  defaultRequest: field(5, map(quantity), 'Requests of a container that says none.'),
  maxLimitRequestRatio: field(6, map(quantity), 'The greatest ratio of limit to request.'),
});

export interface LimitRangeItem extends Infer<typeof limitRangeItem> {}

const limitRangeSpec = struct('LimitRangeSpec', {
  limits: required(1, list(limitRangeItem), 'Limits, each for a type of object.'),
});

export const limitRangeRoot = objectStruct('LimitRange', {
  spec: field(2, limitRangeSpec, 'The limits.', { default: {} }),
});

export interface LimitRange extends Infer<typeof limitRangeRoot> {}
