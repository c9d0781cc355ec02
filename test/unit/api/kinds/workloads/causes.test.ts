import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ApiObject, Kind } from '../../../../../src/api/index.ts';
import {
  controllerRevisionKind,
  cronJobKind,
  csiStorageCapacityKind,
  daemonSetKind,
  deploymentKind,
  endpointSliceKind,
  endpointsKind,
  jobKind,
  limitRangeKind,
  podDisruptionBudgetKind,
  priorityClassKind,
  replicaSetKind,
  replicationControllerKind,
  resourceQuotaKind,
  statefulSetKind,
  volumeAttributesClassKind,
} from '../../../../../src/api/index.ts';

/*
 * What the kinds of workloads, quotas and endpoints accept, and what they say of the rest in the reference's words.
 */

type Any = Record<string, unknown>;

const labels = { app: 'web' };
const selector = { matchLabels: labels };
const containers = [{ name: 'web', image: 'web' }];
const template = { metadata: { labels }, spec: { containers } };
const workload = { selector, template };
const onceTemplate = { metadata: { labels }, spec: { containers, restartPolicy: 'Never' } };
const jobSpec = { manualSelector: true, selector, template: onceTemplate };

function settled<T extends ApiObject>(kind: Kind<T>, fields: Any): T {
  const object = { metadata: { name: 'one', uid: 'uid-1' }, ...structuredClone(fields) };
  return kind.default(kind.prepare(object as unknown as T, undefined));
}

function causes<T extends ApiObject>(kind: Kind<T>, fields: Any, old?: Any): string[] {
  const before = old === undefined ? undefined : settled(kind, old);
  return kind.validate(settled(kind, fields), before).map(({ field, message }) => `${field}: ${message}`);
}

/** Each row: what is wrong, in a kind, and the beginning of what is said. */
function rejects(
  kind: Kind<never>,
  rows: readonly (readonly [name: string, fields: Any, said: string, old?: Any])[],
) {
  describe(`${kind.kind} is refused with`, () => {
    for (const [name, fields, said, old] of rows) {
      test(name, () => {
        const found = causes(kind as unknown as Kind, fields, old);
        assert.ok(
          found.some((cause) => cause.startsWith(said)),
          `expected ${said}, found ${found.join('\n') || 'nothing'}`,
        );
      });
    }
  });
}

const kinds: readonly (readonly [Kind, Any])[] = [
  [replicaSetKind, { spec: workload }],
  [deploymentKind, { spec: workload }],
  [statefulSetKind, { spec: workload }],
  [daemonSetKind, { spec: workload }],
  [replicationControllerKind, { spec: { template } }],
  [jobKind, { spec: jobSpec }],
  [jobKind, { spec: { template: onceTemplate } }],
  [
    cronJobKind,
    { spec: { schedule: '*/5 1-3,7 * jan-mar mon', jobTemplate: { spec: { template: onceTemplate } } } },
  ],
  [
    cronJobKind,
    {
      spec: {
        schedule: '@daily',
        timeZone: 'Europe/Vienna',
        jobTemplate: { spec: { template: onceTemplate } },
      },
    },
  ],
  [podDisruptionBudgetKind, { spec: { maxUnavailable: '30%', selector } }],
  [priorityClassKind, { value: 1000 }],
  [resourceQuotaKind, { spec: { hard: { pods: '3', 'count/jobs.batch': '4' }, scopes: ['NotTerminating'] } }],
  [limitRangeKind, { spec: { limits: [{ type: 'Container', max: { cpu: '2' }, min: { cpu: '1' } }] } }],
  [
    endpointSliceKind,
    { addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'] }], ports: [{ port: 80 }] },
  ],
  [endpointsKind, { subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 80 }] }] }],
  [csiStorageCapacityKind, { storageClassName: 'fast', capacity: '1Gi' }],
  [volumeAttributesClassKind, { driverName: 'disk.example.com', parameters: { a: 'b' } }],
  [controllerRevisionKind, { data: { a: 1 }, revision: 1 }],
];

describe('what is right is accepted, and once more unchanged', () => {
  for (const [kind, fields] of kinds) {
    test(`${kind.kind} ${Object.keys(Object(fields['spec'] ?? fields)).join()}`, () => {
      assert.deepEqual(causes(kind, fields), []);
      assert.deepEqual(causes(kind, fields, fields), []);
      const once = settled(kind, fields);
      assert.deepEqual(kind.default(structuredClone(once)), once, 'defaults twice are defaults once');
    });
  }
});

const other = { metadata: { labels: { app: 'other' } }, spec: { containers } };

rejects(replicaSetKind as Kind<never>, [
  [
    'a number below zero',
    { spec: { ...workload, replicas: -1 } },
    'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
  ],
  [
    'an empty selector',
    { spec: { template, selector: {} } },
    'spec.selector: Invalid value: {}: empty selector is invalid for deployment',
  ],
  [
    'labels that are not selected',
    { spec: { selector, template: other } },
    'spec.template.metadata.labels: Invalid value: {"app":"other"}: `selector` does not match template `labels`',
  ],
  [
    'pods that end',
    { spec: { selector, template: onceTemplate } },
    'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
  ],
  [
    'another selector',
    { spec: { selector: { matchLabels: { app: 'other' } }, template: other } },
    'spec.selector: Invalid value: {"matchLabels":{"app":"other"}}: field is immutable',
    { spec: workload },
  ],
  [
    'pods without containers',
    { spec: { selector, template: { metadata: { labels }, spec: { containers: [] } } } },
    'spec.template.spec.containers: Required value',
  ],
]);

rejects(deploymentKind as Kind<never>, [
  [
    'neither more nor fewer pods',
    { spec: { ...workload, strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: '0%' } } } },
    'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0',
  ],
  [
    'no percentage',
    { spec: { ...workload, strategy: { rollingUpdate: { maxSurge: 'many' } } } },
    'spec.strategy.rollingUpdate.maxSurge: Invalid value: "many": a valid percent string must be',
  ],
  [
    'more than all',
    { spec: { ...workload, strategy: { rollingUpdate: { maxUnavailable: '101%' } } } },
    'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
  ],
  [
    'settings of another strategy',
    { spec: { ...workload, strategy: { type: 'Recreate', rollingUpdate: {} } } },
    "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'",
  ],
  [
    'an unknown strategy',
    { spec: { ...workload, strategy: { type: 'Best' } } },
    'spec.strategy: Unsupported value: {"type":"Best"}: supported values: "Recreate", "RollingUpdate"',
  ],
  [
    'a deadline before pods can be available',
    { spec: { ...workload, minReadySeconds: 9, progressDeadlineSeconds: 9 } },
    'spec.progressDeadlineSeconds: Invalid value: 9: must be greater than minReadySeconds',
  ],
]);

rejects(statefulSetKind as Kind<never>, [
  [
    'a field that is fixed',
    { spec: { ...workload, serviceName: 'b' } },
    "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals',",
    { spec: { ...workload, serviceName: 'a' } },
  ],
  [
    'an unknown order',
    { spec: { ...workload, podManagementPolicy: 'Random' } },
    `spec.podManagementPolicy: Invalid value: "Random": must be 'OrderedReady' or 'Parallel'`,
  ],
  [
    'a policy for claims',
    { spec: { ...workload, persistentVolumeClaimRetentionPolicy: { whenScaled: 'Keep' } } },
    'spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: "Keep"',
  ],
]);

rejects(daemonSetKind as Kind<never>, [
  [
    'both kinds of room',
    { spec: { ...workload, updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } } },
    'spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero',
  ],
  [
    'no room',
    { spec: { ...workload, updateStrategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } } },
    'spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0',
  ],
]);

rejects(jobKind as Kind<never>, [
  [
    'pods that never end',
    { spec: { ...jobSpec, template } },
    'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
  ],
  [
    'other pods',
    {
      spec: {
        ...jobSpec,
        template: {
          metadata: { labels },
          spec: { containers: [{ name: 'b', image: 'b' }], restartPolicy: 'Never' },
        },
      },
    },
    'spec.template: Invalid value:',
    { spec: jobSpec },
  ],
  [
    'indexes without a number',
    { spec: { ...jobSpec, parallelism: 2, completionMode: 'Indexed' } },
    'spec.completions: Required value: when completion mode is Indexed',
  ],
  [
    'a rule of nothing',
    { spec: { ...jobSpec, podFailurePolicy: { rules: [{ action: 'FailJob' }] } } },
    'spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required',
  ],
  [
    'success without an exit code',
    {
      spec: {
        ...jobSpec,
        podFailurePolicy: { rules: [{ action: 'Ignore', onExitCodes: { operator: 'In', values: [0] } }] },
      },
    },
    'spec.podFailurePolicy.rules[0].onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator',
  ],
  [
    'indexes that are not there',
    {
      spec: {
        ...jobSpec,
        completionMode: 'Indexed',
        completions: 3,
        successPolicy: { rules: [{ succeededIndexes: '0,2-3' }] },
      },
    },
    'spec.successPolicy.rules[0].succeededIndexes: Invalid value: "0,2-3": error parsing succeededIndexes: too large index: "3"',
  ],
]);

const scheduled = (schedule: string, more: Any = {}) => ({
  spec: { schedule, jobTemplate: { spec: { template: onceTemplate } }, ...more },
});
rejects(cronJobKind as Kind<never>, [
  [
    'too few fields',
    scheduled('* * * *'),
    'spec.schedule: Invalid value: "* * * *": expected exactly 5 fields, found 4: [* * * *]',
  ],
  [
    'a minute too many',
    scheduled('60 * * * *'),
    'spec.schedule: Invalid value: "60 * * * *": end of range (60) above maximum (59): 60',
  ],
  [
    'no steps',
    scheduled('*/0 * * * *'),
    'spec.schedule: Invalid value: "*/0 * * * *": step of range should be a positive number: */0',
  ],
  [
    'a range backwards',
    scheduled('* 5-3 * * *'),
    'spec.schedule: Invalid value: "* 5-3 * * *": beginning of range (5) beyond end of range (3): 5-3',
  ],
  [
    'an unknown word',
    scheduled('@often'),
    'spec.schedule: Invalid value: "@often": unrecognized descriptor: @often',
  ],
  [
    'a zone in the schedule',
    scheduled('TZ=UTC * * * * *'),
    'spec.schedule: Invalid value: "TZ=UTC * * * * *": cannot use TZ or CRON_TZ in schedule',
  ],
  [
    'an unknown zone',
    scheduled('* * * * *', { timeZone: 'Mars/Base' }),
    'spec.timeZone: Invalid value: "Mars/Base": unknown time zone Mars/Base',
  ],
  [
    'a name too long for its jobs',
    { ...scheduled('* * * * *'), metadata: { name: 'a'.repeat(53) } },
    `metadata.name: Invalid value: "${'a'.repeat(53)}": must be no more than 52 characters`,
  ],
]);

rejects(podDisruptionBudgetKind as Kind<never>, [
  [
    'both numbers',
    { spec: { minAvailable: 1, maxUnavailable: 1 } },
    'spec: Invalid value: {"minAvailable":1,"maxUnavailable":1}: minAvailable and maxUnavailable cannot be both set',
  ],
  [
    'an unknown policy',
    { spec: { unhealthyPodEvictionPolicy: 'Never' } },
    'spec.unhealthyPodEvictionPolicy: Unsupported value: "Never": supported values: "AlwaysAllow", "IfHealthyBudget"',
  ],
]);

rejects(priorityClassKind as Kind<never>, [
  [
    'the name of the system',
    { metadata: { name: 'system-mine' }, value: 1 },
    "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only.",
  ],
  [
    'a value for the system',
    { value: 1_000_000_001 },
    'value: Forbidden: maximum allowed value of a user defined priority is 1000000000',
  ],
  ['another value', { value: 2 }, 'value: Forbidden: may not be changed in an update.', { value: 1 }],
]);

rejects(resourceQuotaKind as Kind<never>, [
  [
    'a part of a pod',
    { spec: { hard: { pods: '0.5' } } },
    'spec.hard[pods]: Invalid value: "0.5": must be an integer',
  ],
  [
    'an unknown resource',
    { spec: { hard: { houses: '1' } } },
    'spec.hard[houses]: Invalid value: "houses": must be a standard resource type or fully qualified',
  ],
  [
    'scopes that exclude each other',
    { spec: { scopes: ['BestEffort', 'NotBestEffort'] } },
    'spec.scopes: Invalid value: ["BestEffort","NotBestEffort"]: conflicting scopes',
  ],
]);

rejects(limitRangeKind as Kind<never>, [
  [
    'more than the most',
    { spec: { limits: [{ type: 'Container', max: { cpu: '1' }, default: { cpu: '2' } }] } },
    'spec.limits[0].default[cpu]: Invalid value: "2": default value 2 is greater than max value 1',
  ],
  [
    'defaults of a pod',
    { spec: { limits: [{ type: 'Pod', default: { cpu: '2' } }] } },
    "spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'",
  ],
]);

rejects(endpointSliceKind as Kind<never>, [
  [
    'an address of the other family',
    { addressType: 'IPv4', endpoints: [{ addresses: ['fd00::1'] }] },
    'endpoints[0].addresses[0]: Invalid value: "fd00::1": must be an IPv4 address',
  ],
  [
    'another type',
    { addressType: 'IPv6' },
    'addressType: Invalid value: "IPv6": field is immutable',
    { addressType: 'IPv4' },
  ],
  [
    'two ports of a name',
    { addressType: 'IPv4', ports: [{ port: 1 }, { port: 2 }] },
    'ports[1].name: Duplicate value: ""',
  ],
]);

rejects(endpointsKind as Kind<never>, [
  [
    'a subset without addresses',
    { subsets: [{ ports: [{ port: 80 }] }] },
    'subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`',
  ],
  [
    'an address of every machine',
    { subsets: [{ addresses: [{ ip: '127.0.0.1' }] }] },
    'subsets[0].addresses[0].ip: Invalid value: "127.0.0.1": may not be in the loopback range',
  ],
]);

rejects(volumeAttributesClassKind as Kind<never>, [
  [
    'no parameters',
    { driverName: 'a.example.com' },
    'parameters: Required value: must contain at least one key/value pair',
  ],
]);

rejects(controllerRevisionKind as Kind<never>, [
  [
    'other data',
    { data: { a: 2 }, revision: 1 },
    'data: Invalid value: {"a":2}: field is immutable',
    { data: { a: 1 }, revision: 1 },
  ],
]);

test('a job selects its own pods', () => {
  const { spec, metadata } = settled(jobKind, { spec: { template: onceTemplate } });
  assert.deepEqual(spec?.selector, { matchLabels: { 'batch.kubernetes.io/controller-uid': 'uid-1' } });
  assert.equal(spec?.template?.metadata?.labels?.['batch.kubernetes.io/job-name'], 'one');
  assert.equal(spec?.template?.metadata?.labels?.['app'], 'web');
  assert.deepEqual(metadata?.labels, spec?.template?.metadata?.labels);
  assert.deepEqual([spec?.completions, spec?.parallelism, spec?.backoffLimit], [1, 1, 6]);
});
