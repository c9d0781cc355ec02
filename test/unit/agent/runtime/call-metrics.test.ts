import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Connection } from '../../../../src/agent/runtime/index.ts';
import {
  callMetrics,
  ImageService,
  measureCalls,
  RuntimeError,
  RuntimeService,
} from '../../../../src/agent/runtime/index.ts';
import { MetricsRegistry } from '../../../../src/base/index.ts';
import { lintMetrics } from '../../../support/lint-metrics.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

test('calls count by what they do, with their time and whether they failed; others and streams do not', async () => {
  const clock = createManualClock();
  const registry = new MetricsRegistry();
  const failures: Error[] = [];
  let isClosed = false;
  const connection: Connection = {
    endpoint: 'unix:///run/test.sock',
    async call() {
      await clock.sleep(2000);
      throw failures.shift() ?? new Error('unexpected');
    },
    stream: () => {
      throw new Error('not expected');
    },
    [Symbol.dispose]: () => {
      isClosed = true;
    },
  };
  const measured = measureCalls(connection, callMetrics(registry), clock);
  const call = async (doing: Promise<unknown>, failure: Error) => {
    failures.push(failure);
    const rejected = assert.rejects(doing, failure);
    await clock.advance(2000);
    await rejected;
  };
  const options = { deadlineMs: 1000 };
  const { runPodSandbox, version } = RuntimeService.method;
  await call(measured.call(runPodSandbox, {}, options), new RuntimeError('failed', 'no network'));
  await call(measured.call(runPodSandbox, {}, options), new RuntimeError('cancelled', 'given up'));
  await call(measured.call(ImageService.method.pullImage, {}, options), new RuntimeError('timeout', 'slow'));
  await call(measured.call(version, {}, options), new RuntimeError('failed', 'not counted'));
  const text = await registry.metrics();
  assert.match(text, /^kubelet_runtime_operations_total\{operation_type="run_podsandbox"\} 2$/m);
  assert.match(text, /^kubelet_runtime_operations_errors_total\{operation_type="run_podsandbox"\} 1$/m);
  assert.match(text, /^kubelet_runtime_operations_errors_total\{operation_type="pull_image"\} 1$/m);
  assert.match(
    text,
    /^kubelet_runtime_operations_duration_seconds_sum\{operation_type="run_podsandbox"\} 4$/m,
  );
  assert.doesNotMatch(text, /version/);
  assert.deepEqual(lintMetrics(text), []);
  assert.equal(measured.endpoint, connection.endpoint);
  measured[Symbol.dispose]();
  assert.ok(isClosed);
});
