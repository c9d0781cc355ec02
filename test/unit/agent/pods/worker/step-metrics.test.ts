import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { StartStep, StopStep } from '../../../../../src/agent/pods/plan/index.ts';
import { measureSteps, stepMetrics } from '../../../../../src/agent/pods/worker/index.ts';
import type { Executor } from '../../../../../src/agent/pods/worker/types.ts';
import { MetricsRegistry } from '../../../../../src/base/index.ts';
import { lintMetrics } from '../../../../support/lint-metrics.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import { exited } from '../status/input.ts';

const { signal } = new AbortController();
const step: StartStep = {
  ...{ kind: 'start', container: 'c', type: 'sidecar', sandboxId: 's' },
  ...{ attempt: 1, restartCount: 1, imageId: 'i' },
};
const removal = { kind: 'removeContainer', container: 'c', containerId: 'i' } as const;
const work = { pod: {}, step, image: { id: 'i', user: {} }, view: undefined, isEnding: () => false };

/** Each step takes two seconds, and ends as the test says. */
function createLab(outcome: Partial<Executor> = {}) {
  const clock = createManualClock();
  const registry = new MetricsRegistry();
  const take = async () => void (await clock.sleep(2000));
  const executor: Executor = {
    prepare: take,
    async runSandbox() {
      await take();
      return 'sandbox';
    },
    stopSandbox: take,
    removeSandbox: take,
    start: async () => ({ isStarted: true, containerId: 'i' }),
    stop: take,
    removeContainer: take,
    resize: take,
    release: take,
    forget: take,
    loggedAttempts: async () => new Map(),
    messageOf: async () => 'left',
    ...outcome,
  };
  const measured = measureSteps(executor, stepMetrics(registry), clock);
  const read = async (name: string) => {
    const found = new RegExp(`^${name} (\\S+)$`, 'm').exec(await registry.metrics());
    return found === null ? undefined : Number(found[1]);
  };
  return { clock, registry, measured, read };
}

const stepsOf = (name: string, result: string, part: 'sum' | 'count') =>
  `nodeward_pod_step_seconds_${part}\\{step="${name}",result="${result}"\\}`;

describe('the metrics of steps', () => {
  test('each step has its time', async () => {
    const { clock, registry, measured, read } = createLab();
    const doing = Promise.all([
      ...[measured.prepare({}, signal), measured.runSandbox({}, 0, signal), measured.release({})],
      ...[measured.stopSandbox({}, 's'), measured.removeSandbox('s')],
      ...[
        measured.stop({}, stop, undefined, signal),
        measured.removeContainer({}, removal, undefined, signal),
      ],
    ]);
    await clock.advance(2000);
    await doing;
    for (const name of [
      ...['prepare', 'runSandbox', 'release', 'stopSandbox', 'removeSandbox', 'stop', 'removeContainer'],
    ])
      assert.equal(await read(stepsOf(name, 'done', 'sum')), 2, name);
    assert.equal(await read('kubelet_started_pods_total'), 1);
    assert.equal(await read('kubelet_started_pods_errors_total'), 0);
    assert.equal(await measured.messageOf({}, exited('c', 0)), 'left');
    assert.deepEqual(lintMetrics(await registry.metrics()), []);
  });

  test('what fails counts as failed, and what was cut off does not', async () => {
    const ended = new AbortController();
    ended.abort(new Error('the pod ends'));
    const fail = async () => {
      throw new Error('no network');
    };
    const { measured, read } = createLab({ runSandbox: fail, stop: fail });
    await assert.rejects(measured.runSandbox({}, 0, signal), /no network/);
    await assert.rejects(measured.runSandbox({}, 1, ended.signal), /no network/);
    await assert.rejects(measured.stop({}, stop, undefined, signal), /no network/);
    assert.equal(await read('kubelet_started_pods_total'), 2);
    assert.equal(await read('kubelet_started_pods_errors_total'), 1);
    assert.equal(await read(stepsOf('runSandbox', 'failed', 'count')), 1);
    assert.equal(await read(stepsOf('stop', 'failed', 'count')), 1);
  });

  test('containers count by their list, restarts and failures besides, failures by a known reason only', async () => {
    const { measured, read } = createLab();
    await measured.start(work, signal);
    await measured.start({ ...work, step: { ...step, type: 'regular', restartCount: 0 } }, signal);
    assert.equal(await read('kubelet_started_containers_total\\{container_type="init_container"\\}'), 1);
    assert.equal(await read('kubelet_started_containers_total\\{container_type="container"\\}'), 1);
    assert.equal(await read('nodeward_container_restarts_total'), 1);

    const reasons = ['RunContainerError', 'MadeUp1', 'MadeUp2'];
    const failing = createLab({
      start: async () => ({ isStarted: false, reason: reasons.shift() ?? '', message: '' }),
    });
    for (let count = 0; count < 3; count += 1) await failing.measured.start(work, signal);
    const failures = (code: string) =>
      failing.read(
        `kubelet_started_containers_errors_total\\{container_type="init_container",code="${code}"\\}`,
      );
    assert.deepEqual([await failures('RunContainerError'), await failures('Other')], [1, 2]);
    assert.equal(await failing.read(stepsOf('start', 'failed', 'count')), 3);
  });
});

const stop: StopStep = {
  kind: 'stop',
  ...{ container: 'c', containerId: 'c', graceSeconds: 0 },
  ...{ deadlineMs: 0, message: '', runsPreStop: false },
};
