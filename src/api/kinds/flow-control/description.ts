import type { Infer } from '../../schema/index.ts';
import { bool, field, int32, list, required, string, struct, time } from '../../schema/index.ts';
import { objectStruct } from '../define.ts';
import { keyed } from '../pod-spec/merge.ts';
import { pointer } from '../pod-spec/wire.ts';

/** The Warning of every write of one. */
export const unused = 'nothing in nodeward follows flow control objects: its limits are flags of the server';

const user = struct('UserSubject', { name: required(1, string, 'Name of the user, or * for all.') });
const group = struct('GroupSubject', { name: required(1, string, 'Name of the group, or * for all.') });
const account = struct('ServiceAccountSubject', {
  namespace: required(1, string, 'Namespace of the account.'),
  name: required(2, string, 'Name of the account, or * for all.'),
});

const subject = struct('Subject', {
  kind: required(1, string, 'User, Group or ServiceAccount.'),
  user: field(2, user, 'A user.'),
  group: field(3, group, 'A group.'),
  serviceAccount: field(4, account, 'A service account.'),
});

const set = { list: 'set' } as const;
const verbs = required(1, list(string, set), 'Verbs, or * for all.');

const resourceRule = struct('ResourcePolicyRule', {
  verbs,
  apiGroups: required(2, list(string, set), 'Groups, or * for all.'),
  resources: required(3, list(string, set), 'Resources, or * for all.'),
  clusterScope: field(4, bool, 'Whether requests without a namespace match.'),
  namespaces: field(5, list(string, set), 'Namespaces, or * for all.', { written: true }),
});

const pathRule = struct('NonResourcePolicyRule', {
  verbs,
  nonResourceURLs: required(6, list(string, set), 'Paths, or * for all.'),
});

const rules = struct('PolicyRulesWithSubjects', {
  subjects: required(1, list(subject), 'Who asks.'),
  resourceRules: field(2, list(resourceRule), 'What is asked for, of resources.'),
  nonResourceRules: field(3, list(pathRule), 'What is asked for, of other paths.'),
});

const conditionFields = {
  type: field(1, string, 'Type of the condition.'),
  status: field(2, string, 'True, False or Unknown.'),
  lastTransitionTime: field(3, time, 'When the status last changed.', { written: true }),
  reason: field(4, string, 'Why, for programs.'),
  message: field(5, string, 'Why, for people.'),
};
const conditionsDoc = 'Conditions of the object.';

export const flowSchemaRoot = objectStruct('FlowSchema', {
  spec: field(
    2,
    struct('FlowSchemaSpec', {
      priorityLevelConfiguration: required(
        1,
        struct('PriorityLevelConfigurationReference', { name: required(1, string, 'Name of the level.') }),
        'The level of the requests.',
      ),
      matchingPrecedence: field(2, int32, 'Of two that match the lesser counts; 1000 when absent.', {
        written: true,
      }),
      distinguisherMethod: field(
        3,
        struct('FlowDistinguisherMethod', { type: required(1, string, 'ByUser or ByNamespace.') }),
        'What tells the flows from each other.',
      ),
      rules: field(4, list(rules), 'Which requests; without any, none.'),
    }),
    'Desired state.',
    { default: {} },
  ),
  status: field(
    3,
    struct('FlowSchemaStatus', {
      conditions: field(
        1,
        list(struct('FlowSchemaCondition', conditionFields), keyed('type')),
        conditionsDoc,
      ),
    }),
    'Observed state.',
    { default: {} },
  ),
});

const queuing = struct('QueuingConfiguration', {
  queues: field(1, int32, 'How many queues; 64 when absent.', { written: true }),
  handSize: field(2, int32, 'How many of them a flow may use; 8 when absent.', { written: true }),
  queueLengthLimit: field(3, int32, 'How many requests may wait in one; 50 when absent.', { written: true }),
});

const limited = struct('LimitedPriorityLevelConfiguration', {
  nominalConcurrencyShares: field(1, int32, 'Share of the slots; 30 when absent.', {
    ...pointer,
    written: true,
  }),
  limitResponse: field(
    2,
    struct('LimitResponse', {
      type: required(1, string, 'Queue or Reject.'),
      queuing: field(2, queuing, 'How requests wait.'),
    }),
    'What becomes of requests for which there is no slot.',
    { default: {} },
  ),
  lendablePercent: field(3, int32, 'Percent of its slots that other levels may use.', pointer),
  borrowingLimitPercent: field(4, int32, 'Percent of its slots that it may use of others at most.', pointer),
});

const exempt = struct('ExemptPriorityLevelConfiguration', {
  nominalConcurrencyShares: field(1, int32, 'Share of the slots; 0 when absent.', pointer),
  lendablePercent: field(2, int32, 'Percent of its slots that other levels may use.', pointer),
});

export const priorityLevelRoot = objectStruct('PriorityLevelConfiguration', {
  spec: field(
    2,
    struct('PriorityLevelConfigurationSpec', {
      type: required(1, string, 'Limited or Exempt.'),
      limited: field(2, limited, 'The limits of a level that has any.'),
      exempt: field(3, exempt, 'What a level without limits lends.'),
    }),
    'Desired state.',
    { default: {} },
  ),
  status: field(
    3,
    struct('PriorityLevelConfigurationStatus', {
      conditions: field(
        1,
        list(struct('PriorityLevelConfigurationCondition', conditionFields), keyed('type')),
        conditionsDoc,
      ),
    }),
    'Observed state.',
    { default: {} },
  ),
});

export interface FlowSchema extends Infer<typeof flowSchemaRoot> {}
export interface PriorityLevelConfiguration extends Infer<typeof priorityLevelRoot> {}
export interface FlowSubject extends Infer<typeof subject> {}
export interface FlowRules extends Infer<typeof rules> {}
export interface LimitedPriorityLevel extends Infer<typeof limited> {}
export interface Queuing extends Infer<typeof queuing> {}
