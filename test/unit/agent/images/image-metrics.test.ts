import assert from 'node:assert/strict';
import { test } from 'node:test';
import { imageMetrics } from '../../../../src/agent/images/index.ts';
import { MetricsRegistry } from '../../../../src/base/index.ts';
import { lintMetrics } from '../../../support/lint-metrics.ts';

test('pulls count by result, and the waits of pods by the size of the image', async () => {
  const registry = new MetricsRegistry();
  const metrics = imageMetrics(registry);
  metrics.ended('done');
  metrics.ended('failed');
  const mebibytes = 1024 * 1024;
  const sizes = [
    [0, '0-10MB'],
    [10 * mebibytes - 1, '0-10MB'],
    [10 * mebibytes, '10MB-100MB'],
    [3 * 1024 * mebibytes, '1GB-5GB'],
    [200 * 1024 * mebibytes, 'GT100GB'],
    [Number.NaN, 'N/A'],
  ] as const;
  for (const [bytes] of sizes) metrics.pulled(2, bytes);
  const text = await registry.metrics();
  for (const [, label] of sizes)
    assert.match(
      text,
      new RegExp(`_sum\\{image_size_in_bytes="${label}"\\} ${label === '0-10MB' ? 4 : 2}$`, 'm'),
    );
  assert.match(text, /^nodeward_image_pulls_total\{result="failed"\} 1$/m);
  assert.deepEqual(lintMetrics(text), []);
});
