import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PlanInput, PodRecord } from '../../../../../src/agent/pods/plan/index.ts';
import type { PodStatus } from '../../../../../src/agent/pods/status/index.ts';
import { PodLifeMetrics } from '../../../../../src/agent/pods/worker/index.ts';
import type { Pod } from '../../../../../src/api/index.ts';
import { formatTime } from '../../../../../src/api/index.ts';
import { MetricsRegistry } from '../../../../../src/base/index.ts';
import { lintMetrics } from '../../../../support/lint-metrics.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import { inputOf } from '../status/input.ts';

const runs = { running: { startedAt: '2026-05-01T12:00:00Z' } };
const waits = { waiting: { reason: 'ContainerCreating' } };
type State = NonNullable<NonNullable<PodStatus['containerStatuses']>[number]['state']>;
const statusOf = (name: string, state: State) => ({
  ...{ name, image: 'i', imageID: '', ready: false, restartCount: 0, state },
});
const withState = (state: State): PodStatus => ({ containerStatuses: [statusOf('c', state)] });
const pulling = new Map([['c', { state: 'pulling', message: 'it is pulled' } as const]]);

/** A node on which the pods of a test come to run. */
function createNode() {
  const clock = createManualClock();
  const registry = new MetricsRegistry();
  const metrics = new PodLifeMetrics(registry, clock);
  const pod: Pod = {
    metadata: { uid: 'u', creationTimestamp: formatTime(clock.now() - 1000) },
    spec: { initContainers: [{ name: 'i' }, { name: 's', restartPolicy: 'Always' }], containers: [] },
  };
  const input = (record: Partial<PodRecord> = {}, more: Partial<PlanInput> = {}): PlanInput => ({
    ...inputOf({}),
    record: { takenMs: clock.now(), isAdmitted: true, ips: [], containers: {}, ...record },
    ...more,
  });
  const read = async (name: string) => {
    const found = new RegExp(`^${name} (\\S+)$`, 'm').exec(await registry.metrics());
    return found === null ? undefined : Number(found[1]);
  };
  return { clock, registry, metrics, pod, input, read };
}

describe('the metrics of how pods come to run', () => {
  test('a start counts from the creation, and for the SLI without what was pulled', async () => {
    const { clock, metrics, pod, input, read } = createNode();
    const first = input();
    metrics.reported(pod, { ...first, images: pulling }, withState(waits));
    await clock.advance(3000);
    metrics.reported(pod, first, withState(waits));
    await clock.advance(500);
    metrics.reported(pod, first, withState(runs));
    metrics.reported(pod, first, withState(runs)); // counts once
    assert.equal(await read('kubelet_pod_start_total_duration_seconds_sum'), 4.5);
    assert.equal(await read('kubelet_pod_start_sli_duration_seconds_sum'), 1.5);
    assert.equal(await read('kubelet_pod_start_duration_seconds_sum'), 3.5);
    assert.equal(await read('kubelet_pod_start_sli_duration_seconds_count'), 1);
  });

  test('the run of init containers is no part of the SLI, that of sidecars is', async () => {
    const { clock, metrics, pod, input, read } = createNode();
    const first = input();
    const withInit = (name: string): PodStatus => ({
      initContainerStatuses: [statusOf(name, runs)],
      ...withState(waits),
    });
    metrics.reported(pod, first, withInit('i'));
    await clock.advance(5000);
    metrics.reported(pod, first, withInit('s'));
    await clock.advance(2000);
    metrics.reported(pod, first, withState(runs));
    assert.equal(await read('kubelet_pod_start_sli_duration_seconds_sum'), 3);
    assert.equal(await read('kubelet_pod_start_total_duration_seconds_sum'), 8);
  });

  test('a pod that an earlier run of the agent took up is not measured, nor one of a later clock below zero', async () => {
    const { clock, metrics, pod, input, read } = createNode();
    metrics.reported(pod, input({ takenMs: clock.now() - 1 }), withState(runs));
    assert.equal(await read('kubelet_pod_start_duration_seconds_count'), 0);
    const later = { metadata: { uid: 'v', creationTimestamp: formatTime(clock.now() + 60_000) } };
    metrics.reported(later, input(), withState(runs));
    assert.equal(await read('kubelet_pod_start_total_duration_seconds_sum'), 0);
    assert.equal(await read('kubelet_pod_start_total_duration_seconds_count'), 1);
  });

  test('static pods have no SLI: their creation is the time of the manifest', async () => {
    const { metrics, pod, input, read } = createNode();
    metrics.reported(pod, input({}, { origin: 'file' }), withState(runs));
    assert.equal(await read('kubelet_pod_start_sli_duration_seconds_count'), 0);
    assert.equal(await read('kubelet_pod_start_duration_seconds_count'), 1);
  });

  test('refused pods count once, and reasons that anybody can make up count as one', async () => {
    const { metrics, input, read } = createNode();
    const refuse = (uid: string, reason: string) => {
      const termination = { cause: 'failed', graceSeconds: 0, sinceMs: 0, reason } as const;
      const given = input({ isAdmitted: false, termination });
      metrics.reported({ metadata: { uid } }, given, {});
      metrics.reported({ metadata: { uid } }, given, {});
    };
    refuse('1', 'NodePorts');
    refuse('2', 'OutOfexample.com/one');
    refuse('3', 'OutOfexample.com/two');
    refuse('4', 'SomethingElse');
    const count = (reason: string) => read(`kubelet_admission_rejections_total\\{reason="${reason}"\\}`);
    assert.deepEqual(
      await Promise.all([count('NodePorts'), count('OutOfExtendedResources'), count('Other')]),
      [1, 2, 1],
    );
  });

  test('a pod that ended and comes again with its uid counts as restarted', async () => {
    const { registry, metrics, pod, input, read } = createNode();
    const given = input({}, { origin: 'file' });
    metrics.reported(pod, given, withState(runs));
    metrics.ended('u');
    metrics.reported(pod, given, withState(runs));
    assert.equal(await read('kubelet_restarted_pods_total\\{static="true"\\}'), 1);
    metrics.looked('create', 0.2);
    assert.equal(await read('kubelet_pod_worker_duration_seconds_count\\{operation_type="create"\\}'), 1);
    assert.deepEqual(lintMetrics(await registry.metrics()), []);
  });
});
