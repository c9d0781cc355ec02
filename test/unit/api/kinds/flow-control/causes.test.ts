/** What is refused of flow control objects and of APIServices, in the reference's words, and what is filled in. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { apiServiceKind } from '../../../../../src/api/kinds/aggregation/api-service.ts';
import { flowSchemaKind } from '../../../../../src/api/kinds/flow-control/flow-schema.ts';
import { priorityLevelConfigurationKind } from '../../../../../src/api/kinds/flow-control/priority-level.ts';
import { causesOf, received } from '../causes-of.ts';

const subject = { kind: 'User', user: { name: 'ann' } };
const paths = { verbs: ['get'], nonResourceURLs: ['/healthz'] };
const resources = { verbs: ['*'], apiGroups: [''], resources: ['pods'], namespaces: ['*'] };
const rules = (change: object) => ({
  rules: [{ subjects: [subject], nonResourceRules: [paths], ...change }],
});
const subjects = (...all: object[]) => rules({ subjects: all });
const path = (...urls: string[]) => rules({ nonResourceRules: [{ ...paths, nonResourceURLs: urls }] });
const resource = (change: object) => rules({ resourceRules: [{ ...resources, ...change }] });
const at = 'spec.rules[0]';

const schemaCases: readonly [change: object, ...expected: string[]][] = [
  [rules({})],
  [resource({})],
  [{ matchingPrecedence: -1 }, 'spec.matchingPrecedence: Invalid value: -1: must be a positive value'],
  [
    { matchingPrecedence: 10_001 },
    'spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000',
  ],
  [
    { matchingPrecedence: 1 },
    "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1",
  ],
  [
    { distinguisherMethod: { type: 'ByPod' } },
    'spec.distinguisherMethod.type: Unsupported value: "ByPod": supported values: "ByNamespace", "ByUser"',
  ],
  [
    { priorityLevelConfiguration: { name: '' } },
    'spec.priorityLevelConfiguration.name: Required value: must reference a priority level',
  ],
  [subjects(), `${at}.subjects: Required value: subjects must contain at least one value`],
  [
    rules({ nonResourceRules: [] }),
    `${at}: Required value: at least one of resourceRules and nonResourceRules has to be non-empty`,
  ],
  [
    subjects({ kind: 'Robot' }),
    `${at}.subjects[0].kind: Unsupported value: "Robot": supported values: "Group", "ServiceAccount", "User"`,
  ],
  [
    subjects({ kind: 'Group' }),
    `${at}.subjects[0].group: Required value: group is required when subject kind is 'Group'`,
  ],
  [
    subjects({ ...subject, group: { name: 'a' } }),
    `${at}.subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'`,
  ],
  [
    subjects({ kind: 'ServiceAccount', serviceAccount: { namespace: '', name: 'a' } }),
    `${at}.subjects[0].serviceAccount.namespace: Required value: must specify namespace for service account`,
  ],
  [
    path('*', '/a'),
    `${at}.nonResourceRules[0].nonResourceURLs: Invalid value: ["*","/a"]: if '*' is present, must not specify other non-resource URLs`,
  ],
  [path('a'), `${at}.nonResourceRules[0].nonResourceURLs[0]: Invalid value: "a": must start with slash`],
  [
    path('/a//b'),
    `${at}.nonResourceRules[0].nonResourceURLs[0]: Invalid value: "/a//b": must not contain double slash`,
  ],
  [
    path('/a*'),
    `${at}.nonResourceRules[0].nonResourceURLs[0]: Invalid value: "/a*": wildcard can only do suffix matching`,
  ],
  [path('/a/*')],
  [
    resource({ verbs: ['read'] }),
    `${at}.resourceRules[0].verbs: Unsupported value: ["read"]: supported values: "create", "delete"`,
  ],
  [
    resource({ apiGroups: ['*', 'apps'] }),
    `${at}.resourceRules[0].apiGroups: Invalid value: ["*","apps"]: if '*' is present, must not specify other api groups`,
  ],
  [
    resource({ namespaces: [] }),
    `${at}.resourceRules[0].namespaces: Required value: resource rules that are not cluster scoped must supply at least one namespace`,
  ],
  [resource({ namespaces: [], clusterScope: true })],
  [
    resource({ namespaces: ['A'] }),
    `${at}.resourceRules[0].namespaces[0]: Invalid value: "A": each member of this list must be '*' or a DNS-1123 label; a lowercase`,
  ],
];

const queue = { type: 'Queue', queuing: {} };
const limited = (change: object) => ({ limited: { limitResponse: queue, ...change } });
const queuing = (change: object) => limited({ limitResponse: { type: 'Queue', queuing: change } });
const inQueue = 'spec.limited.limitResponse.queuing';

const levelCases: readonly [change: object, ...expected: string[]][] = [
  [limited({})],
  [
    { type: 'Exempt' },
    "spec.type: Invalid value: \"Exempt\": type must be 'Exempt' if and only if name is 'exempt'",
  ],
  [{ type: 'Free' }, 'spec.type: Unsupported value: "Free": supported values: "Exempt", "Limited"'],
  [{}, 'spec.limited: Required value: must not be empty when type is Limited'],
  [
    limited({ nominalConcurrencyShares: -1 }),
    'spec.limited.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer',
  ],
  [
    limited({ lendablePercent: 101 }),
    'spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive',
  ],
  [
    limited({ borrowingLimitPercent: -1 }),
    'spec.limited.borrowingLimitPercent: Invalid value: -1: if specified, must be a non-negative integer',
  ],
  [
    limited({ limitResponse: { type: 'Reject', queuing: {} } }),
    `${inQueue}: Forbidden: must be nil if limited.limitResponse.type is not Limited`,
  ],
  [
    limited({ limitResponse: { type: 'Queue' } }),
    `${inQueue}: Required value: must not be empty if limited.limitResponse.type is Limited`,
  ],
  [
    queuing({ queues: -1 }),
    `${inQueue}.queues: Invalid value: -1: must be positive`,
    `${inQueue}.handSize: Invalid value: 8: should not be greater than queues (-1)`,
  ],
  [queuing({ queues: 4 }), `${inQueue}.handSize: Invalid value: 8: should not be greater than queues (4)`],
  [
    queuing({ queues: 512, handSize: 8 }),
    `${inQueue}.handSize: Invalid value: 8: required entropy bits of deckSize 512 and handSize 8 should not be greater than 60`,
  ],
];

const service = {
  group: 'metrics.example.com',
  version: 'v1',
  groupPriorityMinimum: 100,
  versionPriority: 100,
};
const target = { namespace: 'kube-system', name: 'metrics' };
const name = 'v1.metrics.example.com';

const serviceCases: readonly [name: string, change: object, ...expected: string[]][] = [
  [name, {}],
  [name, { service: target, insecureSkipTLSVerify: true }],
  [
    'metrics',
    {},
    'metadata.name: Invalid value: "metrics": must be `spec.version+"."+spec.group`: "v1.metrics.example.com"',
  ],
  [
    'v2.',
    { group: '', version: 'v2' },
    'spec.group: Required value: only v1 may have an empty group and it better be legacy kube',
  ],
  [
    name,
    { groupPriorityMinimum: 20_001 },
    'spec.groupPriorityMinimum: Invalid value: 20001: must be positive and less than 20000',
  ],
  [
    name,
    { versionPriority: 0 },
    'spec.versionPriority: Invalid value: 0: must be positive and less than 1000',
  ],
  [
    name,
    { caBundle: 'AAEC' },
    'spec.caBundle: Invalid value: "3 bytes": local APIServices may not have a caBundle',
  ],
  [name, { service: { name: 'a' } }, 'spec.service.namespace: Required value'],
  [
    name,
    { service: target, insecureSkipTLSVerify: true, caBundle: 'AAEC' },
    'spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present',
  ],
];

/** Of a message that is long the beginning is enough. */
function expectCauses(found: readonly string[], expected: readonly string[]): void {
  assert.equal(found.length, expected.length, found.join('\n'));
  for (const [index, text] of expected.entries()) assert.ok(found[index]?.startsWith(text), found[index]);
}

describe('a FlowSchema', () => {
  const base = { priorityLevelConfiguration: { name: 'low' } };
  for (const [change, ...expected] of schemaCases)
    test(JSON.stringify(change), () =>
      expectCauses(
        causesOf(flowSchemaKind, { metadata: { name: 'a' }, spec: { ...base, ...change } }),
        expected,
      ),
    );

  test('has a precedence', () =>
    assert.equal(received(flowSchemaKind, { spec: base }).spec?.matchingPrecedence, 1000));
});

describe('a PriorityLevelConfiguration', () => {
  for (const [change, ...expected] of levelCases)
    test(JSON.stringify(change), () => {
      const sent = { metadata: { name: 'a' }, spec: { type: 'Limited', ...change } };
      expectCauses(causesOf(priorityLevelConfigurationKind, sent), expected);
    });

  test('may be exempt by its name alone', () =>
    expectCauses(
      causesOf(priorityLevelConfigurationKind, { metadata: { name: 'exempt' }, spec: { type: 'Exempt' } }),
      [],
    ));

  test('gets what its writer has left out, and keeps a share of 0', () => {
    const { spec } = received(priorityLevelConfigurationKind, {
      spec: { type: 'Limited', ...queuing({ queues: 16 }) },
    });
    assert.deepEqual(spec?.limited, {
      nominalConcurrencyShares: 30,
      lendablePercent: 0,
      limitResponse: { type: 'Queue', queuing: { queues: 16, handSize: 8, queueLengthLimit: 50 } },
    });
    const none = received(priorityLevelConfigurationKind, { spec: limited({ nominalConcurrencyShares: 0 }) });
    assert.equal(none.spec?.limited?.nominalConcurrencyShares, 0);
  });
});

describe('an APIService', () => {
  for (const [called, change, ...expected] of serviceCases)
    test(JSON.stringify(change), () =>
      expectCauses(
        causesOf(apiServiceKind, { metadata: { name: called }, spec: { ...service, ...change } }),
        expected,
      ),
    );

  test('asks on port 443 unless it says another', () =>
    assert.equal(
      received(apiServiceKind, { spec: { ...service, service: target } }).spec?.service?.port,
      443,
    ));
});
