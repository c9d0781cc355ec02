import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Case } from './input.ts';
import { conditionOf, container, earlier, exited, now, running, startedAt, statusOf, wait } from './input.ts';

const init = { initContainers: [container('i'), container('j')] };
const sidecar = { initContainers: [container('s', { restartPolicy: 'Always', startupProbe: {} })] };
const never = { restartPolicy: 'Never' };
const gated = { readinessGates: [{ conditionType: 'lb.test/ready' }] };
const runs = [running('c')];
const gate = (status: string) => ({ phase: 'Running', conditions: [{ type: 'lb.test/ready', status }] });

type Row = readonly [
  what: string,
  given: Case,
  type: string,
  status: string,
  reason?: string | undefined,
  message?: string,
];

const rows: readonly Row[] = [
  ['no sandbox', {}, 'PodReadyToStartContainers', 'False'],
  [
    'no sandbox, and why',
    { wait: wait('FailedCreatePodSandBox', 'no address left') },
    'PodReadyToStartContainers',
    'False',
    undefined,
    'no address left',
  ],
  ['a sandbox', { sandbox: {} }, 'PodReadyToStartContainers', 'True'],
  ['a sandbox without an address', { sandbox: { ips: [] } }, 'PodReadyToStartContainers', 'False'],
  [
    'a sandbox with the network of the host',
    { sandbox: { ips: [], network: 'host' }, spec: { hostNetwork: true } },
    'PodReadyToStartContainers',
    'True',
  ],
  ['a sandbox that has ended', { sandbox: { isReady: false } }, 'PodReadyToStartContainers', 'False'],
  ['no init containers', {}, 'Initialized', 'True'],
  [
    'none of two done',
    { spec: init },
    'Initialized',
    'False',
    'ContainersNotInitialized',
    'containers with incomplete status: [i j]',
  ],
  [
    'one of two done',
    { spec: init, containers: [exited('i', 0)] },
    'Initialized',
    'False',
    'ContainersNotInitialized',
    'containers with incomplete status: [j]',
  ],
  ['both done', { spec: init, containers: [exited('i', 0), exited('j', 0)] }, 'Initialized', 'True'],
  ['a regular one has run', { spec: init, containers: [exited('c', 1)] }, 'Initialized', 'True'],
  [
    'all is done',
    { spec: { ...init, ...never }, containers: [exited('c', 0), exited('i', 0), exited('j', 0)] },
    'Initialized',
    'True',
    'PodCompleted',
  ],
  [
    'a sidecar that starts',
    { spec: sidecar, containers: [running('s')] },
    'Initialized',
    'False',
    'ContainersNotInitialized',
    'containers with incomplete status: [s]',
  ],
  [
    'a sidecar that has started',
    { spec: sidecar, containers: [running('s')], probes: new Map([['s', { startup: true }]]) },
    'Initialized',
    'True',
  ],
  ['it runs', { containers: runs }, 'ContainersReady', 'True'],
  [
    'it does not run',
    {},
    'ContainersReady',
    'False',
    'ContainersNotReady',
    'containers with unready status: [c]',
  ],
  [
    'its sidecar is not ready',
    { spec: sidecar, containers: [running('s'), ...runs] },
    'ContainersReady',
    'False',
    'ContainersNotReady',
    'containers with unready status: [s]',
  ],
  ['it is done', { spec: never, containers: [exited('c', 0)] }, 'ContainersReady', 'False', 'PodCompleted'],
  ['it has failed', { spec: never, containers: [exited('c', 1)] }, 'ContainersReady', 'False', 'PodFailed'],
  [
    'it was Failed while it runs on',
    { status: { phase: 'Failed' }, containers: runs },
    'ContainersReady',
    'False',
    'PodFailed',
  ],
  ['it runs', { containers: runs }, 'Ready', 'True'],
  ['it does not run', {}, 'Ready', 'False', 'ContainersNotReady', 'containers with unready status: [c]'],
  ['it is done', { spec: never, containers: [exited('c', 0)] }, 'Ready', 'False', 'PodCompleted'],
  [
    'its gate is not there',
    { spec: gated, containers: runs },
    'Ready',
    'False',
    'ReadinessGatesNotReady',
    'corresponding condition of pod readiness gate "lb.test/ready" does not exist.',
  ],
  [
    'its gate is closed',
    { spec: gated, containers: runs, status: gate('False') },
    'Ready',
    'False',
    'ReadinessGatesNotReady',
    'the status of pod readiness gate "lb.test/ready" is not "True", but False',
  ],
  ['its gate is open', { spec: gated, containers: runs, status: gate('True') }, 'Ready', 'True'],
  [
    'its gate is open, and it does not run',
    { spec: gated, status: gate('True') },
    'Ready',
    'False',
    'ContainersNotReady',
    'containers with unready status: [c]',
  ],
  [
    'always',
    { status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] } },
    'PodScheduled',
    'True',
  ],
];

describe('the conditions of a pod', () => {
  for (const [what, given, type, status, reason, message] of rows)
    test(`${type} ${status}: ${what}`, () => {
      const condition = conditionOf(given, type);
      assert.deepEqual([condition?.status, condition?.reason, condition?.message], [status, reason, message]);
    });

  test('a time stays while the status does', () => {
    const status = {
      phase: 'Running',
      conditions: [
        { type: 'Ready', status: 'True', lastTransitionTime: earlier },
        { type: 'ContainersReady', status: 'False', lastTransitionTime: earlier },
      ],
    };
    assert.equal(conditionOf({ status, containers: runs }, 'Ready')?.lastTransitionTime, earlier);
    assert.equal(conditionOf({ status, containers: runs }, 'ContainersReady')?.lastTransitionTime, now);
  });

  test('those of others are kept as the API has them now', () => {
    const other = { type: 'lb.test/ready', status: 'True', lastTransitionTime: earlier };
    const old = { ...other, status: 'False' };
    const given: Case = { status: { conditions: [other] }, before: { conditions: [old] }, containers: runs };
    assert.deepEqual(conditionOf(given, 'lb.test/ready'), other);
  });

  test('those of a resize are there while it waits or is carried out, with why it could not be', () => {
    const stale = { type: 'PodResizePending', status: 'True', reason: 'Deferred' };
    assert.equal(conditionOf({ status: { conditions: [stale] } }, 'PodResizePending'), undefined);
    const pendingResize = { reason: 'Infeasible', message: 'too much', sinceMs: 1, generation: 2 } as const;
    const pending = conditionOf({ record: { pendingResize } }, 'PodResizePending');
    assert.deepEqual(
      [pending?.status, pending?.reason, pending?.message],
      ['True', 'Infeasible', 'too much'],
    );
    const [before, after] = [1, 2].map((generation) => ({ generation, containers: {} }));
    const record = { ...(after && { allocation: after }), ...(before && { replaced: before }) };
    const progress = conditionOf({ record }, 'PodResizeInProgress');
    assert.deepEqual([progress?.status, progress?.reason], ['True', undefined]);
    const resizeFailure = { reason: 'ResizeError', message: 'in use', atMs: 1, count: 1 };
    const failed = conditionOf({ record, more: { resizeFailure } }, 'PodResizeInProgress');
    assert.deepEqual([failed?.reason, failed?.message], ['Error', 'in use']);
  });

  test('they carry the generation, which never goes back', () => {
    const given: Case = { metadata: { generation: 3 }, before: { observedGeneration: 5 } };
    assert.equal(statusOf(given).observedGeneration, 5);
    assert.equal(conditionOf(given, 'Ready')?.observedGeneration, 3);
    assert.equal(
      statusOf({ metadata: { generation: 6 }, before: { observedGeneration: 5 } }).observedGeneration,
      6,
    );
  });

  const ends = (reason: string, disruption?: string): Case => ({
    stage: 'terminating',
    record: {
      isAdmitted: true,
      termination: {
        ...{ cause: 'failed', graceSeconds: 0, sinceMs: 0, reason, message: 'low' },
        ...(disruption === undefined ? {} : { disruption }),
      },
    },
  });

  test('a disruption is said with the end, not before', () => {
    assert.equal(conditionOf({ ...ends('Evicted', 'M'), containers: runs }, 'DisruptionTarget'), undefined);
    const given = { ...ends('Evicted', 'M'), containers: [exited('c', 137)] };
    const condition = conditionOf(given, 'DisruptionTarget');
    assert.partialDeepStrictEqual(condition, {
      status: 'True',
      reason: 'TerminationByKubelet',
      message: 'M',
    });
    assert.equal(
      conditionOf({ ...ends('DeadlineExceeded'), containers: [exited('c', 137)] }, 'DisruptionTarget'),
      undefined,
    );
    const overItsLimit = { ...ends('Evicted'), containers: [exited('c', 137)] };
    assert.equal(conditionOf(overItsLimit, 'DisruptionTarget'), undefined);
  });

  test('that of an eviction by the API stays until the node ends the pod itself', () => {
    const asked = { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' };
    const status = { conditions: [asked] };
    assert.deepEqual(conditionOf({ status, containers: runs }, 'DisruptionTarget'), asked);
    const types = statusOf({ ...ends('Evicted', 'M'), status }).conditions?.map(({ type }) => type) ?? [];
    assert.equal(types.filter((type) => type === 'DisruptionTarget').length, 1);
  });
});

describe('addresses and the rest', () => {
  const hosts = (hostIps: string[], podIps?: string[]): Case => ({
    sandbox: podIps === undefined ? 'none' : { ips: podIps },
    more: { hostIps },
  });
  const ipsOf = (given: Case) => statusOf(given).podIPs?.map(({ ip }) => ip);

  test('the first address of the node is its hostIP, one of each family', () => {
    const { hostIP, hostIPs } = statusOf(hosts(['10.1.0.1', '10.1.0.2', 'fd00::1']));
    assert.deepEqual([hostIP, hostIPs], ['10.1.0.1', [{ ip: '10.1.0.1' }, { ip: 'fd00::1' }]]);
  });

  test('the addresses of the pod stand in the order of the families of the node', () => {
    assert.deepEqual(ipsOf(hosts(['10.1.0.1'], ['fd00::5', '10.0.0.5'])), ['10.0.0.5', 'fd00::5']);
    assert.deepEqual(ipsOf(hosts(['fd00::1'], ['10.0.0.5', 'fd00::5'])), ['fd00::5', '10.0.0.5']);
    assert.equal(statusOf(hosts(['fd00::1'], ['10.0.0.5', 'fd00::5'])).podIP, 'fd00::5');
  });

  test('they stay when the runtime has forgotten them', () => {
    assert.deepEqual(ipsOf({ record: { ips: ['10.0.0.5'] }, sandbox: { isReady: false, ips: [] } }), [
      '10.0.0.5',
    ]);
    assert.deepEqual(ipsOf({ status: { podIPs: [{ ip: '10.0.0.6' }] } }), ['10.0.0.6']);
    assert.equal(ipsOf({}), undefined);
  });

  test('with the network of the host they are set once', () => {
    const spec = { hostNetwork: true };
    assert.deepEqual(ipsOf({ spec }), ['192.168.1.7']);
    const status = { podIPs: [{ ip: '192.168.1.6' }] };
    assert.deepEqual(ipsOf({ spec, status, more: { hostIps: ['192.168.1.7', 'fd00::1'] } }), [
      '192.168.1.6',
      'fd00::1',
    ]);
  });

  test('the start of the pod is set once', () => {
    assert.equal(statusOf({}).startTime, startedAt);
    assert.equal(statusOf({ status: { startTime: earlier } }).startTime, earlier);
  });

  test('its class is that of the API, else computed', () => {
    assert.equal(statusOf({ status: { qosClass: 'Burstable' } }).qosClass, 'Burstable');
    assert.equal(statusOf({ more: { qosClassOf: () => 'BestEffort' } }).qosClass, 'BestEffort');
    assert.equal(statusOf({}).qosClass, undefined);
  });

  test('what controllers write is kept', () => {
    const resourceClaimStatuses = [{ name: 'gpu', resourceClaimName: 'web-gpu' }];
    assert.deepEqual(
      statusOf({ status: { resourceClaimStatuses } }).resourceClaimStatuses,
      resourceClaimStatuses,
    );
  });
});
