import type { Infer } from '../../schema/index.ts';
import { field, list, required, string, struct } from '../../schema/index.ts';
import { labelSelector } from '../meta/label-selector.ts';
import { keyed } from '../pod-spec/merge.ts';
import { pointer } from '../pod-spec/wire.ts';

/* What webhooks and policies have in common: which requests they are about. */

/** The fields of a rule, which are in messages of their own: `within` of the rule, `outer` of what is around it. */
function ruleFields<const W extends number | readonly [number, number]>(within: W) {
  return {
    apiGroups: field(1, list(string), 'Groups, or * for all.', { within }),
    apiVersions: field(2, list(string), 'Versions, or * for all.', { within }),
    resources: field(3, list(string), 'Resources, with subresources as pods/log; * for all.', { within }),
    scope: field(4, string, 'Cluster, Namespaced or *.', { ...pointer, within }),
  };
}

export const ruleWithOperations = struct('RuleWithOperations', {
  operations: field(1, list(string), 'CREATE, UPDATE, DELETE, CONNECT, or * for all.'),
  ...ruleFields(2),
});

export interface RuleWithOperations extends Infer<typeof ruleWithOperations> {}

const namedRuleWithOperations = struct(
  'NamedRuleWithOperations',
  {
    resourceNames: field(1, list(string), 'Names of the objects; without any, all.'),
    operations: field(1, list(string), 'CREATE, UPDATE, DELETE, CONNECT, or * for all.', { within: 2 }),
    ...ruleFields([2, 2]),
  },
  { atomic: true },
);

export interface NamedRuleWithOperations extends Infer<typeof namedRuleWithOperations> {}

export const matchResources = struct(
  'MatchResources',
  {
    namespaceSelector: field(1, labelSelector, 'Labels of the namespaces of the objects.'),
    objectSelector: field(2, labelSelector, 'Labels of the objects.'),
    resourceRules: field(3, list(namedRuleWithOperations), 'Which requests.'),
    excludeResourceRules: field(4, list(namedRuleWithOperations), 'Which of them not.'),
    matchPolicy: field(7, string, 'Exact or Equivalent: whether other versions of a kind count.', pointer),
  },
  { atomic: true },
);

export interface MatchResources extends Infer<typeof matchResources> {}

const matchCondition = struct('MatchCondition', {
  name: required(1, string, 'Name of the condition.'),
  expression: required(2, string, 'An expression in CEL that must be true.'),
});

export const matchConditions = list(matchCondition, keyed('name'));
export interface MatchCondition extends Infer<typeof matchCondition> {}
