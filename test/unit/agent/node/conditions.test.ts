import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { PressureWatch } from '../../../../src/agent/eviction/pressure-watch.ts';
import { findConditions } from '../../../../src/agent/node/conditions.ts';
import type { Measurements } from '../../../../src/agent/node/measure.ts';
import { formatBytes } from '../../../../src/agent/node/quantity.ts';
import { nodeLabels } from '../../../../src/agent/node/registration.ts';
import type { Withheld } from '../../../../src/agent/node/resources.ts';
import { computeResources, mergeStored } from '../../../../src/agent/node/resources.ts';
import type { NodeState } from '../../../../src/agent/node/status.ts';
import { composeStatus, isSameStatus } from '../../../../src/agent/node/status.ts';
import { computeStatusPatch } from '../../../../src/agent/node/status-patch.ts';
import { toShare } from '../../../../src/agent/node/thresholds.ts';
import type { Node } from '../../../../src/api/index.ts';
import { billionths, checkLabelValue, decodeObject, nodeKind } from '../../../../src/api/index.ts';
import { jsonBody } from '../../../support/index.ts';
import {
  defaultEviction,
  facts,
  hardEviction,
  healthy,
  noPressure,
  nothingReserved,
  runtimeAbsent,
  runtimeReady,
  runtimeWithoutNetwork,
} from './samples.ts';

const nodeResources = (
  measured: Measurements,
  maxPods: number,
  held: Withheld = { minFree: hardEviction, reserved: nothingReserved },
) => computeResources(measured, { maxPods }, held);

/** The bytes of a quantity. */
const bytes = (text = '') => Number(billionths(text) / 1_000_000_000n);

function finding(type: string, measured: Measurements, runtime = runtimeReady) {
  const pressures = new PressureWatch().look(measured, defaultEviction, 0).pressures;
  const found = findConditions(pressures, runtime).find((entry) => entry.type === type);
  assert.ok(found);
  return found;
}

describe('pressure', () => {
  const cases: [string, Partial<Measurements>, string][] = [
    ['MemoryPressure', { memory: { capacityBytes: 2 ** 32, availableBytes: 100 * 2 ** 20 } }, 'False'],
    ['MemoryPressure', { memory: { capacityBytes: 2 ** 32, availableBytes: 100 * 2 ** 20 - 1 } }, 'True'],
    ['MemoryPressure', { memory: undefined }, 'Unknown'],
    [
      'DiskPressure',
      { disk: { capacityBytes: 1000, availableBytes: 101, inodes: 100, inodesFree: 6, askedMs: 0 } },
      'False',
    ],
    [
      'DiskPressure',
      { disk: { capacityBytes: 1000, availableBytes: 99, inodes: 100, inodesFree: 6, askedMs: 0 } },
      'True',
    ],
    [
      'DiskPressure',
      { disk: { capacityBytes: 1000, availableBytes: 900, inodes: 100, inodesFree: 4, askedMs: 0 } },
      'True',
    ],
    [
      'DiskPressure',
      { disk: { capacityBytes: 1000, availableBytes: 900, inodes: 0, inodesFree: 0, askedMs: 0 } },
      'False',
    ],
    ['DiskPressure', { disk: undefined }, 'Unknown'],
    ['PIDPressure', { pids: { limit: 1000, used: 899 } }, 'False'],
    ['PIDPressure', { pids: { limit: 1000, used: 901 } }, 'True'],
    ['PIDPressure', { pids: { limit: 100, used: 5000 } }, 'True'],
    ['PIDPressure', { pids: undefined }, 'Unknown'],
  ];
  for (const [type, change, status] of cases) {
    test(`${type} is ${status} with ${JSON.stringify(change)}`, () => {
      assert.equal(finding(type, { ...healthy, ...change }).status, status);
    });
  }

  test('goes by the thresholds that are configured; one that is off counts for nothing', () => {
    const hard = { 'memory.available': { amount: 2 ** 30 }, 'pid.available': toShare(50) };
    const measured = {
      ...healthy,
      memory: { capacityBytes: 2 ** 32, availableBytes: 2 ** 30 - 1 },
      disk: { capacityBytes: 1000, availableBytes: 0, inodes: 100, inodesFree: 0, askedMs: 0 },
      pids: { limit: 1000, used: 501 },
    };
    const found = findConditions(
      new PressureWatch().look(measured, { ...defaultEviction, hard }, 0).pressures,
      runtimeReady,
    );
    const status = (type: string) => found.find((entry) => entry.type === type)?.status;
    assert.deepEqual(['MemoryPressure', 'DiskPressure', 'PIDPressure'].map(status), [
      'True',
      'False',
      'True',
    ]);
  });

  test('uses the words of the reference', () => {
    const words = findConditions(noPressure, runtimeReady).map(
      ({ reason, message }) => `${reason}: ${message}`,
    );
    assert.deepEqual(words.slice(1), [
      'KubeletHasSufficientMemory: kubelet has sufficient memory available',
      'KubeletHasNoDiskPressure: kubelet has no disk pressure',
      'KubeletHasSufficientPID: kubelet has sufficient PID available',
      'KubeletReady: kubelet is posting ready status',
    ]);
  });
});

describe('readiness', () => {
  test('an absent runtime is said with what to do', () => {
    const ready = finding('Ready', healthy, runtimeAbsent);
    assert.equal(ready.status, 'False');
    assert.equal(ready.reason, 'KubeletNotReady');
    assert.match(
      ready.message,
      /^container runtime is down: RuntimeUnavailable: .*containerd\.sock.*start the container runtime/,
    );
  });

  test('a runtime that has not been asked yet is no accusation', () => {
    const ready = finding('Ready', healthy, { ...runtimeAbsent, reason: 'RuntimeStarting' });
    assert.equal(ready.message, 'container runtime status check may not have completed yet');
  });

  test('what the agent has noticed of itself stands behind, ready or not', () => {
    const remarks = ['heartbeat late by 12.0 s because the machine slept for 11.0 s', 'x'.repeat(5000)];
    for (const runtime of [runtimeReady, runtimeAbsent]) {
      const ready = findConditions(noPressure, runtime, remarks).at(-1);
      assert.match(
        ready?.message ?? '',
        /; heartbeat late by 12\.0 s because the machine slept for 11\.0 s; xxx/,
      );
      assert.ok((ready?.message.length ?? 0) < 3000);
    }
  });

  test('another reason of the agent makes it NotReady, beside those of the runtime', () => {
    const problems = ['node is shutting down'];
    const ready = findConditions(noPressure, runtimeReady, ['a remark'], problems).at(-1);
    assert.deepEqual(
      [ready?.status, ready?.reason, ready?.message],
      ['False', 'KubeletNotReady', 'node is shutting down; a remark'],
    );
    const both = findConditions(noPressure, runtimeAbsent, [], problems).at(-1);
    assert.match(both?.message ?? '', /^\[container runtime is down: .*, node is shutting down\]$/);
  });

  test('while a hung runtime does not answer, NetworkUnavailable is Unknown and Ready False', () => {
    for (const reason of ['RuntimeTimeout', 'RuntimeUnavailable']) {
      const network = finding('NetworkUnavailable', healthy, { ...runtimeAbsent, reason });
      assert.deepEqual([network.status, network.reason], ['Unknown', 'RuntimeNotAnswering']);
      assert.equal(finding('Ready', healthy, { ...runtimeAbsent, reason }).status, 'False');
    }
  });

  test('a runtime that says it is not ready is quoted, with bounds', () => {
    const runtime = {
      ...runtimeWithoutNetwork,
      ready: false,
      reason: 'DiskFull',
      message: `RuntimeReady: ${'x'.repeat(100_000)}`,
    };
    const ready = finding('Ready', healthy, runtime);
    assert.match(ready.message, /RuntimeReady=false reason:DiskFull/);
    assert.ok(ready.message.length < 2000);
    assert.equal(finding('NetworkUnavailable', healthy, runtime).status, 'True');
  });
});

describe('resources', () => {
  test('are those that the reference publishes for the same machine, to the byte', () => {
    const { capacity, allocatable } = nodeResources(healthy, 110);
    assert.deepEqual(capacity, {
      cpu: '2',
      pods: '110',
      'hugepages-1Gi': '0',
      'hugepages-2Mi': '0',
      memory: '24684084Ki',
      'ephemeral-storage': '263174212Ki',
    });
    assert.deepEqual(allocatable, {
      ...capacity,
      memory: '24581684Ki',
      'ephemeral-storage': '242541353378',
    });
  });

  test('huge pages are taken off the allocatable memory, never below zero', () => {
    const memory = { capacityBytes: 2 ** 30, availableBytes: 2 ** 29 };
    const pages = (totalBytes: number) => [{ pageBytes: 2 ** 21, totalBytes }];
    const some = nodeResources({ ...healthy, memory, hugePages: pages(2 ** 29) }, 1).allocatable;
    assert.equal(some['memory'], `${512 - 100}Mi`);
    assert.equal(some['hugepages-2Mi'], '512Mi');
    const all = nodeResources({ ...healthy, memory, hugePages: pages(2 ** 30) }, 1).allocatable;
    assert.equal(all['memory'], '0');
  });

  test('what is reserved is not for pods', () => {
    const reserved = { cpuMillis: 500, memoryBytes: 2 ** 30, storageBytes: 2 ** 31, pids: 0 };
    const plain = nodeResources(healthy, 110).allocatable;
    const { capacity, allocatable } = nodeResources(healthy, 110, { minFree: hardEviction, reserved });
    assert.deepEqual([capacity['cpu'], allocatable['cpu']], ['2', '1500m']);
    assert.equal(bytes(plain['memory']) - bytes(allocatable['memory']), 2 ** 30);
    assert.equal(bytes(plain['ephemeral-storage']) - bytes(allocatable['ephemeral-storage']), 2 ** 31);
    const all = { cpuMillis: 5000, memoryBytes: 2 ** 50, storageBytes: 2 ** 60, pids: 0 };
    const none = nodeResources(healthy, 110, { minFree: hardEviction, reserved: all }).allocatable;
    assert.deepEqual([none['cpu'], none['memory'], none['ephemeral-storage']], ['0', '0', '0']);
  });

  test('what cannot be measured now stays as it was stored', () => {
    const stored = mergeStored(nodeResources(healthy, 110), undefined);
    const later = mergeStored(nodeResources({ ...healthy, disk: undefined }, 110), stored);
    assert.deepEqual(later, stored);
  });

  test('written bytes mean the same bytes', () => {
    const powers: Record<string, number> = { '': 0, Ki: 1, Mi: 2, Gi: 3, Ti: 4, Pi: 5, Ei: 6 };
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.nat(5), (number, power) => {
        const bytes = (number % 10_000_000) * 1024 ** (power % 4);
        const [, digits = '', suffix = ''] = /^(\d+)(\D*)$/.exec(formatBytes(bytes)) ?? [];
        assert.equal(Number(digits) * 1024 ** (powers[suffix] ?? Number.NaN), bytes);
      }),
    );
  });
});

const state: NodeState = {
  facts,
  resources: nodeResources(healthy, 110),
  findings: findConditions(noPressure, runtimeReady),
  addresses: [{ type: 'InternalIP', address: '192.0.2.10' }],
  port: 10_250,
  runtime: runtimeReady,
  nowMs: Date.parse('2025-03-01T10:00:00.789Z'),
};

describe('status', () => {
  test('is a valid status of a Node', () => {
    const node: Node = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'a' },
      status: composeStatus(undefined, state),
    };
    assert.deepEqual(decodeObject(nodeKind, 'v1', jsonBody(JSON.stringify(node))).complaints, []);
  });

  test('a transition time moves with the status and with nothing else', () => {
    const status = fc.constantFrom('True' as const, 'False' as const, 'Unknown' as const);
    const step = fc.record({ status, reason: fc.string(), waitMs: fc.integer({ min: 1000, max: 100_000 }) });
    fc.assert(
      fc.property(fc.array(step, { minLength: 2, maxLength: 20 }), (steps) => {
        let stored: Node['status'];
        let nowMs = state.nowMs;
        let expected = '';
        let before = '';
        for (const { status: next, reason, waitMs } of steps) {
          nowMs += waitMs;
          const findings = [{ type: 'Ready', status: next, reason, message: '' }];
          stored = composeStatus(stored, { ...state, findings, nowMs });
          const ready = stored.conditions?.find(({ type }) => type === 'Ready');
          if (next !== before) expected = ready?.lastHeartbeatTime ?? 'none';
          before = next;
          assert.equal(ready?.lastTransitionTime, expected);
        }
      }),
      { numRuns: 50 },
    );
  });

  test('two looks at the same node are the same, whatever the time and the order of keys', () => {
    const first = composeStatus(undefined, state);
    const later = composeStatus(first, { ...state, nowMs: state.nowMs + 60_000 });
    assert.ok(isSameStatus(first, later));
    const shuffled = Object.fromEntries(Object.entries(later).reverse());
    assert.ok(isSameStatus(shuffled, first));
    assert.ok(!isSameStatus(undefined, first));
    assert.ok(!isSameStatus(first, composeStatus(first, { ...state, port: 1 })));
  });

  test('declares what this agent has, and not what another agent of the node declared', () => {
    const theirs = ['ExtendWebSocketsToKubelet', 'RestartAllContainersOnContainerExits'];
    const before = { ...composeStatus(undefined, state), declaredFeatures: theirs };
    const ours = composeStatus(before, state);
    assert.deepEqual(ours.declaredFeatures, ['RestartAllContainersOnContainerExits']);
    assert.ok(!isSameStatus(before, ours));
    assert.deepEqual(computeStatusPatch(before, ours), { declaredFeatures: ours.declaredFeatures });
  });

  test('is not reported again and again to a server that keeps no declared features', () => {
    const { declaredFeatures: _, ...stored } = composeStatus(undefined, state);
    assert.ok(isSameStatus(stored, composeStatus(stored, state)));
    assert.ok(!isSameStatus(stored, composeStatus(stored, { ...state, port: 1 })));
  });

  test('an absent runtime leaves its last known version, and Unknown where none is known', () => {
    const absent = { ...state, runtime: runtimeAbsent };
    assert.equal(composeStatus(undefined, absent).nodeInfo?.containerRuntimeVersion, 'Unknown');
    const known = composeStatus(undefined, state);
    assert.equal(composeStatus(known, absent).nodeInfo?.containerRuntimeVersion, 'containerd://2.1.9');
  });
});

test('any host name makes a label that the API takes', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ maxLength: 300 }), fc.domain()), (hostname) => {
      const value = nodeLabels(hostname, facts)['kubernetes.io/hostname'] ?? '-';
      assert.equal(checkLabelValue(value), undefined, value);
    }),
  );
});
