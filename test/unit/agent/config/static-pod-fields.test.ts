import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../../../../src/agent/config/index.ts';
import { temporaryFolder } from '../../../support/index.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

async function load(text: string) {
  await using folder = await temporaryFolder();
  const config = join(folder.path, 'config.yaml');
  await writeFile(config, head + text);
  const loaded = await loadConfig({ flags: {}, config });
  return { ...loaded.config.staticPods, at: folder.path, warnings: loaded.warnings };
}

test('the folder of static pods is where the configuration says, from the file that says it', async () => {
  const relative = await load('staticPodPath: manifests\nfileCheckFrequency: 5s\n');
  assert.equal(relative.folder, join(relative.at, 'manifests'));
  assert.equal(relative.rescanMs, 5000);
  assert.equal(relative.isStated, true);
  assert.deepEqual(relative.warnings, []);
});

test('an empty path means none, and nothing stated the default', async () => {
  assert.equal((await load('staticPodPath: ""\n')).folder, '');
  const { folder, isStated } = await load('fileCheckFrequency: 0s\n');
  assert.deepEqual([folder, isStated], ['/etc/nodeward/manifests', false]);
});

test('a frequency that makes no sense is refused', async () => {
  for (const text of ['1ms', '-5s', '48h'])
    await assert.rejects(
      load(`fileCheckFrequency: ${text}\n`),
      /fileCheckFrequency: must be from 100ms to 24h/,
    );
});
