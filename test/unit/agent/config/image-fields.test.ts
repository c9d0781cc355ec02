import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { loadConfig } from '../../../../src/agent/config/index.ts';
import { temporaryFolder } from '../../../support/index.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

async function load(text: string) {
  await using folder = await temporaryFolder();
  const config = join(folder.path, 'config.yaml');
  await writeFile(config, head + text);
  const loaded = await loadConfig({ flags: {}, config });
  assert.deepEqual(loaded.warnings, []);
  return loaded.config.images;
}

describe('settings of images', () => {
  test('are those of the reference by default', async () => {
    assert.deepEqual(await load(''), {
      pulls: { maxParallel: 1, ratePerSecond: 5, burst: 10 },
      access: { policy: 'NeverVerifyPreloadedImages', allowlist: [] },
      collection: { highPercent: 85, lowPercent: 80, minAgeMs: 120_000, maxAgeMs: 0 },
    });
  });

  test('one at a time, so many or however many: what is stated decides', async () => {
    const bound = async (text: string) => (await load(text)).pulls.maxParallel;
    assert.equal(await bound('maxParallelImagePulls: 5\n'), 5);
    assert.equal(await bound('maxParallelImagePulls: 1\n'), 1);
    assert.equal(await bound('serializeImagePulls: false\n'), undefined);
    assert.equal(await bound('serializeImagePulls: false\nmaxParallelImagePulls: 3\n'), 3);
    assert.equal(await bound('serializeImagePulls: true\n'), 1);
  });

  test('a zero that means something stays one', async () => {
    const { pulls, collection } = await load('registryPullQPS: 0\nimageGCLowThresholdPercent: 0\n');
    assert.equal(pulls.ratePerSecond, 0);
    assert.equal(collection.lowPercent, 0);
  });

  test('that make no sense are refused', async () => {
    const refused: readonly (readonly [string, RegExp])[] = [
      ['maxParallelImagePulls: 0', /maxParallelImagePulls: must be at least 1, not 0/],
      [
        'serializeImagePulls: true\nmaxParallelImagePulls: 2',
        /maxParallelImagePulls: cannot be larger than 1 unless serializeImagePulls is false/,
      ],
      ['registryPullQPS: -1', /registryPullQPS: must be from 0/],
      ['imageGCHighThresholdPercent: 101', /imageGCHighThresholdPercent: must be from 0 to 100, not 101/],
      [
        'imageGCLowThresholdPercent: 85',
        /imageGCLowThresholdPercent: must be below imageGCHighThresholdPercent, 85, not 85/,
      ],
      ['imageGCHighThresholdPercent: 80', /must be below imageGCHighThresholdPercent, 80, not 80/],
      ['imageMaximumGCAge: 2m', /imageMaximumGCAge: must be 0s or longer than imageMinimumGCAge/],
      ['imageMaximumGCAge: -1s', /imageMaximumGCAge: must be 0s or longer/],
    ];
    for (const [text, message] of refused) await assert.rejects(load(`${text}\n`), message, text);
  });
});
