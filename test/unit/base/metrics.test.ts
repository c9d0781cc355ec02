import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Counter, createMetrics } from '../../../src/base/index.ts';
import { lintMetrics } from '../../support/lint-metrics.ts';

test('each registry stands alone and tells the figures of the process in Prometheus text', async () => {
  const one = createMetrics();
  const other = createMetrics();
  const requests = new Counter({ name: 'leases_renewed_total', help: 'Requests.', registers: [one] });
  requests.inc(3);
  const text = await one.metrics();
  assert.match(text, /^# TYPE leases_renewed_total counter\nleases_renewed_total 3$/m);
  assert.match(text, /^process_resident_memory_bytes \d+/m);
  assert.match(text, /^nodejs_eventloop_lag_seconds /m);
  assert.doesNotMatch(await other.metrics(), /leases_renewed_total/);
  assert.match(one.contentType, /^text\/plain; version=0\.0\.4/);
});

test('an idle process is not woken by its metrics', async () => {
  const metrics = createMetrics();
  const loops = () => performance.nodeTiming.uvMetricsInfo.loopCount;
  const before = loops();
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.ok(loops() - before < 10, `${loops() - before} times within 300 ms`);
  const text = await metrics.metrics();
  assert.match(text, /^nodejs_eventloop_utilization_ratio (0|1|0\.\d+)$/m);
  assert.doesNotMatch(text, /nodejs_eventloop_lag_(min|max|mean|stddev|p\d+)_seconds/);
});

test('promtool check metrics has no complaint: no gauge is named like a counter', async () => {
  const text = await createMetrics().metrics();
  assert.deepEqual(lintMetrics(text), []);
  assert.match(text, /^nodejs_active_handles\{type=/m, 'what they counted is still there');
  assert.doesNotMatch(text, /nodejs_active_(?:handles|requests|resources)_total/);
  const wrong = '# HELP a_total X.\n# TYPE a_total gauge\na_total 1\n# HELP b X.\n# TYPE b counter\nb 1\n';
  assert.equal(lintMetrics(wrong).length, 2);
});
